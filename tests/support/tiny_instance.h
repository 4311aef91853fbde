#pragma once

// Instances and schedules small enough to work out by hand.

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/schedule/schedule.h"
#include "tests/support/small_graphs.h"

namespace poet::test {

/// Every op takes 1 s and 2 J; a page-out 1 s and 3 J, a page-in 1 s and 4 J; values take the bytes of the
/// graph.
inline Instance instance_of(Graph graph) {
  Instance instance;
  instance.costs.ops = IdVector<OpId, OpCost>(graph.ops.size(), OpCost{Seconds(1), Joules(2), Bytes(0)});
  for (const Value& value : graph.values) {
    ValueCost cost;
    cost.page_out = {Seconds(1), Joules(3)};
    cost.page_in = {Seconds(1), Joules(4)};
    if (is_persistent(value.persistence)) {
      if (!value.alias_of.valid()) instance.costs.persistent += value.bytes;
    } else if (!value.alias_of.valid()) {
      cost.bytes = value.bytes;
    }
    instance.costs.values.push_back(cost);
  }
  instance.graph = std::move(graph);
  verify(instance);
  return instance;
}

/// Four ops named like their only values: a (10 B); b (20 B) reads a; c (5 B) reads b; d (1 B) reads a and c.
inline Instance chain() {
  Graph graph;
  const ValueId a = add_node(graph, "a", {}, 10);
  const ValueId b = add_node(graph, "b", {a}, 20);
  const ValueId c = add_node(graph, "c", {b}, 5);
  add_node(graph, "d", {a, c}, 1);
  return instance_of(std::move(graph));
}

/// w (10 B), which lives on storage, is read by a (10 B), by b (20 B), which reads a, and by its update u,
/// which reads b. A load takes 1 s and 2.5 J, the way home 1 s and 5 J.
inline Instance weight_at_home() {
  Graph graph;
  const ValueId w = add_persistent(graph, "w", 10);
  const ValueId a = add_node(graph, "a", {w}, 10);
  const ValueId b = add_node(graph, "b", {a, w}, 20);
  add_update(graph, "u", {w, b}, {w});
  Instance instance = instance_of(std::move(graph));
  instance.costs.values[w] = {Bytes(10), {Seconds(1), Joules(5)}, {Seconds(1), Joules(2.5)}};
  return with_paged(std::move(instance), {w});
}

/// Keeping everything, at most 17 bytes are alive at one time, but no 17 bytes have an address for all: one
/// of 80,000 random graphs (plan/arena proves 18 to be the least).
inline Instance with_a_gap() {
  const std::vector<std::pair<int, std::vector<int>>> ops = {
      {4, {}}, {4, {}}, {3, {0}},    {2, {}},        {2, {1}},    {2, {0, 3}},
      {3, {}}, {3, {}}, {2, {1, 5}}, {3, {2, 4, 8}}, {3, {1, 2}}, {1, {1, 6, 9}}};
  Graph graph;
  for (const auto& [bytes, reads] : ops) {
    std::vector<ValueId> inputs;
    for (const int read : reads) inputs.emplace_back(read);
    add_node(graph, "v" + std::to_string(graph.ops.size()), inputs, bytes);
  }
  return instance_of(std::move(graph));
}

template <class IdType>
std::vector<IdType> id_list(std::initializer_list<int> indices) {
  std::vector<IdType> list;
  for (const int index : indices) list.emplace_back(static_cast<std::int32_t>(index));
  return list;
}

inline Stage stage(std::initializer_list<int> retain, std::initializer_list<int> page_in,
                   std::initializer_list<int> page_out, std::initializer_list<int> compute) {
  return {id_list<ValueId>(retain), id_list<ValueId>(page_in), id_list<ValueId>(page_out),
          id_list<OpId>(compute)};
}

/// chain(): a is dropped after b has read it and recomputed for d.
inline Schedule chain_recomputing() {
  return {
      {stage({}, {}, {}, {0}), stage({0}, {}, {}, {1}), stage({1}, {}, {}, {2}), stage({2}, {}, {}, {0, 3})}};
}

/// chain(): a is paged out while b is computed, and in while c is.
inline Schedule chain_paging() {
  return {{stage({}, {}, {}, {0}), stage({0}, {}, {0}, {1}), stage({1}, {0}, {}, {2}),
           stage({0, 2}, {}, {}, {3})}};
}

inline Limits ram(std::int64_t bytes) {
  Limits limits;
  limits.ram_budget = Bytes(bytes);
  return limits;
}

}  // namespace poet::test
