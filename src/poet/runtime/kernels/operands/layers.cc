// Norms, products of matrices, losses, updates.

#include <limits>

#include "poet/graph/broadcast.h"
#include "poet/runtime/kernels/operands/rules.h"

namespace poet::runtime::operands {
namespace {

Shape without_last(const Shape& shape) { return {shape.begin(), shape.end() - 1}; }
Shape with_last(Shape shape, Index last) {
  shape.back() = last;
  return shape;
}

// ---- norms: x, weight, bias give y, mean, 1/std; dy, x, weight, mean, 1/std give dx, dweight, dbias

/// Of x: the shape of its statistics, and that of weight and bias.
struct NormShapes {
  Shape statistics;
  Shape parameter;
};

NormShapes batch_shapes(const OperandReader& op, const Shape& x) {
  op.need(x.size() >= 2, "x of at least two axes, not {}", text_of(x));
  return {{x[1]}, {x[1]}};
}
NormShapes layer_shapes(const OperandReader& op, const Shape& x) {
  op.need(!x.empty(), "x of at least one axis");
  return {without_last(x), {x.back()}};
}
NormShapes group_shapes(const OperandReader& op, const Shape& x) {
  op.need(x.size() >= 2, "x of at least two axes, not {}", text_of(x));
  const Index groups = op.integer("groups", 1, x[1]);
  op.need(x[1] % groups == 0, "groups that divide {} channels, not {}", x[1], groups);
  return {{x[0], groups}, {x[1]}};
}
using ShapesOf = NormShapes (*)(const OperandReader&, const Shape&);

template <ShapesOf shapes_of>
void norm(const OperandReader& op) {
  const NormShapes shapes = shapes_of(op, op.in(0));
  for (const std::size_t i : {1, 2}) {
    op.need_in(i, shapes.parameter);
    op.need_out(i, shapes.statistics);
  }
  op.need_out(0, op.in(0));
}

template <ShapesOf shapes_of>
void norm_backward(const OperandReader& op) {
  const Shape& x = op.in(1);
  const NormShapes shapes = shapes_of(op, x);
  op.need_in(0, x);
  op.need_in(2, shapes.parameter);
  for (const std::size_t i : {3, 4}) op.need_in(i, shapes.statistics);
  const std::vector<Index> of = op.gradients(0, 2, false);
  for (std::size_t i = 0; i < of.size(); ++i) op.need_out(i, of[i] == 0 ? x : shapes.parameter);
}

void batch_norm_stats(const OperandReader& op) {
  one_shape(op);
  op.need_in_rank(0, 1, 1);
  for (std::size_t i = 0; i < op.inputs(); ++i) op.need_row_major(op.input(i), "operands");
  (void)op.integer("count", 2, std::numeric_limits<Index>::max());
}

void lrn(const OperandReader& op) {
  op.need_in_rank(0, 2);
  one_shape(op);
}

// ---- products

/// x (..., in), weight (out, in), [bias (out)], y (..., out).
void need_linear(const OperandReader& op, const Shape& x, const Shape& weight, const Shape& y) {
  op.need(
      !x.empty() && !y.empty() && weight.size() == 2 && weight[1] == x.back() && y == with_last(x, weight[0]),
      "x (..., in), weight (out, in) and y (..., out), not {}, {} and {}", text_of(x), text_of(weight),
      text_of(y));
}
void linear(const OperandReader& op) {
  need_linear(op, op.in(0), op.in(1), op.out(0));
  if (op.inputs() == 3) op.need_in(2, {op.out(0).back()});
}
void linear_backward_input(const OperandReader& op) { need_linear(op, op.out(0), op.in(1), op.in(0)); }
void linear_backward_weight(const OperandReader& op) {
  op.need(op.gradients(1, 2, true).front() == 1, "the weight's gradient first");
  need_linear(op, op.in(1), op.out(0), op.in(0));
  if (op.outputs() == 2) op.need_out(1, {op.in(0).back()});
}
void linear_backward_bias(const OperandReader& op) {
  op.need_in_rank(0, 1);
  op.need_out(0, {op.in(0).back()});
}

/// a (..., M, K) b (..., K, N) = c (..., M, N), or, as a gradient, its sum over leading axes.
void matmul(const OperandReader& op) {
  const Shape& a = op.in(0);
  const Shape& b = op.in(1);
  const Shape& c = op.out(0);
  op.need_in_rank(0, 2);
  op.need_in_rank(1, 2);
  op.need_rank("output", 0, 2);
  const auto rows = [](const Shape& s) { return s[s.size() - 2]; };
  op.need(a.back() == rows(b) && rows(c) == rows(a) && c.back() == b.back(),
          "a (..., M, K), b (..., K, N) and c (..., M, N), not {}, {} and {}", text_of(a), text_of(b),
          text_of(c));
  const auto leading = [](const Shape& s) { return Shape(s.begin(), s.end() - 2); };
  const std::optional<Shape> whole = broadcast_shape(leading(a), leading(b));
  op.need(whole.has_value(), "leading axes that broadcast, not {} and {}", text_of(a), text_of(b));
  op.need(broadcasts_to(leading(c), *whole), "an output whose leading axes broadcast to {}, not {}",
          text_of(*whole), text_of(c));
  op.need(leading(a) == *whole || leading(b) == *whole || leading(c) == *whole,
          "an operand or an output with all leading axes, {}", text_of(*whole));
}

// ---- losses

void cross_entropy(const OperandReader& op) {
  op.need_in_rank(0, 2, 2);
  op.need_in(1, {op.in(0)[0]});
  op.need_out(0, {1});
  op.need_out(1, op.in(0));
}
void cross_entropy_backward(const OperandReader& op) {
  op.need_in_rank(0, 2, 2);
  op.need_in(1, {op.in(0)[0]});
  op.need_out(0, op.in(0));
}
void mse_loss(const OperandReader& op) {
  op.need_in(1, op.in(0));
  op.need_out(0, {1});
}

// ---- updates

/// Parameter, gradient, states; the gradient alone may have another layout.
void update(const OperandReader& op) {
  one_shape(op);
  for (std::size_t i = 2; i < op.inputs(); ++i)
    op.need(op.input(i).strides == op.input(0).strides, "state in the layout of the parameter");
}

}  // namespace

void add_layer_rules(RuleTable& table) {
  const std::vector<AttributeRule> eps = {{"eps", Attr::positive}};
  table["batch_norm"] = {"f f f : f f f", norm<batch_shapes>, eps};
  table["layer_norm"] = {"f f f : f f f", norm<layer_shapes>, eps};
  table["group_norm"] = {"f f f : f f f", norm<group_shapes>, eps};
  table["batch_norm_backward"] = {"f f f f f : f f? f?", norm_backward<batch_shapes>};
  table["layer_norm_backward"] = {"f f f f f : f f? f?", norm_backward<layer_shapes>};
  table["group_norm_backward"] = {"f f f f f : f f? f?", norm_backward<group_shapes>};
  table["batch_norm_stats"] = {"f f f f : : 2 3", batch_norm_stats, {{"momentum"}, {"eps", Attr::positive}}};
  const std::vector<AttributeRule> response = {
      {"size", Attr::count}, {"alpha", Attr::not_negative}, {"beta"}, {"bias", Attr::positive}};
  table["lrn"] = {"f : f", lrn, response};
  table["lrn_backward"] = {"f f : f", lrn, response};
  table["linear"] = {"f f f? : f", linear};
  table["linear_backward_input"] = {"f f : f", linear_backward_input};
  table["linear_backward_weight"] = {"f f : f f?", linear_backward_weight};
  table["linear_backward_bias"] = {"f : f", linear_backward_bias};
  table["matmul"] = {"f f : f", matmul, {{"alpha"}}};
  table["softmax_cross_entropy"] = {"f i : f f", cross_entropy};
  table["softmax_cross_entropy_backward"] = {"f i : f", cross_entropy_backward};
  table["mse_loss"] = {"f f : f", mse_loss};
  table["mse_loss_backward"] = {"f f : f", one_shape};
  table["sgd_update"] = {"f f : : 0", update, {{"learning_rate"}}};
  table["momentum_update"] = {"f f f : : 0 2", update, {{"learning_rate"}, {"momentum"}}};
  table["adam_update"] = {"f f f f : : 0 2 3", update, {{"learning_rate"}, {"beta1"}, {"beta2"}, {"eps"}}};
}

}  // namespace poet::runtime::operands
