#include "poet/frontend/onnx/patterns_activations.h"

#include <cmath>
#include <initializer_list>

#include "poet/frontend/onnx/patterns.h"

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

/// The lower (1) or upper (2) bound of a Clip, an attribute or an input.
std::optional<double> bound(const Walk& walk, const Node& clip, std::size_t i) {
  if (clip.inputs.size() > i && !clip.inputs[i].empty()) {
    return walk.known(clip.inputs[i]) ? walk.scalar(clip, i) : std::nullopt;
  }
  const char* name = i == 1 ? "min" : "max";
  if (!clip.attributes.contains(name)) return std::nullopt;
  return real(clip, name, 0.0);
}

}  // namespace

bool became_silu(Walk& walk, const Node& node) {
  const Node* product = times(walk, node, node.inputs.at(0));
  if (product == nullptr) return false;
  walk.set(*product, walk.graph().silu(Walk::name_of(node), walk.row_major(node, 0)));
  walk.skip(*product);
  walk.notice("Sigmoid, Mul were recognised as SiLU");
  return true;
}

bool became_mish(Walk& walk, const Node& node) {
  const Node* tanh = walk.only_reader(node);
  if (tanh == nullptr || tanh->op_type != "Tanh") return false;
  const Node* product = times(walk, *tanh, node.inputs.at(0));
  if (product == nullptr) return false;
  walk.set(*product, walk.graph().mish(Walk::name_of(node), walk.row_major(node, 0)));
  for (const Node* part : {tanh, product}) walk.skip(*part);
  walk.notice("Softplus, Tanh, Mul were recognised as Mish");
  return true;
}

bool became_hardswish(Walk& walk, const Node& node) {
  if (!about(real(node, "alpha", 0.2), 1.0 / 6) || !about(real(node, "beta", 0.5), 0.5)) return false;
  const Node* product = times(walk, node, node.inputs.at(0));
  if (product == nullptr) return false;
  walk.set(*product, walk.graph().hardswish(Walk::name_of(node), walk.row_major(node, 0)));
  walk.skip(*product);
  walk.notice("HardSigmoid, Mul were recognised as hard swish");
  return true;
}

bool became_hard_activation(Walk& walk, const Node& node, std::size_t position, double number) {
  if (node.op_type != "Add" || number != 3.0) return false;
  const Node* clip = walk.only_reader(node);
  if (clip == nullptr || clip->op_type != "Clip" || clip->inputs.empty() ||
      clip->inputs[0] != node.outputs[0] || bound(walk, *clip, 1) != 0.0 || bound(walk, *clip, 2) != 6.0) {
    return false;
  }
  const std::string& x = node.inputs[position];
  if (walk.shape(node, 1 - position).size() > walk.shape(node, position).size()) return false;
  const std::string name = Walk::name_of(node);
  const auto done = [&](const Node& last, ValueId y, std::initializer_list<const Node*> parts,
                        const char* what) {
    for (const Node* part : parts) walk.skip(*part);
    walk.set(last, y);
    walk.notice(what);
    return true;
  };
  const Node* product = times(walk, *clip, x);
  const Node* ratio = sixth(walk, product == nullptr ? *clip : *product);
  if (ratio == nullptr) return false;
  const Node* last = product == nullptr ? times(walk, *ratio, x) : ratio;
  if (last != nullptr) {
    const ValueId y = walk.graph().hardswish(name, walk.row_major(node, position));
    return done(*last, y, {clip, ratio, last, product == nullptr ? last : product},
                "Add, Clip, Mul, Div were recognised as hard swish");
  }
  const ValueId y = walk.graph().hardsigmoid(name, walk.row_major(node, position), 1.0 / 6, 0.5);
  return done(*ratio, y, {clip, ratio}, "Add, Clip, Div were recognised as hard sigmoid");
}

}  // namespace poet::onnx
