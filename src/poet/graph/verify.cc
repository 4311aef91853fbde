// The promises of the data model, in the order in which later checks rely on earlier ones.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "poet/base/error.h"
#include "poet/graph/graph.h"
#include "poet/graph/operators/schema.h"
#include "poet/graph/precision.h"

namespace poet {

namespace {

std::string place(const Graph& graph, OpId op) {
  return fmt::format("op {} '{}'", op.index, graph.ops[op].name);
}
std::string place(const Graph& graph, ValueId v) {
  return fmt::format("value {} '{}'", v.index, graph.values[v].name);
}

void check_ids(const Graph& graph) {
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    const auto check = [&](const std::vector<ValueId>& list, const char* verb) {
      for (const ValueId v : list) {
        if (graph.values.contains(v)) continue;
        throw InputError(place(graph, op), fmt::format("{} value {}, but there are {} values", verb, v.index,
                                                       graph.values.size()));
      }
    };
    check(graph.ops[op].inputs, "reads");
    check(graph.ops[op].outputs, "writes");
    check(graph.ops[op].updates, "updates");
  }
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const OpId producer = graph.values[v].producer;
    if (producer.valid() && !graph.ops.contains(producer)) {
      throw InputError(place(graph, v), fmt::format("is produced by op {}, but there are {} ops",
                                                    producer.index, graph.ops.size()));
    }
  }
}

bool within_tensor(const Value& value) {
  const Part& part = *value.part;
  if (part.shape.size() != value.shape.size()) return false;
  for (std::size_t axis = 0; axis < value.shape.size(); ++axis) {
    const std::int64_t begin = part.begin[axis];
    if (begin < 0 || begin > part.shape[axis] || value.shape[axis] > part.shape[axis] - begin) return false;
  }
  return true;
}

/// Value::in_file names the tensor's elements. Shapes are not negative.
void check_in_file(const Graph& graph, ValueId v) {
  const Value& value = graph.values[v];
  if (!is_persistent(value.persistence) || value.alias_of.valid())
    throw InputError(place(graph, v), "only persistent values that are no views have a layout in files");
  if (value.in_file->transposed && (value.shape.size() != 2 || value.rows))
    throw InputError(place(graph, v), "only a matrix can be transposed in files, and no table by index");
  Shape tensor = tensor_shape(value);
  if (value.rows && !tensor.empty()) tensor.front() = value.rows->of;
  if (element_count(value.in_file->shape) != element_count(tensor))
    throw InputError(place(graph, v), "must have as many elements in files as in memory");
}

// Sums of any of the sizes are safe afterwards.
void check_sizes(const Graph& graph) {
  std::int64_t total = 0;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (std::any_of(value.shape.begin(), value.shape.end(), [](std::int64_t d) { return d < 0; })) {
      throw InputError(place(graph, v), "no dimension may be negative");
    }
    if (!value.strides.empty() && value.strides.size() != value.shape.size()) {
      throw InputError(place(graph, v), "must have one stride per dimension, or none at all");
    }
    if (value.part && (value.part->begin.size() != value.shape.size() || !within_tensor(value))) {
      throw InputError(place(graph, v),
                       fmt::format("a part must lie within its tensor, '{}'", value.part->tensor));
    }
    if (value.in_file) check_in_file(graph, v);
    if (value.bytes.value() < 0) {
      throw InputError(place(graph, v), fmt::format("bytes must be >= 0, not {}", value.bytes.value()));
    }
    if (!value.alias_of.valid() && __builtin_add_overflow(total, value.bytes.value(), &total)) {
      throw InputError(place(graph, v), "the sizes up to here add up to more bytes than 64 bits can count");
    }
  }
}

void check_views(const Graph& graph, const IdVector<ValueId, ValueId>& storage_of) {
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    if (!graph.values[v].alias_of.valid()) continue;
    const Value& view = graph.values[v];
    const Value& base = graph.values[storage_of[v]];
    if (view.producer.valid()) {
      throw InputError(place(graph, v), "a view has no producer: its storage has");
    }
    if (view.bytes != base.bytes) {
      throw InputError(place(graph, v), fmt::format("a view has its storage's bytes ({}), not {}",
                                                    base.bytes.value(), view.bytes.value()));
    }
    if (view.dtype != base.dtype) {
      throw InputError(place(graph, v), fmt::format("a view has its storage's element type ({}), not {}",
                                                    to_string(base.dtype), to_string(view.dtype)));
    }
    if (view.persistence != base.persistence) {
      throw InputError(place(graph, v),
                       fmt::format("a view has its storage's persistence ({}), not {}",
                                   to_string(base.persistence), to_string(view.persistence)));
    }
  }
}

/// Losses, statistics and single numbers are read as float32 by whoever reads them.
void check_bfloat16(const Graph& graph) {
  for (const Op& op : graph.ops) {
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const Value& value = graph.values[op.outputs[i]];
      if (value.dtype != DType::bfloat16) continue;
      if (i >= outputs_in_bfloat16(op))
        throw InputError(place(graph, op.outputs[i]),
                         fmt::format("output {} of a {} cannot be stored as bfloat16", i, op.kind));
      if (element_count(tensor_shape(value)) == 1)
        throw InputError(place(graph, op.outputs[i]), "a single number cannot be stored as bfloat16");
    }
  }
}

// A value is in RAM from the start, or one op writes it and says so.
void check_producers(const Graph& graph) {
  IdVector<ValueId, OpId> writer(graph.values.size());
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    for (const ValueId v : graph.ops[op].outputs) {
      if (writer[v].valid()) {
        throw InputError(place(graph, v),
                         fmt::format("is written twice, by {} and {}; a value has one producer",
                                     place(graph, writer[v]), place(graph, op)));
      }
      writer[v] = op;
    }
  }
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (writer[v] != value.producer) {
      throw InputError(place(graph, v),
                       writer[v].valid() ? fmt::format("is written by {} but names another producer, or none",
                                                       place(graph, writer[v]))
                                         : fmt::format("names {} as its producer, which does not write it",
                                                       place(graph, value.producer)));
    }
    if (value.paged && (value.alias_of.valid() || !is_persistent(value.persistence))) {
      throw InputError(place(graph, v), "only a persistent value that is no view can be paged");
    }
    if (value.dtype == DType::bfloat16 && value.persistence != Persistence::activation) {
      throw InputError(place(graph, v), fmt::format("only activations can be stored as bfloat16, no {}",
                                                    to_string(value.persistence)));
    }
    if (value.alias_of.valid()) continue;
    if (is_persistent(value.persistence) && value.producer.valid()) {
      throw InputError(place(graph, v),
                       fmt::format("a persistent value ({}) is in RAM before the step and has no producer",
                                   to_string(value.persistence)));
    }
    if (!is_persistent(value.persistence) && !value.producer.valid()) {
      throw InputError(place(graph, v), fmt::format("a value that is not persistent ({}) needs a producer",
                                                    to_string(value.persistence)));
    }
    if (value.persistence == Persistence::input && graph.ops[value.producer].recomputable) {
      throw InputError(place(graph, value.producer),
                       "produces an input of the step, so it cannot be recomputable");
    }
  }
}

/// -1: more than 64 bits can count.
std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return -1;
  return count;
}

void check_rows(const Graph& graph) {
  const auto has_rows = [](const Value& value) { return value.rows.has_value(); };
  if (std::none_of(graph.values.begin(), graph.values.end(), has_rows)) return;
  std::unordered_map<std::string, std::int64_t> indices;  // of the inputs, how many
  for (const Value& value : graph.values)
    if (value.persistence == Persistence::input && !value.alias_of.valid() && value.dtype == DType::int32)
      indices[tensor_name(value)] = count_of(tensor_shape(value));
  constexpr std::int64_t kMostRows = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kMostColumns = 65'536;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (!value.rows) continue;
    const bool fits = value.persistence == Persistence::parameter && value.paged && !value.alias_of.valid() &&
                      value.dtype == DType::float32 && value.shape.size() == 2 && value.strides.empty();
    if (!fits)
      throw InputError(place(graph, v), "rows of a table are a paged parameter with two axes of float32");
    const auto named = indices.find(value.rows->indices);
    if (named == indices.end() || named->second != tensor_shape(value)[0])
      throw InputError(place(graph, v),
                       fmt::format("no input '{}' names each of its rows by an int32", value.rows->indices));
    if (value.rows->of < 1 || value.rows->of > kMostRows)
      throw InputError(place(graph, v),
                       fmt::format("a table has 1 to {} rows, not {}", kMostRows, value.rows->of));
    if (tensor_shape(value)[1] > kMostColumns)
      throw InputError(place(graph, v),
                       fmt::format("a row that is transferred has at most {} numbers, not {}", kMostColumns,
                                   tensor_shape(value)[1]));
  }
}

void check_topological_order(const Graph& graph, const IdVector<ValueId, ValueId>& storage_of) {
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    for (const ValueId v : graph.ops[op].inputs) {
      const OpId producer = graph.values[storage_of[v]].producer;
      if (producer < op) continue;  // an invalid producer too: the value is persistent
      throw InputError(
          place(graph, op),
          fmt::format("reads {}, which {} writes; ops must be in topological order, without cycles",
                      place(graph, v), producer == op ? "it itself" : "the later " + place(graph, producer)));
    }
  }
}

void check_updates(const Graph& graph, const IdVector<ValueId, ValueId>& storage_of) {
  IdVector<ValueId, OpId> update(graph.values.size());
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const Op& op = graph.ops[id];
    if (op.recomputable && (op.pass == Pass::update || !op.updates.empty())) {
      throw InputError(place(graph, id), "an update changes values in place, so it cannot be recomputable");
    }
    for (const ValueId v : op.updates) {
      const ValueId target = storage_of[v];
      if (!is_persistent(graph.values[target].persistence)) {
        throw InputError(place(graph, id),
                         fmt::format("updates {}, which is not persistent ({})", place(graph, v),
                                     to_string(graph.values[target].persistence)));
      }
      if (update[target].valid()) {
        throw InputError(place(graph, id), fmt::format("updates {} a second time, after {}", place(graph, v),
                                                       place(graph, update[target])));
      }
      update[target] = id;
    }
    for (const ValueId v : op.inputs) {
      const OpId earlier = update[storage_of[v]];
      if (earlier.valid() && earlier != id) {
        throw InputError(place(graph, id), fmt::format("reads {} after its update by {}", place(graph, v),
                                                       place(graph, earlier)));
      }
    }
  }
}

}  // namespace

void verify(const Graph& graph) {
  check_ids(graph);
  const IdVector<ValueId, ValueId> storage_of = storages(graph);
  check_sizes(graph);
  check_views(graph, storage_of);
  check_producers(graph);
  check_rows(graph);
  check_bfloat16(graph);
  check_topological_order(graph, storage_of);
  check_updates(graph, storage_of);
  for (const OpId op : ids<OpId>(graph.ops.size())) check_operands(graph, op);
}

}  // namespace poet
