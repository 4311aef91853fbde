#pragma once

// Element by element, with one operand or more. Operands are values of any persistence; add, sub, mul, abs,
// neg and scale (by whole numbers) take int32 ones, too. A truth value is a uint8, 0 or not 0; ops write 0
// and 1.

#include <string>

#include "poet/graph/builder.h"

namespace poet::nn {

/// y = f(x), by an operator of docs/operators.md that reads x alone and writes one value of its shape:
/// "sigmoid", "leaky_relu" with its attribute, "logical_not"; softmax and log_softmax are over the last axis.
ValueId unary(GraphBuilder& g, const std::string& kind, const std::string& name, ValueId x,
              Attributes attributes = {});
/// By an operator of two operands of one type, which broadcast as NumPy's do: aligned at the last axis,
/// axes of size 1 stretch. Arithmetic, comparisons ("less", "equal"), logic ("logical_and"), "int_div",
/// "mod". Integers have no gradient: it stops at them.
ValueId binary(GraphBuilder& g, const std::string& kind, const std::string& name, ValueId a, ValueId b);

inline ValueId relu(GraphBuilder& g, const std::string& name, ValueId x) { return unary(g, "relu", name, x); }
inline ValueId gelu(GraphBuilder& g, const std::string& name, ValueId x) { return unary(g, "gelu", name, x); }
inline ValueId tanh(GraphBuilder& g, const std::string& name, ValueId x) { return unary(g, "tanh", name, x); }
inline ValueId softmax(GraphBuilder& g, const std::string& name, ValueId x) {
  return unary(g, "softmax", name, x);
}
inline ValueId log_softmax(GraphBuilder& g, const std::string& name, ValueId x) {
  return unary(g, "log_softmax", name, x);
}
inline ValueId add(GraphBuilder& g, const std::string& name, ValueId a, ValueId b) {
  return binary(g, "add", name, a, b);
}
inline ValueId sub(GraphBuilder& g, const std::string& name, ValueId a, ValueId b) {
  return binary(g, "sub", name, a, b);
}
inline ValueId mul(GraphBuilder& g, const std::string& name, ValueId a, ValueId b) {
  return binary(g, "mul", name, a, b);
}
inline ValueId div(GraphBuilder& g, const std::string& name, ValueId a, ValueId b) {
  return binary(g, "div", name, a, b);
}

/// alpha x + beta; a `shift`, which shares its gradient, where alpha is 1.
ValueId scale(GraphBuilder& g, const std::string& name, ValueId x, double alpha, double beta = 0.0);
/// The scale by -1.
ValueId neg(GraphBuilder& g, const std::string& name, ValueId x);
/// To [minimum, maximum], one of which may be infinite. ReLU6 is (0, 6).
ValueId clip(GraphBuilder& g, const std::string& name, ValueId x, double minimum, double maximum);
/// x where positive, else slope x; the slope broadcasts to x.
ValueId prelu(GraphBuilder& g, const std::string& name, ValueId x, ValueId slope);
/// a where the condition (uint8) holds, else b; the three broadcast.
ValueId where(GraphBuilder& g, const std::string& name, ValueId condition, ValueId a, ValueId b);
/// Between float32, int32 and uint8. Real numbers are rounded towards zero; what is not 0 is true.
ValueId cast(GraphBuilder& g, const std::string& name, ValueId x, DType to);
/// `probability` of dropping an element. Each dropout of a graph has a seed of its own: 0, 1, 2... in order.
ValueId dropout(GraphBuilder& g, const std::string& name, ValueId x, double probability);

}  // namespace poet::nn
