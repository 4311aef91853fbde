#include "poet/frontend/onnx/fuse/patterns_activations.h"

#include <cmath>
#include <initializer_list>
#include <limits>

#include "poet/frontend/onnx/functions.h"
#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/frontend/onnx/lower/constants.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns the Mul that is the only reader of `node`'s result and also reads `x`, or null.
const Node* times(const Lowering& net, const Node& node, const std::string& x) {
  const Node* next = only_reader(net.uses, node, "Mul");
  if (next == nullptr || next->inputs.size() != 2) return nullptr;
  return next->inputs[next->inputs[0] == node.outputs[0] ? 1 : 0] == x ? next : nullptr;
}

/// Returns the only reader if it divides by 6, else null.
const Node* sixth(const Lowering& net, const Node& node) {
  const Node* next = only_reader(net.uses, node);
  if (next == nullptr) return nullptr;
  const auto factor = factor_of(net, *next);
  return factor && about(factor->second, 1.0 / 6) ? next : nullptr;
}

/// Returns the bounds of a Clip, from attributes or inputs, or nullopt if one is not known.
std::optional<std::pair<double, double>> bounds(const Lowering& net, const Node& clip) {
  double found[2] = {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (std::size_t i = 1; i <= 2; ++i) {
    found[i - 1] = real(clip, i == 1 ? "min" : "max", found[i - 1]);
    if (clip.inputs.size() <= i || clip.inputs[i].empty()) continue;
    const std::optional<double> number =
        net.operands.contains(clip.inputs[i]) ? scalar_of(net, clip, i) : std::nullopt;
    if (!number) return std::nullopt;
    found[i - 1] = *number;
  }
  return std::pair{found[0], found[1]};
}

/// Returns the only reader and its upper bound, if it clips to [0, a positive number]; after a Relu any lower
/// bound up to 0 is accepted.
std::optional<std::pair<const Node*, double>> clipped_from_0(const Lowering& net, const Node& node,
                                                             bool after_relu) {
  const Node* clip = only_reader(net.uses, node, "Clip");
  if (clip == nullptr || clip->inputs.empty() || clip->inputs[0] != node.outputs[0]) return std::nullopt;
  const auto to = bounds(net, *clip);
  if (!to || !(after_relu ? to->first <= 0.0 : to->first == 0.0) || !(to->second > 0.0) ||
      !std::isfinite(to->second)) {
    return std::nullopt;
  }
  return std::pair{clip, to->second};
}

}  // namespace

bool became_silu(Lowering& net, const Node& node) {
  if (!has_input(node, 0)) return false;
  const Node* product = times(net, node, node.inputs[0]);
  if (product == nullptr) return false;
  set_result(net, *product, nn::unary(net.builder, "silu", name_of(node), row_major(net, node, 0)));
  skip(net, *product);
  net.notices.add("Sigmoid, Mul were recognised as SiLU");
  return true;
}

bool became_mish(Lowering& net, const Node& node) {
  const Node* tanh = only_reader(net.uses, node, "Tanh");
  if (tanh == nullptr || !has_input(node, 0)) return false;
  const Node* product = times(net, *tanh, node.inputs[0]);
  if (product == nullptr) return false;
  set_result(net, *product, add_function(net.builder, "Mish", name_of(node), row_major(net, node, 0)));
  for (const Node* part : {tanh, product}) skip(net, *part);
  net.notices.add("Softplus, Tanh, Mul were recognised as Mish");
  return true;
}

bool became_hard_swish(Lowering& net, const Node& node) {
  if (!about(real(node, "alpha", 0.2), 1.0 / 6) || !about(real(node, "beta", 0.5), 0.5)) return false;
  if (!has_input(node, 0)) return false;
  const Node* product = times(net, node, node.inputs[0]);
  if (product == nullptr) return false;
  set_result(net, *product, add_function(net.builder, "HardSwish", name_of(node), row_major(net, node, 0)));
  skip(net, *product);
  net.notices.add("HardSigmoid, Mul were recognised as hard swish");
  return true;
}

bool became_clip(Lowering& net, const Node& node) {
  const auto bounded = clipped_from_0(net, node, true);
  if (!bounded) return false;
  const ValueId y = nn::clip(net.builder, name_of(node), row_major(net, node, 0), 0.0, bounded->second);
  set_result(net, *bounded->first, y);
  skip(net, *bounded->first);
  return true;
}

bool became_hard_activation(Lowering& net, const Node& node, std::size_t position, double number) {
  if (node.op_type != "Add" || number != 3.0) return false;
  const Node* relu = only_reader(net.uses, node, "Relu");
  const auto bounded = clipped_from_0(net, relu == nullptr ? node : *relu, relu != nullptr);
  if (!bounded || bounded->second != 6.0) return false;
  const Node* clip = bounded->first;
  const std::string& x = node.inputs[position];
  if (shape_of(net, node, 1 - position).size() > shape_of(net, node, position).size()) return false;
  const std::string name = name_of(node);
  const auto done = [&](const Node& last, ValueId y, std::initializer_list<const Node*> parts,
                        const char* what) {
    for (const Node* part : parts) skip(net, *part);
    if (relu != nullptr) skip(net, *relu);
    set_result(net, last, y);
    net.notices.add(what);
    return true;
  };
  const Node* product = times(net, *clip, x);
  const Node* ratio = sixth(net, product == nullptr ? *clip : *product);
  if (ratio == nullptr) return false;
  const Node* last = product == nullptr ? times(net, *ratio, x) : ratio;
  if (last != nullptr) {
    const ValueId y = add_function(net.builder, "HardSwish", name, row_major(net, node, position));
    return done(*last, y, {clip, ratio, last, product == nullptr ? last : product},
                "Add, Clip, Mul, Div were recognised as hard swish");
  }
  const ValueId y = nn::unary(net.builder, "hardsigmoid", name, row_major(net, node, position),
                              {{"alpha", 1.0 / 6}, {"beta", 0.5}});
  return done(*ratio, y, {clip, ratio}, "Add, Clip, Div were recognised as hard sigmoid");
}

}  // namespace poet::onnx
