#include "poet/frontend/onnx/lower/zero_states.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/frontend/onnx/lower/views.h"

namespace poet::onnx {
namespace {

/// Operators that only move elements, so that the result is zero if input 0 is.
constexpr auto kMovers =
    std::to_array<std::string_view>({"Cast", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice",
                                     "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"});

bool makes_zeros(const Node& node) {
  const Tensor* value = stated_value(node);
  if (value != nullptr) return value->fill == 0.0;
  return node.op_type == "ConstantOfShape" && !node.attributes.contains("value");
}

}  // namespace

std::set<std::string> zero_values(const Model& model) {
  std::set<std::string> zeros;
  for (const Node& node : model.nodes) {
    if (!node.domain.empty() || node.outputs.empty()) continue;
    const auto is_zero = [&](const std::string& input) { return zeros.contains(input); };
    const bool moves = std::find(kMovers.begin(), kMovers.end(), node.op_type) != kMovers.end();
    const bool zero = makes_zeros(node) || (moves && !node.inputs.empty() && is_zero(node.inputs.front())) ||
                      (node.op_type == "Concat" && !node.inputs.empty() &&
                       std::all_of(node.inputs.begin(), node.inputs.end(), is_zero));
    if (zero) zeros.insert(node.outputs.begin(), node.outputs.end());
  }
  zeros.erase("");
  return zeros;
}

bool is_initial_state(const Node& node, std::size_t i) {
  if (!node.domain.empty()) return false;
  const bool lstm = node.op_type == "LSTM";
  return (i == 5 && (lstm || node.op_type == "GRU" || node.op_type == "RNN")) || (i == 6 && lstm);
}

bool is_zero_state(Lowering& net, const Node& node, std::size_t i) {
  if (net.zeros.contains(node.inputs[i])) return true;
  const Fixed* stored = fixed_of(net, node, i);
  if (stored == nullptr || stored->role.trains || stored->tensor.fill != 0.0) return false;
  net.notices.add("initial states of zeros that recurrent layers read from the file do not train");
  return true;
}

}  // namespace poet::onnx
