// Instances in another order: what is allowed, and that the op keeps everything that is its own.

#include "poet/cost/reorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "poet/cost/instance_json.h"
#include "poet/graph/precedence.h"
#include "tests/support/input_error.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_layered_graph.h"
#include "tests/support/small_graphs.h"

namespace poet {
namespace {

using test::add_alias;
using test::add_node;
using test::add_output;
using test::add_persistent;
using test::add_update;
using ::testing::HasSubstr;

using Ops = std::vector<OpId>;

Ops order_of(const std::vector<int>& indices) {
  Ops order;
  for (const int i : indices) order.emplace_back(i);
  return order;
}

/// Op i takes i + 1 seconds, i + 2 joules and i + 3 bytes.
Instance with_costs(Graph graph) {
  Instance instance;
  for (const OpId op : ids<OpId>(graph.ops.size()))
    instance.costs.ops.push_back({Seconds(op.index + 1.0), Joules(op.index + 2.0), Bytes(op.index + 3)});
  for (const Value& value : graph.values) {
    ValueCost cost;
    if (!value.alias_of.valid()) cost.bytes = value.bytes;
    instance.costs.values.push_back(cost);
    if (is_resident(value)) instance.costs.persistent += cost.bytes;
  }
  instance.graph = std::move(graph);
  verify(instance);
  return instance;
}

/// x -> a, b; c reads b, a, b.
Instance diamond() {
  Graph graph;
  const ValueId x = add_node(graph, "x", {});
  const ValueId a = add_node(graph, "a", {x}, 8);
  const ValueId b = add_node(graph, "b", {x}, 16);
  add_node(graph, "c", {b, a, b});
  return with_costs(std::move(graph));
}

/// y and z read w, z through a view; the last op updates it and reads z alone.
Graph updated_weight() {
  Graph graph;
  const ValueId w = add_persistent(graph, "w");
  const ValueId view = add_alias(graph, "w.view", w);
  add_node(graph, "y", {w});                       // op 0
  const ValueId z = add_node(graph, "z", {view});  // op 1
  add_update(graph, "update", {w, z}, {view});     // op 2
  return graph;
}

TEST(Precedence, IsWhatAnOpReadsAndWhoReadsWhatItUpdates) {
  const Graph graph = updated_weight();
  const IdVector<OpId, Ops> before = predecessors(graph);
  EXPECT_EQ(before[OpId(0)], Ops{});
  EXPECT_EQ(before[OpId(1)], Ops{});
  EXPECT_EQ(before[OpId(2)], order_of({0, 1}));
}

TEST(Precedence, NamesAnOpOnceHoweverOftenItIsRead) {
  const IdVector<OpId, Ops> before = predecessors(diamond().graph);
  EXPECT_EQ(before[OpId(3)], order_of({1, 2}));
}

TEST(Precedence, KeepsUpdatesBehindReaders) {
  Graph graph = updated_weight();
  for (const bool paged : {false, true}) {
    graph.values[ValueId(0)].paged = paged;
    EXPECT_TRUE(respects(graph, order_of({0, 1, 2})));
    EXPECT_TRUE(respects(graph, order_of({1, 0, 2})));
    EXPECT_FALSE(respects(graph, order_of({1, 2, 0})));  // y would read the new weight
    EXPECT_FALSE(respects(graph, order_of({0, 2, 1})));  // and z through its view
  }
}

TEST(Precedence, WantsEveryOpOnce) {
  const Graph graph = diamond().graph;
  EXPECT_TRUE(respects(graph, order_of({0, 2, 1, 3})));
  EXPECT_FALSE(respects(graph, order_of({0, 1, 2})));
  EXPECT_FALSE(respects(graph, order_of({0, 1, 2, 3, 3})));
  EXPECT_FALSE(respects(graph, order_of({0, 1, 1, 2})));
  EXPECT_FALSE(respects(graph, order_of({0, 1, 2, 4})));
  EXPECT_FALSE(respects(graph, order_of({0, 1, 2, -1})));
  EXPECT_FALSE(respects(graph, order_of({0, 1, 3, 2})));
  EXPECT_TRUE(respects(Graph(), {}));
}

TEST(Reordered, OpsTakeWhatIsTheirsAlong) {
  const Instance given = diamond();
  const Instance instance = reordered(given, order_of({0, 2, 1, 3}));
  verify(instance);
  EXPECT_EQ(instance.graph.ops[OpId(1)].name, "b");
  EXPECT_EQ(instance.graph.ops[OpId(2)].name, "a");
  EXPECT_EQ(instance.costs.ops[OpId(1)].runtime, Seconds(3));
  EXPECT_EQ(instance.costs.ops[OpId(1)].energy, Joules(4));
  EXPECT_EQ(instance.costs.ops[OpId(1)].workspace, Bytes(5));
  // Values stay; they know their ops by the new numbers.
  EXPECT_EQ(instance.graph.values[ValueId(1)].name, "a");
  EXPECT_EQ(instance.graph.values[ValueId(1)].producer, OpId(2));
  EXPECT_EQ(instance.costs.values[ValueId(1)].bytes, Bytes(8));
  const std::vector<ValueId> operands = {ValueId(2), ValueId(1), ValueId(2)};
  EXPECT_EQ(instance.graph.ops[OpId(3)].inputs, operands);
}

TEST(Reordered, BackAgainIsTheSame) {
  const Instance given = diamond();
  const Ops swapped = order_of({0, 2, 1, 3});
  EXPECT_EQ(to_json(reordered(reordered(given, swapped), swapped)), to_json(given));
  EXPECT_EQ(to_json(reordered(given, order_of({0, 1, 2, 3}))), to_json(given));
}

TEST(Reordered, FilesHoldItWhateverTheFormOfTheGivenOne) {
  test::RandomLayeredGraphOptions options;
  options.ops = 12;
  const Instance given = test::random_layered_graph(1, options);
  ASSERT_TRUE(to_json(given).contains("nodes"));
  Ops order;
  for (const OpId op : ids<OpId>(given.graph.ops.size())) order.push_back(op);
  for (std::size_t i = 1; i < order.size(); ++i) {  // the first swap that is allowed
    std::swap(order[i - 1], order[i]);
    if (respects(given.graph, order)) break;
    std::swap(order[i - 1], order[i]);
  }
  const Instance instance = reordered(given, order);
  const nlohmann::ordered_json json = to_json(instance);
  EXPECT_TRUE(json.contains("ops"));
  EXPECT_EQ(to_json(instance_from_json(json, "reordered")), json);
}

TEST(Reordered, RefusesWhatWouldComputeSomethingElse) {
  const Instance given = with_costs(updated_weight());
  for (const Ops& order : {order_of({0, 2, 1}), order_of({0, 1}), order_of({0, 1, 1}), order_of({0, 1, 7})}) {
    const std::string message = test::input_error([&] { static_cast<void>(reordered(given, order)); });
    EXPECT_THAT(message, HasSubstr("name every op once"));
  }
}

}  // namespace
}  // namespace poet
