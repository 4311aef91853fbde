#include "poet/frontend/onnx/lower/operators.h"

#include <algorithm>

#include "poet/frontend/onnx/lower/evaluated.h"

namespace poet::onnx {
namespace {

std::vector<const std::vector<OperatorEntry>*> lists() {
  return {&product_operators(),    &norm_operators(),       &convolution_operators(), &pooling_operators(),
          &arithmetic_operators(), &activation_operators(), &reduction_operators(),   &view_operators(),
          &copy_operators(),       &resize_operators(),     &gather_operators(),      &logic_operators(),
          &einsum_operators(),     &recurrent_operators(),  &composed_operators(),    &attention_operators(),
          &padding_operators(),    &position_operators(),   &loss_operators(),        &noise_operators()};
}

}  // namespace

OperatorRule find_operator(const std::string& op_type, bool integers) {
  if (integers) {
    for (const OperatorEntry& entry : integer_operators()) {
      if (entry.op_type == op_type) return entry.rule;
    }
  }
  for (const std::vector<OperatorEntry>* list : lists()) {
    for (const OperatorEntry& entry : *list) {
      if (entry.op_type == op_type) return entry.rule;
    }
  }
  return nullptr;
}

void lower_as(Lowering& net, const Node& node) {
  if (was_evaluated(net, node)) return;
  find_operator(node.op_type, type_of(net, node, 0) != Type::real)(net, node);
}

std::vector<std::string> imported_operators() {
  std::vector<std::string> names;
  for (const std::vector<OperatorEntry>* list : lists()) {
    for (const OperatorEntry& entry : *list) names.emplace_back(entry.op_type);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace poet::onnx
