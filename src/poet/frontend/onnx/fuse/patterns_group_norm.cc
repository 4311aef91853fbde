#include <algorithm>

#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/frontend/onnx/lower/constants.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns whether all elements of input `i` are known to be this number.
bool all_are(const Lowering& net, const Node& node, std::size_t i, double number) {
  if (node.inputs.size() <= i || !net.operands.contains(node.inputs[i])) return false;
  const Fixed* x = fixed_of(net, node, i);
  return x != nullptr && x->tensor.known && x->tensor.type == Type::real &&
         std::all_of(x->tensor.reals.begin(), x->tensor.reals.end(),
                     [number](double element) { return element == number; });
}

/// Returns whether the Reshape restores `shape`, that of `x`, given as a list or as the Shape of x.
bool gives_back(const Lowering& net, const Node& node, const std::string& x, const Shape& shape) {
  if (node.inputs.size() != 2) return false;
  if (net.operands.contains(node.inputs[1])) {
    const Fixed* list = fixed_of(net, node, 1);
    return list != nullptr && list->tensor.known && list->tensor.integers == shape;
  }
  for (const Node* reader : readers(net.uses, x)) {
    if (reader->op_type == "Shape" && reader->domain.empty() && reader->outputs[0] == node.inputs[1] &&
        reader->attributes.empty()) {
      return true;
    }
  }
  return false;
}

/// As following_weight(), for a weight with one number per channel of a value of `shape`.
std::optional<std::pair<const Node*, std::size_t>> per_channel(const Lowering& net, const Node& node,
                                                               const std::string& op_type,
                                                               const Shape& shape) {
  const auto next = following_weight(net, node, op_type);
  if (!next) return std::nullopt;
  Shape wanted(shape.size() - 1, 1);
  wanted[0] = shape[1];
  Shape with_batch = wanted;
  with_batch.insert(with_batch.begin(), 1);
  const Shape weight = shape_of(net, *next->first, next->second);
  return weight == wanted || weight == with_batch ? next : std::nullopt;
}

}  // namespace

bool became_group_norm(Lowering& net, const Node& node, const Shape& reshaped) {
  if (!is_runtime(net, node, 0) || node.inputs.empty()) return false;
  const Shape x = shape_of(net, node, 0);
  if (x.size() < 3 || reshaped.size() < 3 || reshaped[0] != x[0]) return false;
  const std::int64_t groups = reshaped[1];
  if (groups < 1 || x[1] % groups != 0) return false;
  const Node* norm = only_reader(net.uses, node, "InstanceNormalization");
  if (norm == nullptr || norm->inputs[0] != node.outputs[0] || !all_are(net, *norm, 1, 1.0) ||
      !all_are(net, *norm, 2, 0.0)) {
    return false;
  }
  const Node* back = only_reader(net.uses, *norm, "Reshape");
  if (back == nullptr || !gives_back(net, *back, node.inputs[0], x)) return false;
  const auto weight = per_channel(net, *back, "Mul", x);
  const auto bias = weight ? per_channel(net, *weight->first, "Add", x) : std::nullopt;
  if (!bias) return false;
  const std::string name = name_of(*norm);
  const ValueId from = row_major(net, node, 0);
  net.builder.bind(name + ".weight", weight_of(net, *weight->first, weight->second, {x[1]}));
  net.builder.bind(name + ".bias", weight_of(net, *bias->first, bias->second, {x[1]}));
  set_result(net, *bias->first,
             nn::group_norm(net.builder, name, from, groups, real(*norm, "epsilon", 1e-5)));
  for (const Node* part : {norm, back, weight->first, bias->first}) skip(net, *part);
  net.notices.add("Reshape, InstanceNormalization, Reshape, Mul, Add were recognised as group normalisation");
  return true;
}

}  // namespace poet::onnx
