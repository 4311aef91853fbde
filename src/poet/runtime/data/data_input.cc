#include "poet/runtime/data/data_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "poet/base/error.h"
#include "poet/graph/operators/schema.h"
#include "poet/runtime/data/time_axis.h"

namespace poet::runtime {
namespace {

std::string place(const DataInput& input) { return fmt::format("input '{}'", input.name); }

bool mentions(std::string name, const char* word) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find(word) != std::string::npos;
}

/// Positions and token types are ids like any others; only their names tell.
std::optional<InputRole> role_named(const std::string& name) {
  if (mentions(name, "position")) return InputRole::positions;
  if (mentions(name, "type") || mentions(name, "segment")) return InputRole::token_types;
  return std::nullopt;
}

/// Whether operand `i` of `op` is this input or a view of it.
bool reads(const Graph& graph, const Op& op, std::size_t i, ValueId input) {
  return i < op.inputs.size() && storage(graph, op.inputs[i]) == input;
}

/// Of what the loss compares with, or nothing.
std::optional<InputRole> target_role(const Graph& graph, DataInput& input) {
  for (const Op& op : graph.ops) {
    if (!is_loss(op) || !reads(graph, op, 1, input.value)) continue;
    input.is_probability = op.kind == "bce_loss" || op.kind == "bce_with_logits_loss";
    if (input.dtype == DType::float32) return InputRole::number_targets;
    input.range = tensor_shape(graph.values[op.inputs[0]]).back();
    return InputRole::class_targets;
  }
  return std::nullopt;
}

/// Ids must be rows of every table that they are looked up in.
InputRole token_role(const Graph& graph, DataInput& input) {
  std::optional<InputRole> role;
  for (const Op& op : graph.ops) {
    const bool embeds = op.kind == "embedding" && reads(graph, op, 0, input.value);
    const bool gathers = op.kind == "gather" && reads(graph, op, 1, input.value);
    if (!embeds && !gathers) continue;
    const Value& table = graph.values[op.inputs[embeds ? 1 : 0]];
    const std::int64_t axis = embeds ? 0 : std::get<std::int64_t>(op.attributes.at("axis"));
    const std::int64_t rows = tensor_shape(table).at(static_cast<std::size_t>(axis));
    input.range = input.range == 0 ? rows : std::min(input.range, rows);
    if (!role) role = role_named(table.name);
  }
  for (const Value& value : graph.values) {
    if (!value.rows || value.rows->indices != tensor_name(graph.values[input.value])) continue;
    input.range = input.range == 0 ? value.rows->of : std::min(input.range, value.rows->of);
    if (!role) role = role_named(value.rows->table);
  }
  if (!role) role = role_named(input.name);
  return role.value_or(InputRole::tokens);
}

void find_role(const Graph& graph, DataInput& input) {
  if (const auto target = target_role(graph, input)) {
    input.role = *target;
  } else if (mentions(input.name, "mask") || input.dtype == DType::uint8) {
    input.role = InputRole::mask;
    if (input.dtype == DType::int32) static_cast<void>(token_role(graph, input));  // its range
    if (input.dtype == DType::uint8) input.range = 2;                              // truth values
  } else if (input.dtype != DType::float32) {
    input.role = token_role(graph, input);
  }
}

/// Samples lie along axis 0. Targets alone may have several rows per sample: one per token or pixel.
void set_sample(DataInput& input, std::int64_t batch) {
  const bool is_target = input.role == InputRole::class_targets || input.role == InputRole::number_targets;
  const std::int64_t rows = input.shape.front();
  if (rows != batch && (!is_target || rows % batch != 0)) {
    const std::string otherwise =
        input.name.ends_with(".noise") ? "the network draws random numbers that belong to no sample"
        : is_target
            ? "what the loss reads has the batch as another axis"
            : fmt::format("`input_values` {}=0 makes a constant of one that no sample has", input.name);
    throw InputError(place(input),
                     fmt::format("has {} samples along its first axis, other inputs have {}: the batch must "
                                 "be the first axis of all; {}",
                                 rows, batch, otherwise));
  }
  input.sample.assign(input.shape.begin() + 1, input.shape.end());
  if (rows != batch) input.sample.insert(input.sample.begin(), rows / batch);
}

}  // namespace

std::vector<DataInput> data_inputs(const Graph& graph) {
  std::vector<DataInput> inputs;
  std::set<std::string> known;  // in parts
  for (const Op& op : graph.ops) {
    if (op.kind != "input") continue;
    const Value& value = graph.values[op.outputs.at(0)];
    if (value.part && !known.insert(value.part->tensor).second) continue;
    DataInput input;
    input.value = op.outputs[0];
    input.name = value.part ? value.part->tensor : op.name;
    input.shape = tensor_shape(value);
    input.dtype = value.dtype;
    if (input.dtype == DType::int64)
      throw InputError(place(input), "is int64; data are float32, int32 or truth values (uint8)");
    if (element_count(input.shape) == 0 || input.shape.empty())
      throw InputError(place(input), fmt::format("has no axis of samples, or nothing along one of its axes; "
                                                 "`input_values` {}=0 makes a constant of it",
                                                 input.name));
    if (const auto reader = reader_of_time(graph, input.value))
      throw InputError(
          place(input),
          fmt::format("has time steps along its first axis, which must count samples: '{}' reads "
                      "(time, batch, features); export with batch_first=True, or transpose the "
                      "input within the model",
                      graph.ops[*reader].name));
    find_role(graph, input);
    inputs.push_back(std::move(input));
  }
  if (inputs.empty()) return inputs;
  const std::int64_t batch = samples_per_step(inputs);
  for (DataInput& input : inputs) set_sample(input, batch);
  return inputs;
}

std::int64_t samples_per_step(const std::vector<DataInput>& inputs) {
  // Only targets may have more rows than there are samples.
  std::int64_t least = inputs.empty() ? 1 : inputs.front().shape.front();
  for (const DataInput& input : inputs) least = std::min(least, input.shape.front());
  return least;
}

}  // namespace poet::runtime
