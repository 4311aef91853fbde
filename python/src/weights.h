#pragma once

// Where a trainer's weights come from, and conversion of weights between files.

#include <filesystem>
#include <memory>
#include <optional>

#include "poet/runtime/weights/initial_weights.h"
#include "poet/runtime/weights/safetensors.h"
#include "poet/weights/onnx_network.h"
#include "python/src/arguments.h"

namespace poet::python {

/// onnx, a file, with batch_size, input_shapes, loss, huber_delta, loss_output and allow_opaque, as solve()
/// imported it (batch_size is the plan's if not given); onnx_is_weights: the user named it as a file of
/// weights. nullopt without onnx.
[[nodiscard]] std::optional<OnnxNetwork> take_onnx_network(Arguments& arguments, const Instance& instance);

/// Throws InputError where the tensors of `file` are not those of `training`: one that is no tensor of the
/// network (num_batches_tracked and optimiser state aside), or, unless `has_rest`, a parameter that is
/// missing. The message names the tensor, and the nearest name.
void check_names(const std::filesystem::path& file, const Graph& training, bool has_rest);

/// Weights of an ONNX file for whatever a safetensors file, if any, lacks.
class OnnxStart {
 public:
  /// Imports and opens the file; `training` must outlive it. Throws InputError where the file cannot be read,
  /// or is of another network: it has other parameters or, where it is chosen and not `strict`, no tensor of
  /// the network.
  OnnxStart(const OnnxNetwork& network, const Graph& training, bool strict,
            const std::optional<std::filesystem::path>& first);

  [[nodiscard]] runtime::WeightSource source() const;

 private:
  const Graph& training_;
  std::unique_ptr<OnnxWeights> weights_;
  std::unique_ptr<runtime::SafetensorsFile> first_;
};

}  // namespace poet::python
