// Operators of newer opsets, composed of several ops as the standard defines them.

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/read/read_model.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Computes x sigmoid(alpha x).
void swish(Lowering& net, const Node& node) {
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const double alpha = real(node, "alpha", 1.0);
  const ValueId x = row_major(net, node, 0);
  if (alpha == 1.0) return set_result(net, node, nn::unary(g, "silu", name, x));
  const ValueId gate = nn::unary(g, "sigmoid", name + ".gate", nn::scale(g, name + ".scaled", x, alpha));
  set_result(net, node, nn::mul(g, name, x, gate));
}

/// Computes the mean of any number of operands with broadcasting.
void mean(Lowering& net, const Node& node) {
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  if (node.inputs.size() == 1) return set_result(net, node, operand_of(net, node, 0));
  ValueId sum = row_major(net, node, 0);
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    sum = nn::add(g, fmt::format("{}.sum{}", name, i), sum, row_major(net, node, i));
  set_result(net, node, nn::scale(g, name, sum, 1.0 / static_cast<double>(node.inputs.size())));
}

/// Casts to the type of the second input.
void cast_like(Lowering& net, const Node& node) {
  const Type type = type_of(net, node, 1);
  if (type == Type::other) throw InputError("input 1 is of a type that poet does not compute with");
  // The numbers are those of TensorProto.DataType: float, int64 and bool.
  const std::int64_t to = type == Type::real ? 1 : type == Type::integer ? 7 : 9;
  Node cast = node;
  cast.op_type = "Cast";
  cast.inputs = {node.inputs[0]};
  cast.attributes = {{"to", to}};
  lower_as(net, cast);
}

/// Keeps the upper or lower triangle of each matrix, 0 elsewhere. The triangle is a boolean constant.
void trilu(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  if (x.size() < 2) throw InputError("is for matrices");
  const bool upper = integer(node, "upper", 1) != 0;
  std::int64_t k = 0;
  if (has_input(node, 1)) {
    const std::vector<std::int64_t>& diagonal = known_integers(net, node, 1);
    if (diagonal.size() != 1) throw InputError("the diagonal must be one number");
    k = diagonal[0];
  }
  const Shape matrix(x.end() - 2, x.end());
  const ValueId inside = triangle(net, name_of(node) + ".triangle", matrix, k, upper);
  const ValueId from = any_value(net, node, 0);
  Tensor zero = integer_list({0});
  zero.type = type_of(net, node, 0);
  const std::string name = name_of(node) + ".zero";
  const ValueId outside =
      zero.type == Type::real ? add_filled(net, name, {}, 0) : add_constant(net, name, std::move(zero));
  set_result(net, node, nn::where(net.builder, name_of(node), inside, from, outside));
}

}  // namespace

ValueId triangle(Lowering& net, const std::string& name, const Shape& matrix, std::int64_t k, bool upper) {
  const std::int64_t count = element_count(matrix);
  if (count > kMostIntegers)
    throw InputError(fmt::format("its triangle has more than the {} elements supported", kMostIntegers));
  Tensor inside;
  inside.type = Type::boolean;
  inside.type_name = "bool";
  inside.shape = matrix;
  inside.known = true;
  inside.integers.reserve(static_cast<std::size_t>(count));
  for (std::int64_t row = 0; row < matrix[0]; ++row) {
    for (std::int64_t column = 0; column < matrix[1]; ++column)
      inside.integers.push_back(static_cast<std::int64_t>(upper ? column - row >= k : column - row <= k));
  }
  return add_constant(net, name, std::move(inside));
}

const std::vector<OperatorEntry>& composed_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"CastLike", cast_like},
      {"Mean", mean},
      {"Swish", swish},
      {"Trilu", trilu},
  };
  return entries;
}

}  // namespace poet::onnx
