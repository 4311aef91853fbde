// Chen et al.'s checkpoints on chains whose segments can be counted by hand.

#include "poet/baselines/chen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poet/baselines/segments.h"
#include "poet/baselines/split_points.h"
#include "poet/verify/replay.h"
#include "tests/support/unit_chain.h"

namespace poet {
namespace {

using test::add_node;
using test::unit_chain;
using ::testing::ElementsAre;

std::vector<int> indices(const std::vector<OpId>& ops) {
  std::vector<int> list;
  for (const OpId op : ops) list.push_back(op.index);
  return list;
}

MethodRequest unlimited(const Instance& instance) {
  return {instance, no_limits(), Semantics::published, {}};
}

Report report_of(const Instance& instance, const Plan& plan) {
  return replay(instance, plan, Semantics::published, no_limits());
}

TEST(SplitPoints, EveryStepOfAChain) {
  const Instance instance = unit_chain(4);
  const Dataflow flow = dataflow(instance.graph);
  EXPECT_EQ(forward_ops(instance.graph), 5);
  // The input cannot be recomputed. After f4 nothing of the forward pass follows: no cut.
  EXPECT_THAT(indices(articulation_points(instance.graph, flow)), ElementsAre(1, 2, 3));
  EXPECT_THAT(indices(recomputable_forward_ops(instance.graph, flow)), ElementsAre(1, 2, 3, 4));
}

TEST(SplitPoints, NotInsideABranch) {
  // a -> b -> d, a -> c -> d -> e; then one backward op.
  Graph graph;
  const ValueId a = add_node(graph, "a", {}, 1);
  const ValueId b = add_node(graph, "b", {a}, 1);
  const ValueId c = add_node(graph, "c", {a}, 1);
  const ValueId d = add_node(graph, "d", {b, c}, 1);
  const ValueId e = add_node(graph, "e", {d}, 1);
  const ValueId back = add_node(graph, "back", {e, a, b, c, d}, 1);
  graph.ops[graph.values[back].producer].pass = Pass::backward;
  const Dataflow flow = dataflow(graph);
  EXPECT_THAT(indices(articulation_points(graph, flow)), ElementsAre(0, 3));
}

TEST(ChenSqrt, EveryRootNthCandidate) {
  std::vector<OpId> candidates;
  for (int i = 0; i < 10; ++i) candidates.emplace_back(i);
  // floor(sqrt(10)) = 3.
  EXPECT_THAT(indices(sqrt_split(candidates)), ElementsAre(2, 5, 8));
  EXPECT_THAT(sqrt_split({}), ElementsAre());
}

TEST(ChenSqrt, RamOfAChainGrowsWithTheRoot) {
  const Instance instance = unit_chain(100);
  const MethodAnswer answer = chen_sqrt(unlimited(instance));
  ASSERT_EQ(answer.plans.size(), 2U);
  // Linearised: f10, f20, ... f100 are checkpoints. The last segment that the backward pass needs, f91 to
  // f99, is kept; the nine before it are recomputed once, nine steps each.
  const Report report = report_of(instance, answer.plans[1]);
  ASSERT_TRUE(report.valid) << report.violation;
  EXPECT_EQ(report.recomputations, 81);
  // f100 is dead once b100 has run, so while it runs: x, f10 to f90, f91 to f99, f100 and b100: 1 + 9 + 9
  // + 2.
  EXPECT_EQ(report.peak_ram, Bytes(21));
  EXPECT_EQ(replay_keep_all(instance, Semantics::published).peak_ram, Bytes(102));
}

TEST(ChenSqrt, KeepsWhatCannotBeRecomputed) {
  Instance instance = unit_chain(9);
  for (const OpId op : ids<OpId>(instance.graph.ops.size())) instance.graph.ops[op].recomputable = false;
  for (const Plan& plan : chen_sqrt(unlimited(instance)).plans) {
    const Report report = report_of(instance, plan);
    EXPECT_TRUE(report.valid) << report.violation;
    EXPECT_EQ(report.recomputations, 0);
  }
}

TEST(ChenGreedy, CutsWhereTheSegmentPassesTheBound) {
  // Forward sizes 4, 1, 1, 6, 2, 1; all are candidates. b = 5.
  Graph graph;
  std::vector<ValueId> values;
  for (const int bytes : {4, 1, 1, 6, 2, 1}) {
    const std::string name = "f" + std::to_string(values.size());
    values.push_back(values.empty() ? add_node(graph, name, {}, bytes)
                                    : add_node(graph, name, {values.back()}, bytes));
  }
  const ValueId back = add_node(graph, "back", values, 1);
  graph.ops[graph.values[back].producer].pass = Pass::backward;
  const Instance instance = test::instance_of(std::move(graph));
  const Dataflow flow = dataflow(instance.graph);
  const auto candidates = recomputable_forward_ops(instance.graph, flow);
  const GreedySplit split = greedy_split(instance, candidates, 5);
  // 4, 5, then 6 > 5: cut at f2 (segment 6, keeps 1); then 6 > 5: cut at f3 (keeps 6); 2, 3 remain.
  EXPECT_THAT(indices(split.checkpoints), ElementsAre(2, 3));
  EXPECT_EQ(split.kept, 7);
  EXPECT_EQ(split.segment, 6);
  // b = 0: every candidate. x = 15, y = 6.
  const GreedySplit all = greedy_split(instance, candidates, 0);
  EXPECT_EQ(all.checkpoints.size(), 6U);
  EXPECT_EQ(all.kept, 15);
  EXPECT_EQ(all.segment, 6);
}

TEST(ChenGreedy, CoversTheRangeFromLittleRamToNoRecomputation) {
  const Instance instance = unit_chain(64);
  Bytes least = Bytes(1000);
  int fewest = 1000;
  for (const Plan& plan : chen_greedy(unlimited(instance)).plans) {
    const Report report = report_of(instance, plan);
    ASSERT_TRUE(report.valid) << report.violation;
    least = std::min(least, report.peak_ram);
    fewest = std::min(fewest, report.recomputations);
  }
  EXPECT_LE(least, Bytes(2 * 8 + 4));  // 2 sqrt(n), and what an op needs
  EXPECT_EQ(fewest, 0);
}

}  // namespace
}  // namespace poet
