#pragma once

// Import of weights from ONNX files and export to them.

#include <cstdint>
#include <filesystem>
#include <optional>

#include "apps/cli/forked.h"
#include "apps/shared/training/options.h"
#include "poet/runtime/training/trainer.h"
#include "poet/runtime/weights/initial_weights.h"
#include "poet/weights/onnx_network.h"

namespace poet::cli {

/// Returns the ONNX file to read weights from: --weights if it is one, otherwise `network`, the graph's file,
/// which has what safetensors (--weights) lack. nullopt for resumed runs, whose checkpoint has them.
/// `instance`: what trains.
[[nodiscard]] std::optional<OnnxNetwork> onnx_source(const RunChoice& training,
                                                     const std::optional<OnnxNetwork>& network,
                                                     const Instance& instance);

/// The ONNX file that the network of a plan came from: `named` by the user, which must be it, else --weights
/// where that has all parameters of the network and no others. With `exports`, throws InputError also where
/// export_weights() would. Reads in a process of its own.
[[nodiscard]] std::optional<OnnxNetwork> origin_of(const Instance& instance, const RunChoice& choice,
                                                   const std::optional<OnnxNetwork>& named, bool exports);

/// Weights of an ONNX file, read by a process of its own, which delivers them in the order of
/// runtime::persistent_values(): parsing takes a multiple of the file's size in memory. To be made before any
/// thread. Throws InputError.
class OnnxWeightsApart {
 public:
  OnnxWeightsApart(const Graph& graph, const OnnxNetwork& network);

  /// Returns a source that must be asked for the persistent values in order.
  [[nodiscard]] runtime::WeightSource source();

 private:
  IdVector<ValueId, Value> values_;  // a copy, as the graph is moved
  Forked reader_;
};

/// Whether the run could train the graph if it had a plan for it (runtime::check_trainable), with weights of
/// `source`, the ONNX file that they come from, if any. Reads all of that. Throws InputError as the run
/// would.
void check_run(const Graph& graph, const RunChoice& training, const std::optional<OnnxNetwork>& source);

/// Calls write_trained_onnx() in a child process. Throws InputError.
void export_weights(const runtime::Trainer& trainer, const std::optional<OnnxNetwork>& network,
                    const std::filesystem::path& file);

}  // namespace poet::cli
