// Element-wise functions of one operand.

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/functions.h"
#include "poet/frontend/onnx/fuse/patterns_activations.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"
#include "poet/graph/operators/schema.h"

namespace poet::onnx {
namespace {

/// Adds the op that the table of functions has for the operator.
void function(Lowering& net, const Node& node) {
  const FunctionName& name = *find_function(node.op_type);
  // Step functions have no gradient.
  if (poet::find_operator(name.kind + std::string("_backward")) == nullptr)
    net.notices.add("no gradient flows through " + node.op_type);
  Attributes attributes;
  for (const auto& [attribute, otherwise] : name.attributes)
    attributes[attribute] = real(node, attribute, otherwise);
  set_result(net, node,
             nn::unary(net.builder, name.kind, name_of(node), row_major(net, node, 0), attributes));
}

/// Adds the fused operator if the node begins its pattern, else the node's own.
template <bool (*kBecame)(Lowering&, const Node&)>
void unless_part(Lowering& net, const Node& node) {
  if (!kBecame(net, node)) function(net, node);
}

void prelu(Lowering& net, const Node& node) {
  const ValueId x = row_major(net, node, 0);
  set_result(net, node, nn::prelu(net.builder, name_of(node), x, row_major(net, node, 1)));
}

}  // namespace

const std::vector<OperatorEntry>& activation_operators() {
  static const std::vector<OperatorEntry> entries = [] {
    std::vector<OperatorEntry> all = {
        {"HardSigmoid", unless_part<&became_hard_swish>},
        {"PRelu", prelu},
        {"Relu", unless_part<&became_clip>},
        {"Sigmoid", unless_part<&became_silu>},
        {"Softplus", unless_part<&became_mish>},
    };
    for (const FunctionName& name : function_names()) {
      const bool special = std::any_of(all.begin(), all.end(), [&name](const OperatorEntry& entry) {
        return std::string_view(entry.op_type) == name.op_type;
      });
      if (!special) all.push_back({name.op_type, function});
    }
    return all;
  }();
  return entries;
}

}  // namespace poet::onnx
