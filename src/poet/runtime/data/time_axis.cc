#include "poet/runtime/data/time_axis.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace poet::runtime {
namespace {

constexpr auto kTimed = std::to_array<std::string_view>({"gru", "lstm", "rnn"});
/// Ops whose result has the axes of their first operand of as many elements along them. For linear layers and
/// embeddings this holds for all axes but the last, for recurrent layers for the first.
constexpr auto kAxisKeepers = std::to_array<std::string_view>(
    {"add",   "cast",       "clip",       "concat", "div",   "dropout", "embedding", "gelu",
     "gru",   "layer_norm", "leaky_relu", "linear", "lstm",  "mul",     "relu",      "rnn",
     "scale", "sigmoid",    "silu",       "slice",  "split", "sub",     "tanh"});

template <std::size_t kCount>
bool is_among(std::string_view kind, const std::array<std::string_view, kCount>& kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

Shape strides_in_elements(const Value& value) {
  if (!value.strides.empty()) return value.strides;
  Shape strides(value.shape.size(), 1);
  for (std::size_t a = strides.size(); a-- > 1;) strides[a - 1] = strides[a] * value.shape[a];
  return strides;
}

/// An axis of a value.
struct Axis {
  ValueId value;
  std::size_t axis = 0;
};

/// The same axis of the storage that a view shows.
std::optional<Axis> axis_in_storage(const Graph& graph, const Axis& of) {
  const ValueId s = storage(graph, of.value);
  if (s == of.value) return of;
  const Value& view = graph.values[of.value];
  const Value& whole = graph.values[s];
  const Shape strides = strides_in_elements(whole);
  for (std::size_t a = 0; a < strides.size(); ++a)
    if (whole.shape[a] == view.shape[of.axis] && strides[a] == strides_in_elements(view)[of.axis])
      return Axis{s, a};
  return std::nullopt;
}

/// The axis of an operand that the op hands on as this one of its result.
std::optional<Axis> axis_in_operand(const Graph& graph, const Op& op, const Axis& of) {
  if (op.kind == "transpose") {
    const auto& axes = std::get<std::vector<std::int64_t>>(op.attributes.at("axes"));
    return Axis{op.inputs[0], static_cast<std::size_t>(axes.at(of.axis))};
  }
  if (!is_among(op.kind, kAxisKeepers)) return std::nullopt;
  for (const ValueId v : op.inputs) {
    const Shape& shape = graph.values[v].shape;
    if (of.axis < shape.size() && shape[of.axis] == graph.values[of.value].shape[of.axis])
      return Axis{v, of.axis};
    if (op.kind != "add" && op.kind != "mul") break;  // those may have the smaller operand first
  }
  return std::nullopt;
}

bool is_first_axis_of(const Graph& graph, Axis axis, ValueId input) {
  while (true) {
    const std::optional<Axis> stored = axis_in_storage(graph, axis);
    if (!stored) return false;
    if (stored->value == input) return stored->axis == 0;
    const OpId producer = graph.values[stored->value].producer;
    if (!producer.valid()) return false;
    const std::optional<Axis> before = axis_in_operand(graph, graph.ops[producer], *stored);
    if (!before) return false;
    axis = *before;
  }
}

}  // namespace

std::optional<OpId> reader_of_time(const Graph& graph, ValueId input) {
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const Op& op = graph.ops[id];
    if (!is_among(op.kind, kTimed)) continue;
    const bool has_time = graph.values[op.inputs[0]].shape.front() > 1;
    if (has_time && is_first_axis_of(graph, {op.inputs[0], 0}, input)) return id;
  }
  return std::nullopt;
}

}  // namespace poet::runtime
