#include "poet/frontend/onnx/fuse/patterns_activations.h"

#include <cmath>
#include <initializer_list>
#include <limits>

#include "poet/frontend/onnx/functions.h"
#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

bool about(double a, double b) { return std::fabs(a - b) <= 1e-4 * std::fabs(b); }

/// The Mul that is the only reader of `node`'s result, and reads `x` besides; null otherwise.
const Node* times(const Walk& walk, const Node& node, const std::string& x) {
  const Node* next = walk.only_reader(node);
  if (next == nullptr || next->op_type != "Mul" || next->inputs.size() != 2) return nullptr;
  return next->inputs[next->inputs[0] == node.outputs[0] ? 1 : 0] == x ? next : nullptr;
}

/// The only reader, when it divides by 6.
const Node* sixth(const Walk& walk, const Node& node) {
  const Node* next = walk.only_reader(node);
  if (next == nullptr) return nullptr;
  const auto factor = factor_of(walk, *next);
  return factor && about(factor->second, 1.0 / 6) ? next : nullptr;
}

/// The bounds of a Clip, attributes or inputs; nothing when one is not known.
std::optional<std::pair<double, double>> bounds(const Walk& walk, const Node& clip) {
  double found[2] = {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (std::size_t i = 1; i <= 2; ++i) {
    found[i - 1] = real(clip, i == 1 ? "min" : "max", found[i - 1]);
    if (clip.inputs.size() <= i || clip.inputs[i].empty()) continue;
    const std::optional<double> number = walk.known(clip.inputs[i]) ? walk.scalar(clip, i) : std::nullopt;
    if (!number) return std::nullopt;
    found[i - 1] = *number;
  }
  return std::pair{found[0], found[1]};
}

/// The only reader, when it clips to [0, a positive number], which is given too; after a Relu any lower bound
/// up to 0 does.
std::optional<std::pair<const Node*, double>> clipped_from_0(const Walk& walk, const Node& node,
                                                             bool after_relu) {
  const Node* clip = walk.only_reader(node);
  if (clip == nullptr || clip->op_type != "Clip" || clip->inputs.empty() ||
      clip->inputs[0] != node.outputs[0]) {
    return std::nullopt;
  }
  const auto to = bounds(walk, *clip);
  if (!to || !(after_relu ? to->first <= 0.0 : to->first == 0.0) || !(to->second > 0.0) ||
      !std::isfinite(to->second)) {
    return std::nullopt;
  }
  return std::pair{clip, to->second};
}

}  // namespace

bool became_silu(Walk& walk, const Node& node) {
  if (!walk.has(node, 0)) return false;
  const Node* product = times(walk, node, node.inputs[0]);
  if (product == nullptr) return false;
  walk.set(*product, nn::unary(walk.graph(), "silu", Walk::name_of(node), walk.row_major(node, 0)));
  walk.skip(*product);
  walk.notice("Sigmoid, Mul were recognised as SiLU");
  return true;
}

bool became_mish(Walk& walk, const Node& node) {
  const Node* tanh = walk.only_reader(node);
  if (tanh == nullptr || tanh->op_type != "Tanh") return false;
  if (!walk.has(node, 0)) return false;
  const Node* product = times(walk, *tanh, node.inputs[0]);
  if (product == nullptr) return false;
  walk.set(*product, add_function(walk, "Mish", Walk::name_of(node), walk.row_major(node, 0)));
  for (const Node* part : {tanh, product}) walk.skip(*part);
  walk.notice("Softplus, Tanh, Mul were recognised as Mish");
  return true;
}

bool became_hard_swish(Walk& walk, const Node& node) {
  if (!about(real(node, "alpha", 0.2), 1.0 / 6) || !about(real(node, "beta", 0.5), 0.5)) return false;
  if (!walk.has(node, 0)) return false;
  const Node* product = times(walk, node, node.inputs[0]);
  if (product == nullptr) return false;
  walk.set(*product, add_function(walk, "HardSwish", Walk::name_of(node), walk.row_major(node, 0)));
  walk.skip(*product);
  walk.notice("HardSigmoid, Mul were recognised as hard swish");
  return true;
}

bool became_clip(Walk& walk, const Node& node) {
  const auto bounded = clipped_from_0(walk, node, true);
  if (!bounded) return false;
  const ValueId y =
      nn::clip(walk.graph(), Walk::name_of(node), walk.row_major(node, 0), 0.0, bounded->second);
  walk.set(*bounded->first, y);
  walk.skip(*bounded->first);
  return true;
}

bool became_hard_activation(Walk& walk, const Node& node, std::size_t position, double number) {
  if (node.op_type != "Add" || number != 3.0) return false;
  const Node* relu = walk.only_reader(node);
  if (relu != nullptr && relu->op_type != "Relu") relu = nullptr;
  const auto bounded = clipped_from_0(walk, relu == nullptr ? node : *relu, relu != nullptr);
  if (!bounded || bounded->second != 6.0) return false;
  const Node* clip = bounded->first;
  const std::string& x = node.inputs[position];
  if (walk.shape(node, 1 - position).size() > walk.shape(node, position).size()) return false;
  const std::string name = Walk::name_of(node);
  const auto done = [&](const Node& last, ValueId y, std::initializer_list<const Node*> parts,
                        const char* what) {
    for (const Node* part : parts) walk.skip(*part);
    if (relu != nullptr) walk.skip(*relu);
    walk.set(last, y);
    walk.notice(what);
    return true;
  };
  const Node* product = times(walk, *clip, x);
  const Node* ratio = sixth(walk, product == nullptr ? *clip : *product);
  if (ratio == nullptr) return false;
  const Node* last = product == nullptr ? times(walk, *ratio, x) : ratio;
  if (last != nullptr) {
    const ValueId y = add_function(walk, "HardSwish", name, walk.row_major(node, position));
    return done(*last, y, {clip, ratio, last, product == nullptr ? last : product},
                "Add, Clip, Mul, Div were recognised as hard swish");
  }
  const ValueId y = nn::unary(walk.graph(), "hardsigmoid", name, walk.row_major(node, position),
                              {{"alpha", 1.0 / 6}, {"beta", 0.5}});
  return done(*ratio, y, {clip, ratio}, "Add, Clip, Div were recognised as hard sigmoid");
}

}  // namespace poet::onnx
