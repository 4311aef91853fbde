#include "poet/frontend/onnx/lower/weights_in_nodes.h"

#include <algorithm>
#include <set>

#include "poet/frontend/onnx/lower/generated_names.h"
#include "poet/frontend/onnx/lower/stored_uses.h"
#include "poet/frontend/onnx/lower/views.h"

namespace poet::onnx {

bool makes_reals(const Node& node) {
  if (!node.domain.empty() || node.outputs.empty()) return false;
  const Tensor* value = stated_value(node);
  if (node.op_type == "ConstantOfShape") return value == nullptr || value->type == Type::real;
  if (node.op_type != "Constant") return false;
  return value != nullptr
             ? value->type == Type::real
             : node.attributes.contains("value_float") || node.attributes.contains("value_floats");
}

namespace {

/// What the filters, matrices and tables of a network are read from.
struct Filters {
  std::set<std::string> initializers, nodes;
  bool has_fills = false;
  std::int64_t elements_of_nodes = 0;
};

/// Returns the number of elements that the node makes, 0 where its shape is computed.
std::int64_t elements_made(const Model& model, const Uses& uses, const Node& node) {
  const Tensor* value = stated_value(node);
  if (node.op_type == "Constant") return value == nullptr ? 0 : element_count(value->shape);
  if (node.inputs.empty()) return 0;
  const auto shape = model.initializers.find(node.inputs[0]);
  const Node* made = writer(uses, node.inputs[0]);
  const Tensor* list = shape != model.initializers.end() ? &shape->second
                       : made != nullptr                 ? stated_value(*made)
                                                         : nullptr;
  return list != nullptr && list->known ? element_count(list->integers) : 0;
}

Filters filters_of(const Model& model, const Uses& uses) {
  Filters filters;
  for (const Node& node : model.nodes) {
    if (!uses.needed.contains(node.index)) continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!is_filter({&node, i})) continue;
      std::string from = node.inputs[i];
      const Node* made = writer(uses, from);
      while (made != nullptr && is_view(*made) && !made->inputs.empty()) {
        from = made->inputs.front();
        made = writer(uses, from);
      }
      const auto stored = model.initializers.find(from);
      if (stored != model.initializers.end()) {
        if (stored->second.type == Type::real) filters.initializers.insert(from);
      } else if (made != nullptr && makes_reals(*made)) {
        filters.has_fills = filters.has_fills || made->op_type == "ConstantOfShape";
        if (filters.nodes.insert(from).second) filters.elements_of_nodes += elements_made(model, uses, *made);
      }
    }
  }
  return filters;
}

}  // namespace

WeightsInNodes weights_in_nodes(const Model& model, const Uses& uses) {
  // Files whose weights were taken out to make them small keep their smallest tensors.
  constexpr std::int64_t kMuchMore = 100;
  const Filters filters = filters_of(model, uses);
  std::int64_t stored = 0;
  for (const auto& [name, tensor] : model.initializers)
    stored += tensor.type == Type::real ? element_count(tensor.shape) : 0;
  // PyTorch stores parameters, and its Constant nodes are tensors that a module makes.
  const bool stores_parameters =
      model.producer == "pytorch" &&
      std::any_of(model.initializers.begin(), model.initializers.end(), [&](const auto& each) {
        return each.second.type == Type::real && !is_generated(model, each.first);
      });
  const bool are = filters.initializers.empty() && filters.elements_of_nodes > 0 &&
                   (filters.has_fills || !stores_parameters) &&
                   filters.elements_of_nodes / kMuchMore >= stored;
  return {are, filters.has_fills};
}

}  // namespace poet::onnx
