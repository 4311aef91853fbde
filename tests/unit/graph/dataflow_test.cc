#include "poet/graph/dataflow.h"

#include <gtest/gtest.h>

#include "tests/support/small_graphs.h"

namespace poet {
namespace {

using test::add_alias;
using test::add_node;
using test::add_op;
using test::add_output;
using test::add_persistent;
using test::add_update;

using Values = std::vector<ValueId>;
using Ops = std::vector<OpId>;

TEST(Dataflow, ResolvesViewsAndLeavesPersistentValuesOut) {
  Graph graph;
  const ValueId w = add_persistent(graph, "w");
  const ValueId x = add_node(graph, "x", {});  // op 0
  const ValueId flat = add_alias(graph, "flat", x);
  const ValueId y = add_node(graph, "y", {flat, x, w, flat});  // op 1 reads the storage of x once
  verify(graph);
  const Dataflow flow = dataflow(graph);
  EXPECT_EQ(flow.reads[OpId(1)], Values{x});
  EXPECT_EQ(flow.writes[OpId(1)], Values{y});
  EXPECT_EQ(flow.users[x], Ops{OpId(1)});
  EXPECT_TRUE(flow.users[flat].empty());
  EXPECT_TRUE(flow.users[w].empty());
  EXPECT_EQ(flow.producer[x], OpId(0));
  EXPECT_FALSE(flow.producer[flat].valid());
  EXPECT_FALSE(flow.producer[w].valid());
  EXPECT_EQ(flow.transients, (Values{x, y}));
}

TEST(Dataflow, SortsReadsWritesAndUsers) {
  Graph graph;
  const ValueId a = add_node(graph, "a", {});  // op 0
  const ValueId b = add_output(graph, "b");
  const ValueId mask = add_output(graph, "mask");
  add_op(graph, "two", {a}, {mask, b});  // op 1
  add_node(graph, "c", {mask, a});       // op 2
  add_node(graph, "d", {b, a});          // op 3
  verify(graph);
  const Dataflow flow = dataflow(graph);
  EXPECT_EQ(flow.writes[OpId(1)], (Values{b, mask}));
  EXPECT_EQ(flow.reads[OpId(2)], (Values{a, mask}));
  EXPECT_EQ(flow.users[a], (Ops{OpId(1), OpId(2), OpId(3)}));
  EXPECT_EQ(flow.users[mask], Ops{OpId(2)});
}

// w is read by y and updated by op 3: the stage of op 3 recomputes before it updates, later stages may not.
TEST(Dataflow, AnUpdateEndsTheRecomputationOfItsReaders) {
  Graph graph;
  const ValueId w = add_persistent(graph, "w");
  const ValueId x = add_node(graph, "x", {});  // op 0
  const ValueId wt = add_alias(graph, "wt", w);
  const ValueId y = add_node(graph, "y", {x, wt});  // op 1, reads w through a view
  const ValueId dw = add_node(graph, "dw", {y});    // op 2
  add_update(graph, "sgd", {w, dw}, {w});           // op 3
  add_node(graph, "z", {y});                        // op 4
  verify(graph);
  const Dataflow flow = dataflow(graph);
  EXPECT_EQ(flow.last_recompute[OpId(0)], OpId(4));
  EXPECT_EQ(flow.last_recompute[OpId(1)], OpId(3));
  EXPECT_EQ(flow.last_recompute[OpId(2)], OpId(4));
  EXPECT_EQ(flow.last_recompute[OpId(3)], OpId(3));
  EXPECT_EQ(flow.last_recompute[OpId(4)], OpId(4));
}

TEST(Dataflow, TheFirstOfSeveralUpdatesCounts) {
  Graph graph;
  const ValueId v = add_persistent(graph, "v");
  const ValueId w = add_persistent(graph, "w");
  const ValueId y = add_node(graph, "y", {v, w});  // op 0
  add_update(graph, "w.sgd", {w, y}, {w});         // op 1
  add_update(graph, "v.sgd", {v, y}, {v});         // op 2
  verify(graph);
  EXPECT_EQ(dataflow(graph).last_recompute[OpId(0)], OpId(1));
}

TEST(Dataflow, RunningStatisticsLimitNobodyElse) {
  Graph graph;
  const ValueId running = add_persistent(graph, "running_mean", 4, Persistence::optimizer_state);
  const ValueId mean = add_node(graph, "mean", {});        // op 0
  add_update(graph, "stats", {mean, running}, {running});  // op 1
  add_node(graph, "z", {mean});                            // op 2
  verify(graph);
  EXPECT_EQ(dataflow(graph).last_recompute[OpId(0)], OpId(2));
}

TEST(Dataflow, WhatCannotBeRecomputedRunsInItsOwnStageOnly) {
  Graph graph;
  const ValueId x = add_output(graph, "x", 4, Persistence::input);
  graph.ops[add_op(graph, "x", {}, {x})].recomputable = false;
  add_node(graph, "y", {x});
  verify(graph);
  EXPECT_EQ(dataflow(graph).last_recompute[OpId(0)], OpId(0));
  EXPECT_EQ(dataflow(graph).transients.size(), 2U);
}

TEST(Dataflow, OfNothingIsNothing) { EXPECT_TRUE(dataflow(Graph{}).transients.empty()); }

}  // namespace
}  // namespace poet
