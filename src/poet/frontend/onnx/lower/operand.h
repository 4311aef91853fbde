#pragma once

// What a name of the file stands for while its nodes are lowered. Private to poet/frontend/onnx.

#include <string>
#include <variant>

#include "poet/frontend/onnx/model.h"
#include "poet/graph/graph.h"

namespace poet::onnx {

/// What the graph stores values of this type as.
[[nodiscard]] constexpr DType dtype_of(Type type) {
  return type == Type::real ? DType::float32 : type == Type::boolean ? DType::uint8 : DType::int32;
}

/// A value of the graph that is being built. What is read is `scale` times it: a factor waits here for a
/// matrix product, which takes it as its alpha.
struct Runtime {
  ValueId id;
  double scale = 1.0;
  Type type = Type::real;
};

/// Known while importing, or (real numbers) a weight that becomes a parameter once an operator uses it.
struct Fixed {
  std::string name;  // in the file
  Tensor tensor;
  bool transposed = false;  // a matrix read the other way round than it is stored
  // Of a Constant node, evaluated, or patterned: where operands are not weights by nature, it does not train.
  bool constant = false;
};

/// monostate: an optional input that is left out.
using Operand = std::variant<std::monostate, Runtime, Fixed>;

}  // namespace poet::onnx
