#pragma once

// Weights in and out of a run: from safetensors and ONNX files, and into ONNX files.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "apps/cli/forked.h"
#include "apps/cli/training/safetensors_weights.h"
#include "poet/frontend/onnx/import.h"
#include "poet/runtime/executor/program.h"

namespace poet::cli {

/// An ONNX file and how it is imported.
struct OnnxNetwork {
  std::filesystem::path file;
  std::function<ImportedModel()> import;
  bool is_chosen = false;  // by --weights: it must have some of the network's
};

/// The ONNX file that weights come from: `chosen` (--weights) where it is one; without --weights `network`,
/// the file that the graph came from.
[[nodiscard]] std::optional<OnnxNetwork> onnx_source(const std::optional<std::filesystem::path>& chosen,
                                                     const std::optional<OnnxNetwork>& network);

/// Where the persistent values of a graph begin.
class Weights {
 public:
  /// `chosen`: --weights, an ONNX file if so named, else safetensors. Without it, `network`: the ONNX file
  /// that the graph came from. Without either, nothing is known. An ONNX file is read by a process of its
  /// own, which delivers them in the order of runtime::persistent_values(): parsing takes a multiple of the
  /// file's size in memory. To be made before any thread. Throws InputError.
  Weights(const Graph& graph, const std::optional<std::filesystem::path>& chosen,
          const std::optional<OnnxNetwork>& network);

  /// To be asked for each persistent value in order.
  [[nodiscard]] runtime::WeightSource source();

 private:
  IdVector<ValueId, Value> values_;  // a copy: the graph moves on
  std::unique_ptr<SafetensorsWeights> safetensors_;
  std::unique_ptr<Forked> onnx_;
};

/// Whether the file's weights of the graph fit, and the rest can be seeded. Reads all of them. Throws
/// InputError.
void check_onnx_weights(const Graph& graph, const OnnxNetwork& network);

/// Throws InputError where export_weights() would, whatever the weights.
void check_exportable(const Graph& training, const std::optional<OnnxNetwork>& network);

/// The trained network as an ONNX file, made in a process of its own: `network` with its weights replaced, or
/// without one the forward part of the training graph. Throws InputError.
void export_weights(const Graph& training, const runtime::Program& program,
                    const std::optional<OnnxNetwork>& network, const std::filesystem::path& file);

}  // namespace poet::cli
