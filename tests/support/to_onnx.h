#pragma once

// A forward graph as an ONNX file, so that importing it can be compared with the graph that it came from.

#include <cstdint>
#include <string>

#include "poet/graph/graph.h"

namespace poet::test {

/// The bytes of an ONNX model of what `forward` computes before its loss: batch open, operators in training
/// mode, parameters under their names, linear layers of more than two dimensions with weights (in, out) as
/// exporters of PyTorch write them. GELU is spelt out; layer normalisation is too before opset 17. Weights
/// are zeros where all together take less than 32 MB, so that libonnx checks the model when it is read, and
/// have no contents otherwise. `opset` is 13 to 17. For the operators of the built-in networks; throws
/// InputError on others.
[[nodiscard]] std::string to_onnx(const Graph& forward, std::int64_t opset);

}  // namespace poet::test
