#pragma once

// Trained networks as ONNX files, for other programs to run.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "poet/frontend/onnx/import.h"
#include "poet/graph/graph.h"

namespace poet {

/// Writes the contents of a persistent value, row-major, in its element type, and says whether it knew it.
using WeightLookup = std::function<bool(const Value& value, std::byte* to)>;

struct OnnxOptions {
  std::int64_t opset = 17;  // 13 to 17
  /// Batch normalisation by the batch's statistics, and dropout at work, instead of by the running ones and
  /// none: to train on, not to run.
  bool training = false;
};

/// The bytes of an ONNX model of what `forward` computes before its loss: batch open, parameters under their
/// names, linear layers of more than two dimensions with weights (in, out) as exporters of PyTorch write
/// them. GELU is spelt out; layer normalisation is too before opset 17. Imported again, the model is the same
/// graph with the same weights (a `scale` with a shift is two ops, a `transpose` is a view and a copy). What
/// `weights` does not know has a shape and no contents. For the operators of the built-in networks and what
/// ONNX calls by one name; throws InputError naming the op on others, for views that mix samples, for a
/// graph in parts (split/split.h), and when the model is larger than 2 GiB.
[[nodiscard]] std::string onnx_model_of(const Graph& forward, const WeightLookup& weights,
                                        const OnnxOptions& options = {});

/// onnx_model_of() into a file, which is replaced as a whole or not at all.
void write_onnx(const std::filesystem::path& file, const Graph& forward, const WeightLookup& weights,
                const OnnxOptions& options = {});

/// The model in `original`, which was imported as `imported`, with other contents of parameters and running
/// statistics: those that `weights` knows. All else is as it was, but that a weight which a node made of
/// stored numbers is stored in its place, and that contents move into the model. Throws InputError naming the
/// file when it cannot be read, is not the one that was imported, keeps a weight in another type than float
/// or double, or becomes larger than 2 GiB.
[[nodiscard]] std::string onnx_model_with_weights(const std::filesystem::path& original,
                                                  const ImportedModel& imported, const WeightLookup& weights);

/// onnx_model_with_weights() into a file, which is replaced as a whole or not at all; it may be `original`.
void write_onnx_with_weights(const std::filesystem::path& original, const ImportedModel& imported,
                             const std::filesystem::path& file, const WeightLookup& weights);

}  // namespace poet
