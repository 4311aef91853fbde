// Activations, and operators element by element, beyond those of elementwise.cc.

#include "poet/base/error.h"
#include "poet/frontend/onnx/operators.h"
#include "poet/frontend/onnx/patterns_activations.h"

namespace poet::onnx {
namespace {

template <ValueId (GraphBuilder::*kOp)(const std::string&, ValueId)>
void unary(Walk& walk, const Node& node) {
  walk.set(node, (walk.graph().*kOp)(Walk::name_of(node), walk.row_major(node, 0)));
}

/// An operator of two nodes or more where the file spells it so, otherwise itself.
template <bool (*kBecame)(Walk&, const Node&), ValueId (GraphBuilder::*kOp)(const std::string&, ValueId)>
void unless_part(Walk& walk, const Node& node) {
  if (!kBecame(walk, node)) unary<kOp>(walk, node);
}

/// Jumps only: what trains below gets no gradient through it.
template <ValueId (GraphBuilder::*kOp)(const std::string&, ValueId)>
void step(Walk& walk, const Node& node) {
  walk.notice("no gradient flows through " + node.op_type);
  unary<kOp>(walk, node);
}

void hardsigmoid(Walk& walk, const Node& node) {
  if (became_hardswish(walk, node)) return;
  walk.set(node, walk.graph().hardsigmoid(Walk::name_of(node), walk.row_major(node, 0),
                                          real(node, "alpha", 0.2), real(node, "beta", 0.5)));
}

void selu(Walk& walk, const Node& node) {
  walk.set(node, walk.graph().selu(Walk::name_of(node), walk.row_major(node, 0),
                                   real(node, "alpha", 1.67326319217681884765625),
                                   real(node, "gamma", 1.05070102214813232421875)));
}

void celu(Walk& walk, const Node& node) {
  walk.set(node, walk.graph().celu(Walk::name_of(node), walk.row_major(node, 0), real(node, "alpha", 1.0)));
}

void thresholded_relu(Walk& walk, const Node& node) {
  walk.set(node, walk.graph().thresholded_relu(Walk::name_of(node), walk.row_major(node, 0),
                                               real(node, "alpha", 1.0)));
}

/// The slope is a weight, also where it is one number: PyTorch's default is one for all channels.
void prelu(Walk& walk, const Node& node) {
  const ValueId x = walk.row_major(node, 0);
  const Fixed* slope = walk.fixed(node, 1);
  const bool one_number = slope != nullptr && !slope->constant && walk.scalar(node, 1);
  const ValueId s = one_number ? walk.weight(node, 1, walk.shape(node, 1)) : walk.row_major(node, 1);
  walk.set(node, walk.graph().prelu(Walk::name_of(node), x, s));
}

}  // namespace

const std::vector<OperatorEntry>& activation_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Ceil", step<&GraphBuilder::ceil>},
      {"Celu", celu},
      {"Cos", unary<&GraphBuilder::cos>},
      {"Floor", step<&GraphBuilder::floor>},
      {"HardSigmoid", hardsigmoid},
      {"Mish", unary<&GraphBuilder::mish>},
      {"PRelu", prelu},
      {"Relu", unless_part<&became_clip, &GraphBuilder::relu>},
      {"Round", step<&GraphBuilder::round>},
      {"Selu", selu},
      {"Sigmoid", unless_part<&became_silu, &GraphBuilder::sigmoid>},
      {"Sign", step<&GraphBuilder::sign>},
      {"Sin", unary<&GraphBuilder::sin>},
      {"Softplus", unless_part<&became_mish, &GraphBuilder::softplus>},
      {"Softsign", unary<&GraphBuilder::softsign>},
      {"ThresholdedRelu", thresholded_relu},
  };
  return entries;
}

}  // namespace poet::onnx
