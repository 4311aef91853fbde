#include "poet/graph/parts.h"

#include <fmt/format.h>

#include <unordered_map>

namespace poet {

Value at_home(const Value& value) {
  if (!value.rows) return value;
  Value home = value;
  home.rows.reset();
  home.part.reset();
  home.name = value.rows->table;
  home.shape[0] = value.rows->of;
  home.bytes = byte_count(home.shape, home.dtype);
  if (value.part && value.part->shape[1] != value.shape[1]) {
    const std::int64_t begin = value.part->begin[1];
    home.name += fmt::format("[:,{}:{}]", begin, begin + value.shape[1]);
    home.part = Part{value.rows->table, {value.rows->of, value.part->shape[1]}, {0, begin}};
  }
  return home;
}

std::vector<Tensor> persistent_tensors(const Graph& graph) {
  std::vector<Tensor> all;
  std::unordered_map<std::string, std::size_t> places;  // of tensors in parts
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& stored = graph.values[v];
    if (!is_persistent(stored.persistence) || stored.alias_of.valid() || !stands_for_home(stored)) continue;
    const Value value = at_home(stored);
    if (value.part) {
      const auto [place, is_new] = places.emplace(value.part->tensor, all.size());
      if (!is_new) {
        all[place->second].values.push_back(v);
        continue;
      }
    }
    all.push_back({tensor_name(value), value.dtype, tensor_shape(value), shape_in_file(value), {v}});
  }
  return all;
}

std::vector<IndexedTable> indexed_tables(const Graph& graph) {
  std::vector<IndexedTable> tables;
  std::unordered_map<std::string, std::size_t> places;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (!value.rows) continue;
    const auto [place, is_new] = places.emplace(value.rows->table, tables.size());
    if (is_new) {
      const Shape& shape = tensor_shape(value);
      tables.push_back({.name = value.rows->table,
                        .indices = value.rows->indices,
                        .bytes = byte_count({value.rows->of, shape[1]}, value.dtype),
                        .rows = value.rows->of,
                        .named = shape[0],
                        .row = byte_count({shape[1]}, value.dtype),
                        .values = {}});
    }
    tables[place->second].values.push_back(v);
  }
  for (const Op& op : graph.ops)
    for (const ValueId v : op.updates)
      if (const auto& rows = graph.values[v].rows) tables[places.at(rows->table)].updated = true;
  return tables;
}

}  // namespace poet
