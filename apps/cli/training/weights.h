#pragma once

// Weights in and out of a run: from safetensors and ONNX files, and into ONNX files.

#include <filesystem>
#include <memory>
#include <optional>

#include "apps/cli/forked.h"
#include "poet/runtime/executor/program.h"
#include "poet/runtime/weights/initial_weights.h"
#include "poet/runtime/weights/safetensors.h"

namespace poet::cli {

/// Where the persistent values of `graph` begin. An ONNX file is read by a process of its own, which delivers
/// them in the order of runtime::persistent_values(): parsing takes a multiple of the file's size in memory.
class Weights {
 public:
  /// `chosen`: --weights, safetensors if so named, else ONNX. Without it, `network`: the ONNX file that the
  /// graph came from. Without either, nothing is known. To be made before any thread. Throws InputError.
  Weights(const Graph& graph, const std::optional<std::filesystem::path>& chosen,
          const std::optional<std::filesystem::path>& network);

  /// To be asked for each persistent value in order.
  [[nodiscard]] runtime::WeightSource source();

 private:
  IdVector<ValueId, Value> values_;  // a copy: the graph moves on
  std::unique_ptr<runtime::SafetensorsFile> safetensors_;
  std::unique_ptr<Forked> onnx_;
};

/// The trained network as an ONNX file, made in a process of its own: `network` with its weights replaced, or
/// without one the forward part of the training graph. Throws InputError.
void export_weights(const Graph& training, const runtime::Program& program,
                    const std::optional<std::filesystem::path>& network, const std::filesystem::path& file);

}  // namespace poet::cli
