#pragma once

// The model's inputs, with the shapes that the file and the user give them. Private to poet/frontend/onnx.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

struct Lowering;

/// A batch that is several times as large as in the file.
struct RescaledBatch {
  std::int64_t times;
  std::int64_t in_file;
};

struct InputSizes {
  std::int64_t batch_size = 1;                  // first dimension of the first input
  std::map<std::string, std::int64_t> symbols;  // sizes of the inputs' open dimensions
  std::optional<RescaledBatch> rescaled_batch;
};

/// Adds the inputs that something reads to the graph, and sets `net.sizes`. Throws InputError when a shape is
/// neither known nor given, or not what the file allows.
void add_inputs(Lowering& net);

/// Type and shape that the file declares for a node's result, with inputs of these sizes.
[[nodiscard]] std::optional<Tensor> declared(const Model& model, const InputSizes& sizes,
                                             const std::string& result);

}  // namespace poet::onnx
