#include "poet/frontend/onnx/lower/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/read/read_model.h"

namespace poet::onnx {
namespace {

using Names = std::vector<std::string>;

const Names& sequence_of(const Lowering& net, const Node& node) {
  const std::string name = node.inputs.empty() ? "" : node.inputs[0];
  const auto found = net.sequences.find(name);
  if (found == net.sequences.end())
    throw InputError(fmt::format("input 0 ('{}') is no known sequence", name));
  return found->second;
}

void set_sequence(Lowering& net, const Node& node, Names elements) {
  if (node.outputs.empty()) throw InputError("has no output");
  net.sequences[node.outputs[0]] = std::move(elements);
}

/// Returns the position at input `i` in a sequence of `size`; negative positions count from the end.
std::size_t position_of(const Lowering& net, const Node& node, std::size_t i, std::size_t size) {
  const std::vector<std::int64_t>& position = known_integers(net, node, i);
  if (position.size() != 1) throw InputError("the position must be one number");
  return checked_axis(position[0], size);
}

/// Returns a name for an element that no node of the file writes.
std::string element_name(const Lowering& net, const Node& node, std::size_t i) {
  std::string name = fmt::format("{}[{}]", node.outputs.at(0), i);
  const auto taken = [&] {
    return net.operands.contains(name) || std::ranges::any_of(net.model.nodes, [&](const Node& other) {
             return std::ranges::find(other.outputs, name) != other.outputs.end();
           });
  };
  while (taken()) name += '\'';
  return name;
}

void empty(Lowering& net, const Node& node) { set_sequence(net, node, {}); }

void construct(Lowering& net, const Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) (void)operand_of(net, node, i);
  set_sequence(net, node, node.inputs);
}

void insert(Lowering& net, const Node& node) {
  Names elements = sequence_of(net, node);
  (void)operand_of(net, node, 1);
  const std::size_t size = elements.size();
  std::size_t at = size;
  if (has_input(node, 2)) {
    const std::vector<std::int64_t>& position = known_integers(net, node, 2);
    const bool end = position.size() == 1 && position[0] == static_cast<std::int64_t>(size);
    if (!end) at = position_of(net, node, 2, size);
  }
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(at), node.inputs[1]);
  set_sequence(net, node, std::move(elements));
}

void erase(Lowering& net, const Node& node) {
  Names elements = sequence_of(net, node);
  if (elements.empty()) throw InputError("takes an element out of an empty sequence");
  const std::size_t at =
      has_input(node, 1) ? position_of(net, node, 1, elements.size()) : elements.size() - 1;
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(at));
  set_sequence(net, node, std::move(elements));
}

void element(Lowering& net, const Node& node) {
  const Names& elements = sequence_of(net, node);
  set_result(net, node, net.operands.at(elements[position_of(net, node, 1, elements.size())]));
}

void length(Lowering& net, const Node& node) {
  Tensor count = integer_list({static_cast<std::int64_t>(sequence_of(net, node).size())});
  count.shape = {};
  set_result(net, node, Fixed{node.outputs.at(0), std::move(count)});
}

void same(Lowering& net, const Node& node) { set_sequence(net, node, sequence_of(net, node)); }

/// Returns the sizes of the parts along an axis of `size`: as listed, or all equal to the one number, or 1.
std::vector<std::int64_t> part_sizes(const Lowering& net, const Node& node, std::int64_t size) {
  std::int64_t each = 1;
  if (has_input(node, 1)) {
    const std::vector<std::int64_t>& listed = known_integers(net, node, 1);
    if (shape_of(net, node, 1).size() == 1) return listed;
    each = listed.at(0);
    if (each < 1) throw InputError(fmt::format("parts of {} elements", each));
  }
  if (size / each >= kMostIntegers) throw InputError(fmt::format("makes parts of {} of {}", each, size));
  std::vector<std::int64_t> sizes;
  for (std::int64_t begin = 0; begin < size; begin += each) sizes.push_back(std::min(each, size - begin));
  return sizes;
}

void split_to_sequence(Lowering& net, const Node& node) {
  const Shape from = shape_of(net, node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), from.size());
  Node parts = node;
  parts.op_type = "Split";
  parts.inputs = {node.inputs[0]};
  const std::vector<std::int64_t> sizes = part_sizes(net, node, from[axis]);
  parts.attributes = {{"axis", static_cast<std::int64_t>(axis)}, {"split", sizes}};
  parts.outputs.clear();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    parts.outputs.push_back(element_name(net, node, i));
    // Readers of the list read its parts.
    net.uses.readers[parts.outputs.back()] = readers(net.uses, node.outputs[0]);
  }
  lower_as(net, parts);
  // Without given lengths and with keepdims 0, each part is one position without its axis.
  if (!has_input(node, 1) && integer(node, "keepdims", 1) == 0) {
    for (const std::string& part : parts.outputs) {
      Node squeeze = node;
      squeeze.op_type = "Squeeze";
      squeeze.name = part + ".squeezed";
      squeeze.inputs = squeeze.outputs = {part};
      squeeze.attributes = {{"axes", std::vector<std::int64_t>{static_cast<std::int64_t>(axis)}}};
      lower_as(net, squeeze);
    }
  }
  set_sequence(net, node, std::move(parts.outputs));
}

void concat_from_sequence(Lowering& net, const Node& node) {
  Node joined = node;
  joined.op_type = "Concat";
  joined.inputs = sequence_of(net, node);
  if (joined.inputs.empty()) throw InputError("joins an empty sequence");
  if (!node.attributes.contains("axis")) throw InputError("attribute 'axis'", "is missing");
  joined.attributes = {{"axis", integer(node, "axis", 0)}};
  if (integer(node, "new_axis", 0) != 0) {
    for (std::size_t i = 0; i < joined.inputs.size(); ++i) {
      Node unsqueeze = node;
      unsqueeze.op_type = "Unsqueeze";
      unsqueeze.name = fmt::format("{}.{}", name_of(node), i);
      unsqueeze.inputs = {joined.inputs[i]};
      unsqueeze.outputs = {element_name(net, node, i)};
      unsqueeze.attributes = {{"axes", std::vector<std::int64_t>{integer(node, "axis", 0)}}};
      lower_as(net, unsqueeze);
      joined.inputs[i] = unsqueeze.outputs[0];
    }
  }
  lower_as(net, joined);
}

}  // namespace

bool lowered_sequence(Lowering& net, const Node& node) {
  static const std::map<std::string_view, OperatorRule> rules = {
      {"ConcatFromSequence", concat_from_sequence},
      {"SequenceAt", element},
      {"SequenceConstruct", construct},
      {"SequenceEmpty", empty},
      {"SequenceErase", erase},
      {"SequenceInsert", insert},
      {"SequenceLength", length},
      {"SplitToSequence", split_to_sequence},
  };
  if (!node.domain.empty()) return false;
  if (node.op_type == "Identity" && !node.inputs.empty() && net.sequences.contains(node.inputs[0])) {
    same(net, node);
    return true;
  }
  const auto found = rules.find(node.op_type);
  if (found == rules.end()) return false;
  found->second(net, node);
  return true;
}

}  // namespace poet::onnx
