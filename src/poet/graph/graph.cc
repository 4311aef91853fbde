#include "poet/graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "poet/base/error.h"

namespace poet {

namespace {

constexpr std::array<std::pair<Pass, const char*>, 3> kPasses = {
    {{Pass::forward, "forward"}, {Pass::backward, "backward"}, {Pass::update, "update"}}};

constexpr std::array<std::pair<Persistence, const char*>, 5> kPersistences = {
    {{Persistence::activation, "activation"},
     {Persistence::input, "input"},
     {Persistence::parameter, "parameter"},
     {Persistence::parameter_gradient, "parameter_gradient"},
     {Persistence::optimizer_state, "optimizer_state"}}};

constexpr std::array<std::pair<DType, const char*>, 5> kDTypes = {{{DType::float32, "float32"},
                                                                   {DType::int32, "int32"},
                                                                   {DType::int64, "int64"},
                                                                   {DType::uint8, "uint8"},
                                                                   {DType::bfloat16, "bfloat16"}}};

template <class Table, class Enum>
const char* name_in(const Table& table, Enum value) {
  for (const auto& entry : table) {
    if (entry.first == value) return entry.second;
  }
  throw InternalError("an enumerator has no name");
}

template <class Table>
auto find_in(const Table& table, const std::string& name, const char* what) {
  std::string known;
  for (const auto& entry : table) {
    if (name == entry.second) return entry.first;
    known += (known.empty() ? "" : ", ") + std::string(entry.second);
  }
  throw InputError(fmt::format("unknown {} '{}': must be one of {}", what, name, known));
}

}  // namespace

std::int64_t element_count(const Shape& shape) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t d) { return d < 0; })) {
    throw InputError(fmt::format("shape ({})", fmt::join(shape, ", ")), "no dimension may be negative");
  }
  // An empty tensor has no elements, however large its other dimensions.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t d : shape) {
    if (__builtin_mul_overflow(count, d, &count)) {
      throw InputError(fmt::format("shape ({})", fmt::join(shape, ", ")),
                       "more elements than 64 bits can count");
    }
  }
  return count;
}

Bytes size_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::int32:
      return Bytes(4);
    case DType::int64:
      return Bytes(8);
    case DType::uint8:
      return Bytes(1);
    case DType::bfloat16:
      return Bytes(2);
  }
  throw InternalError("an element type has no size");
}

Bytes byte_count(const Shape& shape, DType dtype) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(element_count(shape), size_of(dtype).value(), &bytes)) {
    throw InputError(fmt::format("shape ({})", fmt::join(shape, ", ")), "more bytes than 64 bits can count");
  }
  return Bytes(bytes);
}

ValueId storage(const Graph& graph, ValueId v) {
  std::size_t steps = 0;
  while (graph.values[v].alias_of.valid()) {
    v = graph.values[v].alias_of;
    ensure(++steps < graph.values.size(), "storage(): views form no cycle in a verified graph");
  }
  return v;
}

IdVector<ValueId, ValueId> storages(const Graph& graph) {
  const auto place = [&](ValueId v) { return fmt::format("value {} '{}'", v.index, graph.values[v].name); };
  IdVector<ValueId, ValueId> resolved(graph.values.size());
  IdVector<ValueId, std::uint8_t> on_path(graph.values.size(), 0);
  std::vector<ValueId> path;
  for (const ValueId start : ids<ValueId>(graph.values.size())) {
    // Every value is put on a path once: a resolved one ends the walk.
    path.clear();
    ValueId v = start;
    while (!resolved[v].valid()) {
      if (on_path[v] != 0) throw InputError(place(v), "views may not form a cycle");
      on_path[v] = 1;
      path.push_back(v);
      const ValueId base = graph.values[v].alias_of;
      if (!base.valid()) {
        resolved[v] = v;
      } else if (!graph.values.contains(base)) {
        throw InputError(place(v), fmt::format("is a view of value {}, but there are {} values", base.index,
                                               graph.values.size()));
      } else {
        v = base;
      }
    }
    for (const ValueId seen : path) resolved[seen] = resolved[v];
  }
  return resolved;
}

Graph verified(Graph graph) {
  verify(graph);
  return graph;
}

const char* to_string(Pass pass) { return name_in(kPasses, pass); }
const char* to_string(Persistence persistence) { return name_in(kPersistences, persistence); }
const char* to_string(DType dtype) { return name_in(kDTypes, dtype); }

Pass pass_from_string(const std::string& name) { return find_in(kPasses, name, "pass"); }
Persistence persistence_from_string(const std::string& name) {
  return find_in(kPersistences, name, "persistence");
}
DType dtype_from_string(const std::string& name) { return find_in(kDTypes, name, "element type"); }

}  // namespace poet
