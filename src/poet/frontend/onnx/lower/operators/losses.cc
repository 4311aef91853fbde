// Losses within a network, written as the operators that they are made of.

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// x (N, C, d1, ...) as rows of classes (N d1 ..., C).
ValueId rows_of(Lowering& net, const std::string& name, ValueId x) {
  GraphBuilder& g = net.builder;
  const Shape shape = g.shape(x);
  if (shape.size() < 2) throw InputError("the scores must have a batch and an axis of classes");
  std::vector<std::int64_t> classes_last = {0};
  for (std::size_t i = 2; i < shape.size(); ++i) classes_last.push_back(static_cast<std::int64_t>(i));
  classes_last.push_back(1);
  const ValueId turned = shape.size() == 2 ? x : nn::transpose(g, name + ".turned", x, classes_last);
  return nn::reshape(g, name + ".rows", turned, {element_count(shape) / shape[1], shape[1]});
}

/// Adds -w[t] log p[t] for each target t, and their mean (by the weights), sum or none; targets that equal
/// ignore_index count for nothing.
void likelihood(Lowering& net, const Node& node) {
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const std::string reduction = text(node, "reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    throw InputError("attribute 'reduction'", fmt::format("'{}' is not known", reduction));
  if (type_of(net, node, 1) != Type::integer) throw InputError("the targets must be integers");
  if (is_read(net.uses, node, 1)) throw InputError("output 1 must not be read");
  ValueId scores = rows_of(net, name, row_major(net, node, 0));
  const Shape shape = g.shape(scores);
  const Shape of_targets = shape_of(net, node, 1);
  if (element_count(of_targets) != shape[0])
    throw InputError(fmt::format("{} targets for {} rows of scores", element_count(of_targets), shape[0]));
  if (node.op_type == "SoftmaxCrossEntropyLoss") scores = nn::log_softmax(g, name + ".log", scores);
  ValueId targets = nn::reshape(g, name + ".targets", any_value(net, node, 1), {shape[0], 1});
  ValueId counted;  // truth values
  if (node.attributes.contains("ignore_index")) {
    const ValueId ignored =
        add_constant(net, name + ".ignored", integer_list({integer(node, "ignore_index", 0)}));
    const ValueId equal = nn::binary(g, "equal", name + ".is_ignored", targets, ignored);
    counted = nn::unary(g, "logical_not", name + ".counts", equal);
    targets = nn::where(g, name + ".known", counted, targets,
                        add_constant(net, name + ".first", integer_list({0})));
  }
  const ValueId chosen = nn::gather_elements(g, name + ".chosen", scores, targets, 1);
  ValueId losses = nn::neg(g, name + ".losses", chosen);
  if (counted.valid()) {  // no product, as what is ignored may be infinite
    losses = nn::where(g, name + ".counted", counted, losses, add_filled(net, name + ".zero", {}, 0));
  }
  ValueId weights;
  if (has_input(node, 2)) {
    const ValueId of_classes = nn::reshape(g, name + ".classes", row_major(net, node, 2), {shape[1]});
    weights = nn::gather(g, name + ".weights", of_classes, targets, 0);
  }
  if (counted.valid()) {
    const ValueId is_counted = nn::cast(g, name + ".share", counted, DType::float32);
    weights = weights.valid() ? nn::mul(g, name + ".shares", weights, is_counted) : is_counted;
  }
  if (weights.valid()) losses = nn::mul(g, name + ".weighted", losses, weights);
  if (reduction == "none") return set_result(net, node, nn::reshape(g, name, losses, of_targets));
  const ValueId sum = nn::reduce(g, "reduce_sum", name + ".sum", losses, {0, 1}, true);
  if (reduction == "sum") return set_result(net, node, nn::reshape(g, name, sum, {}));
  const ValueId all =
      weights.valid() ? nn::reduce(g, "reduce_sum", name + ".total", weights, {0, 1}, true) : ValueId();
  const ValueId mean = weights.valid()
                           ? nn::div(g, name + ".mean", sum, all)
                           : nn::scale(g, name + ".mean", sum, 1.0 / static_cast<double>(shape[0]));
  set_result(net, node, nn::reshape(g, name, mean, {}));
}

}  // namespace

const std::vector<OperatorEntry>& loss_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"NegativeLogLikelihoodLoss", likelihood},
      {"SoftmaxCrossEntropyLoss", likelihood},
  };
  return entries;
}

}  // namespace poet::onnx
