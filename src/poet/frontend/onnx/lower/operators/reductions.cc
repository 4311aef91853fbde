// Sums, means, norms and extremes along axes.

#include <limits>

#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns the axes as listed; empty if nothing is reduced.
std::vector<std::int64_t> reduced_axes(const Lowering& net, const Node& node, std::size_t rank) {
  const std::vector<std::int64_t> listed =
      has_input(node, 1) ? known_integers(net, node, 1) : integers(node, "axes");
  std::vector<std::int64_t> axes;
  for (const std::int64_t axis : listed) axes.push_back(static_cast<std::int64_t>(checked_axis(axis, rank)));
  if (!axes.empty() || integer(node, "noop_with_empty_axes", 0) != 0) return axes;
  for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

/// The functions applied before and after the reduction: ReduceL2 is sqrt(sum(x²)).
struct Parts {
  const char* before = nullptr;
  bool squares = false;
  const char* reduction = "reduce_sum";
  const char* after = nullptr;
};

Parts parts_of(const std::string& op_type) {
  if (op_type == "ReduceMean") return {.reduction = "reduce_mean"};
  if (op_type == "ReduceMax") return {.reduction = "reduce_max"};
  if (op_type == "ReduceMin") return {.reduction = "reduce_min"};
  if (op_type == "ReduceL1") return {.before = "abs"};
  if (op_type == "ReduceL2") return {.squares = true};
  if (op_type == "ReduceSumSquare") return {.squares = true};
  if (op_type == "ReduceLogSum") return {.after = "log"};
  return {};
}

/// Adds log(sum(exp(x - m))) + m, with the largest number m, so that nothing overflows.
ValueId log_sum_exp(GraphBuilder& g, const std::string& name, ValueId x,
                    const std::vector<std::int64_t>& axes, bool keep) {
  // Of rows of -infinity alone the largest is to be a number, so that the differences are.
  constexpr double kLowest = std::numeric_limits<float>::lowest();
  const ValueId most =
      nn::clip(g, name + ".finite", nn::reduce(g, "reduce_max", name + ".most", x, axes), kLowest, kInfinity);
  const ValueId each = nn::unary(g, "exp", name + ".each", nn::sub(g, name + ".less", x, most));
  const ValueId sum = nn::reduce(g, "reduce_sum", name + ".sum", each, axes, keep);
  const ValueId log = nn::unary(g, "log", name + ".log", sum);
  const ValueId back = keep ? most : nn::reshape(g, name + ".back", most, Shape(g.shape(log)));
  return nn::add(g, name, log, back);
}

/// Adds sqrt(s + z) - z, with z = 1 where s is 0 and otherwise 0: the length 0 has the gradient 0, as in
/// PyTorch, where that of a square root is infinite.
ValueId length(Lowering& net, const std::string& name, ValueId squares) {
  GraphBuilder& g = net.builder;
  const ValueId none = add_filled(net, name + ".none", {}, 0);
  const ValueId is_zero =
      nn::cast(g, name + ".is_zero", nn::binary(g, "equal", name + ".equal", squares, none), DType::float32);
  const ValueId root = nn::unary(g, "sqrt", name + ".root", nn::add(g, name + ".above", squares, is_zero));
  return nn::sub(g, name, root, is_zero);
}

/// Sums and extremes of integers, in float32.
void reduce_integers(Lowering& net, const Node& node, const std::vector<std::int64_t>& axes) {
  const Parts parts = parts_of(node.op_type);
  if (parts.before != nullptr || parts.squares || parts.after != nullptr || node.op_type == "ReduceMean" ||
      node.op_type == "ReduceL2" || node.op_type == "ReduceLogSumExp")
    throw InputError("is for real numbers; write a Cast before it");
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const ValueId x = nn::cast(g, name + ".real", any_value(net, node, 0), DType::float32);
  const ValueId y = nn::reduce(g, parts.reduction, name + ".sum", x, axes, integer(node, "keepdims", 1) != 0);
  net.notices.add("sums of integers are computed in float32, exactly up to 16,777,216");
  set_result(net, node, nn::cast(g, name, y, DType::int32));
}

void reduce(Lowering& net, const Node& node) {
  if (node.op_type == "ReduceMean" && became_layer_norm(net, node)) return;
  const std::vector<std::int64_t> axes = reduced_axes(net, node, shape_of(net, node, 0).size());
  const Parts parts = parts_of(node.op_type);
  if (axes.empty() && integer(node, "noop_with_empty_axes", 0) != 0) {
    if (parts.before != nullptr || parts.squares || parts.after != nullptr ||
        node.op_type == "ReduceLogSumExp") {
      throw InputError("attribute 'noop_with_empty_axes'",
                       "with no axes: releases of the standard differ on whether the elements stay as they "
                       "are; write what is done to each of them");
    }
    return set_result(net, node, operand_of(net, node, 0));
  }
  GraphBuilder& g = net.builder;
  if (type_of(net, node, 0) != Type::real) return reduce_integers(net, node, axes);
  const std::string name = name_of(node);
  ValueId x = row_major(net, node, 0);
  const bool keep = integer(node, "keepdims", 1) != 0;
  if (node.op_type == "ReduceLogSumExp") return set_result(net, node, log_sum_exp(g, name, x, axes, keep));
  if (parts.before != nullptr) x = nn::unary(g, parts.before, name + ".each", x);
  if (parts.squares) x = nn::unary(g, "pow", name + ".squares", x, {{"exponent", 2.0}});
  if (!axes.empty()) {
    const bool is_last = parts.after == nullptr && node.op_type != "ReduceL2";
    x = nn::reduce(g, parts.reduction, is_last ? name : name + ".sum", x, axes, keep);
  }
  if (node.op_type == "ReduceL2") x = length(net, name, x);
  if (parts.after != nullptr) x = nn::unary(g, parts.after, name, x);
  set_result(net, node, x);
}

}  // namespace

const std::vector<OperatorEntry>& reduction_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"ReduceL1", reduce},        {"ReduceL2", reduce},  {"ReduceLogSum", reduce},
      {"ReduceLogSumExp", reduce}, {"ReduceMax", reduce}, {"ReduceMean", reduce},
      {"ReduceMin", reduce},       {"ReduceSum", reduce}, {"ReduceSumSquare", reduce},
  };
  return entries;
}

}  // namespace poet::onnx
