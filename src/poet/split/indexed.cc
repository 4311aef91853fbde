#include "poet/split/indexed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/parts.h"

namespace poet {
namespace {

/// The ops around a table.
struct Table {
  OpId lookup;
  ValueId ids;    // what the lookup reads: an input or a view of one
  OpId gradient;  // invalid where it is not trained, as is the update
  OpId update;
  int readers = 0;  // of the table
};

class Tables {
 public:
  explicit Tables(const Graph& graph)
      : graph_(graph), tables_(graph.values.size()), is_viewed_(graph.values.size(), 0) {
    IdVector<ValueId, int> readers(graph.values.size(), 0);
    for (const Value& value : graph.values)
      if (value.alias_of.valid()) is_viewed_[storage(graph, value.alias_of)] = 1;
    for (const OpId id : ids<OpId>(graph.ops.size()))
      for (const ValueId v : graph.ops[id].inputs) ++readers[v];
    for (const OpId id : ids<OpId>(graph.ops.size())) {
      const Op& op = graph.ops[id];
      for (const ValueId v : op.inputs) ++tables_[v].readers;
      if (op.kind == "embedding") {
        tables_[op.inputs[1]].lookup = id;
        tables_[op.inputs[1]].ids = op.inputs[0];
      } else if (op.kind == "sgd_update") {
        Table& table = tables_[op.inputs[0]];
        table.update = id;
        const ValueId gradient = op.inputs[1];
        const bool alone = readers[gradient] == 1 && is_viewed_[gradient] == 0;
        if (alone) table.gradient = graph.values[gradient].producer;
      }
    }
  }

  [[nodiscard]] const Table& of(ValueId v) const { return tables_[v]; }

  [[nodiscard]] bool is_indexable(ValueId v) const {
    const Value& value = graph_.values[v];
    const Table& table = tables_[v];
    if (value.persistence != Persistence::parameter || value.alias_of.valid() || is_viewed_[v] != 0 ||
        value.rows || value.paged || value.shape.size() != 2 || !value.strides.empty())
      return false;
    if (!table.lookup.valid() || !are_indices(table.ids)) return false;
    constexpr std::int64_t kMostRows = std::numeric_limits<std::int32_t>::max();
    constexpr std::int64_t kMostColumns = 65'536;  // verify()
    if (value.shape[0] > kMostRows || value.shape[1] > kMostColumns) return false;
    if (element_count(graph_.values[table.ids].shape) >= value.shape[0]) return false;
    if (graph_.ops[table.lookup].attributes.contains("accumulate")) return false;
    if (!table.update.valid()) return table.readers == 1;
    return table.readers == 2 && is_own_gradient(table);
  }

 private:
  /// All of an input, in its order.
  [[nodiscard]] bool are_indices(ValueId v) const {
    const Value& read = graph_.values[v];
    const Value& input = graph_.values[storage(graph_, v)];
    return read.dtype == DType::int32 && input.dtype == DType::int32 && !input.part &&
           input.persistence == Persistence::input && input.producer.valid() &&
           graph_.ops[input.producer].kind == "input" && read.strides.empty() && input.strides.empty() &&
           element_count(read.shape) == element_count(input.shape) && element_count(read.shape) > 0;
  }

  [[nodiscard]] bool is_own_gradient(const Table& table) const {
    if (!table.gradient.valid()) return false;
    const Op& op = graph_.ops[table.gradient];
    return op.kind == "embedding_backward" && op.inputs[1] == table.ids && op.inputs.size() == 2;
  }

  const Graph& graph_;
  IdVector<ValueId, Table> tables_;
  IdVector<ValueId, char> is_viewed_;
};

void take_rows(Value& value, std::int64_t rows, const std::string& indices) {
  value.name += fmt::format("[{}]", indices);
  value.shape[0] = rows;
  value.bytes = byte_count(value.shape, value.dtype);
}

}  // namespace

std::vector<ValueId> indexable_tables(const Graph& training) {
  const Tables tables(training);
  std::vector<ValueId> found;
  for (const ValueId v : ids<ValueId>(training.values.size()))
    if (tables.is_indexable(v)) found.push_back(v);
  return found;
}

Graph with_indexed(const Graph& training, const std::vector<ValueId>& wanted) {
  const Tables tables(training);
  Graph result = training;
  result.ops = {};
  IdVector<OpId, std::vector<ValueId>> looked_up(training.ops.size());  // by the op, tables
  for (const ValueId v : wanted) {
    ensure(tables.is_indexable(v), "a table by index is an indexable one");
    looked_up[tables.of(v).lookup].push_back(v);
  }
  IdVector<ValueId, ValueId> places(training.values.size());  // of a table
  const auto append = [&](Op op) {
    for (const ValueId v : op.outputs) result.values[v].producer = result.ops.next_id();
    result.ops.push_back(std::move(op));
  };
  for (const OpId id : ids<OpId>(training.ops.size())) {
    Op op = training.ops[id];
    for (const ValueId v : looked_up[id]) {
      const Table& table = tables.of(v);
      Value place = training.values[table.ids];
      const Value& input = training.values[storage(training, table.ids)];
      const std::string indices = input.name;
      place.name = op.name + ":places";
      place.alias_of = ValueId();
      place.persistence = Persistence::activation;
      place.bytes = byte_count(place.shape, place.dtype);
      places[v] = result.values.push_back(std::move(place));
      Op find;
      find.name = op.name + ":first_occurrences";
      find.kind = "first_occurrences";
      find.inputs = {table.ids};
      find.outputs = {places[v]};
      append(std::move(find));
      op.inputs[0] = places[v];
      Value& rows = result.values[v];
      rows.rows = Rows{rows.name, indices, rows.shape[0]};
      rows.paged = true;
      take_rows(rows, element_count(training.values[table.ids].shape), indices);
    }
    for (const ValueId v : wanted) {
      if (tables.of(v).gradient != id) continue;
      op.inputs[1] = places[v];
      take_rows(result.values[op.outputs[0]], result.values[v].shape[0], result.values[v].rows->indices);
    }
    append(std::move(op));
  }
  return verified(std::move(result));
}

Graph without_indexed(const Graph& graph) {
  const auto is_part = [](const Value& value) { return value.part.has_value(); };
  if (std::any_of(graph.values.begin(), graph.values.end(), is_part)) return graph;
  Graph result = graph;
  result.ops = {};
  // Values of places go, those behind them move up.
  IdVector<ValueId, ValueId> moved(graph.values.size());
  IdVector<ValueId, ValueId> ids_of(graph.values.size());  // of places
  for (const Op& op : graph.ops)
    if (op.kind == "first_occurrences") ids_of[op.outputs[0]] = op.inputs[0];
  result.values = {};
  for (const ValueId v : ids<ValueId>(graph.values.size()))
    if (!ids_of[v].valid()) moved[v] = result.values.push_back(graph.values[v]);
  for (Value& value : result.values) {
    if (value.alias_of.valid()) value.alias_of = moved[value.alias_of];
    if (!value.rows) continue;
    value = at_home(value);
    value.paged = false;
  }
  for (const Op& from : graph.ops) {
    if (from.kind == "first_occurrences") continue;
    Op op = from;
    const auto move = [&](ValueId& v) { v = moved[ids_of[v].valid() ? ids_of[v] : v]; };
    for (auto* list : {&op.inputs, &op.outputs, &op.updates}) std::for_each(list->begin(), list->end(), move);
    for (const ValueId v : op.outputs) result.values[v].producer = result.ops.next_id();
    if (op.kind == "sgd_update") {  // of a gradient that took its shape from the rows
      const Value& table = result.values[op.inputs[0]];
      Value& gradient = result.values[op.inputs[1]];
      const Value& rows = graph.values[from.inputs[0]];
      if (rows.rows) {
        gradient.shape = table.shape;
        gradient.bytes = table.bytes;
        gradient.name.resize(gradient.name.size() - fmt::format("[{}]", rows.rows->indices).size());
      }
    }
    result.ops.push_back(std::move(op));
  }
  return verified(std::move(result));
}

}  // namespace poet
