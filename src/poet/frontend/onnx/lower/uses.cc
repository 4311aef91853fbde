#include "poet/frontend/onnx/lower/uses.h"

#include <algorithm>

#include "poet/frontend/onnx/lower/generated_names.h"
#include "poet/frontend/onnx/lower/zero_states.h"

namespace poet::onnx {

std::map<std::string, const Node*> writers_of(const Model& model) {
  std::map<std::string, const Node*> writers;
  for (const Node& node : model.nodes)
    for (const std::string& output : node.outputs) writers[output] = &node;
  return writers;
}

Uses uses_of(const Model& model, std::set<std::string> outputs, const std::set<std::string>& zeros,
             const std::map<std::size_t, std::string>& opaque) {
  std::set<std::string> wanted = outputs;
  Uses uses{std::move(outputs), {}, {}, {}, writers_of(model)};
  for (std::size_t i = model.nodes.size(); i-- > 0;) {
    const Node& node = model.nodes[i];
    const bool used = std::any_of(node.outputs.begin(), node.outputs.end(),
                                  [&](const std::string& output) { return wanted.contains(output); });
    if (!used) continue;
    uses.needed.insert(node.index);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      // Zero initial states of layers are not computed.
      const bool is_none = is_initial_state(node, k) && zeros.contains(node.inputs[k]);
      if (!is_none || opaque.contains(node.index)) wanted.insert(node.inputs[k]);
    }
    wanted.erase("");
  }
  for (const Node& node : model.nodes) {
    if (!uses.needed.contains(node.index)) continue;
    if (model.producer == "pytorch" && model.origins.empty() && node.domain.empty() &&
        node.op_type == "Identity" && !node.inputs.empty() && !node.outputs.empty() &&
        model.initializers.contains(node.inputs[0]) && !is_generated(model, node.outputs[0])) {
      uses.parted.insert(node.outputs[0]);
    }
    for (const std::string& input : node.inputs) {
      if (!input.empty()) uses.readers[input].push_back(&node);
    }
  }
  return uses;
}

const Node* writer(const Uses& uses, const std::string& value) {
  const auto found = uses.writers.find(value);
  return found == uses.writers.end() || !found->second->domain.empty() ? nullptr : found->second;
}

const std::vector<const Node*>& readers(const Uses& uses, const std::string& value) {
  static const std::vector<const Node*> none;
  const auto found = uses.readers.find(value);
  return found == uses.readers.end() ? none : found->second;
}

const Node* only_reader(const Uses& uses, const Node& node) {
  const std::string& output = node.outputs.at(0);
  if (uses.outputs.contains(output)) return nullptr;
  const std::vector<const Node*>& all = readers(uses, output);
  return all.size() == 1 && all.front()->domain.empty() ? all.front() : nullptr;
}

const Node* only_reader(const Uses& uses, const Node& node, std::string_view op_type) {
  const Node* reader = only_reader(uses, node);
  return reader != nullptr && reader->op_type == op_type ? reader : nullptr;
}

bool is_read(const Uses& uses, const Node& node, std::size_t output) {
  if (output >= node.outputs.size() || node.outputs[output].empty()) return false;
  const std::string& name = node.outputs[output];
  return uses.outputs.contains(name) || !readers(uses, name).empty();
}

}  // namespace poet::onnx
