// Allocations, in-place results and the verifier on addresses, worked out by hand.

#include "poet/plan/layout/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "poet/graph/in_place.h"
#include "poet/plan/schedule/keep_all.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/one_op.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using testing::HasSubstr;

Limits ram(std::int64_t bytes) {
  Limits limits;
  limits.ram_budget = Bytes(bytes);
  return limits;
}

Plan keep_all_plan(const Instance& instance) {
  return linearise(instance, keep_all_schedule(instance.graph), Semantics::device);
}

/// x (8 B) -> y = relu(x) -> z = relu(y), or y + x if `late`.
Instance relus(bool late) {
  Graph graph;
  const ValueId x = test::add_node(graph, "x", {}, 8);
  const ValueId y = test::add_node(graph, "y", {x}, 8);
  const ValueId z =
      test::add_node(graph, "z", late ? std::vector<ValueId>{y, x} : std::vector<ValueId>{y}, 8);
  for (const ValueId v : {x, y, z}) graph.values[v].shape = {2};
  graph.ops[graph.values[y].producer].kind = "relu";
  graph.ops[graph.values[z].producer].kind = late ? "add" : "relu";
  return test::instance_of(std::move(graph));
}

TEST(Allocations, OfAChain) {
  // a; b; c, free b; d, free a, free c: a is read by d.
  const Instance chain = test::chain();
  const Plan plan = keep_all_plan(chain);
  const auto allocations = allocations_of(chain, plan, Semantics::device);
  ASSERT_EQ(allocations.size(), 4U);
  EXPECT_EQ(allocations[0].bytes, Bytes(10));
  EXPECT_EQ(allocations[0].begin, 0);
  const Layout layout = place(chain, plan, Semantics::device);
  // a and b and c are alive together while c runs.
  EXPECT_EQ(layout.lower_bound, Bytes(35));
  EXPECT_EQ(layout.arena, Bytes(35));
  const ArenaReport report = replay_layout(chain, plan, layout, Semantics::device, ram(35));
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_EQ(report.arena, Bytes(35));
  EXPECT_THAT(replay_layout(chain, plan, layout, Semantics::device, ram(34)).violation,
              HasSubstr("over the budget of 34"));
}

TEST(Allocations, AlignmentRoundsEachUp) {
  Instance chain = test::chain();
  chain.costs.alignment = Bytes(16);
  const Plan plan = keep_all_plan(chain);
  const Layout layout = place(chain, plan, Semantics::device);
  EXPECT_EQ(layout.arena, Bytes(16 + 32 + 16));
  EXPECT_TRUE(replay_layout(chain, plan, layout, Semantics::device, ram(64)).valid);
}

TEST(Allocations, LargeArenasAreCountedInLargerUnits) {
  Instance chain = test::chain();
  for (ValueCost& cost : chain.costs.values) cost.bytes = Bytes(cost.bytes.value() * 10'000'001);
  const Plan plan = keep_all_plan(chain);
  PlaceOptions options;
  options.enough = Bytes(350'000'100);
  const Layout layout = place(chain, plan, Semantics::device, options);
  std::int64_t unit = 0;
  for (const Allocation& allocation : layout.allocations) unit = std::gcd(unit, allocation.offset);
  EXPECT_GE(unit, 32);
  EXPECT_LE(layout.arena.value() / unit, 1 << 24);
  EXPECT_EQ(layout.lower_bound, Bytes(350'000'035));  // a, b and c
  EXPECT_LE(layout.arena, layout.lower_bound + Bytes(64));
  EXPECT_TRUE(replay_layout(chain, plan, layout, Semantics::device, ram(350'000'100)).valid);
}

TEST(Allocations, ButNotWhereThatTakesMoreRam) {
  Instance chain = test::chain();
  for (ValueCost& cost : chain.costs.values) cost.bytes = Bytes(cost.bytes.value() * 10'000'001);
  PlaceOptions options;
  options.enough = Bytes(1);
  const Layout layout = place(chain, keep_all_plan(chain), Semantics::device, options);
  EXPECT_EQ(layout.arena, Bytes(350'000'035));
}

/// Values of up to 40 bytes, two of them read by each op.
Instance tangled(unsigned seed) {
  constexpr unsigned kOps = 40;
  std::mt19937 random(seed);
  Graph graph;
  for (unsigned op = 0; op < kOps; ++op) {
    std::vector<ValueId> reads;
    for (int r = 0; r < 2 && op > 0; ++r) reads.emplace_back(static_cast<int>(random() % op));
    test::add_node(graph, "v" + std::to_string(op), reads, 1 + static_cast<int>(random() % 40));
  }
  return test::instance_of(std::move(graph));
}

TEST(Place, TakesMoreEffortWhereThereIsNoRoom) {
  int rescued = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const Instance instance = tangled(seed);
    const Plan plan = keep_all_plan(instance);
    const Bytes least = place(instance, plan, Semantics::staged, {.effort = 3'000'000}).arena;
    for (std::int64_t effort = 1000; effort < 1'000'000; effort *= 2) {
      const PlaceOptions brief{.effort = effort};
      PlaceOptions longer = brief;
      longer.room = least;
      const Layout first = place(instance, plan, Semantics::staged, brief);
      const Layout second = place(instance, plan, Semantics::staged, longer);
      EXPECT_LE(second.arena, first.arena);
      const ArenaReport report = replay_layout(instance, plan, second, Semantics::staged, ram(10'000));
      EXPECT_TRUE(report.valid) << report.violation;
      rescued += first.arena > least && second.arena <= least ? 1 : 0;
      longer.stop = Stop(0);
      EXPECT_GE(place(instance, plan, Semantics::staged, longer).arena, second.arena);
    }
  }
  EXPECT_GT(rescued, 5);
}

TEST(InPlace, AResultTakesOverADyingOperand) {
  const Instance instance = relus(false);
  const Plan plan = keep_all_plan(instance);
  const Layout layout = place(instance, plan, Semantics::device);
  EXPECT_EQ(layout.arena, Bytes(8));
  EXPECT_EQ(layout.lower_bound, Bytes(8));
  EXPECT_EQ(layout.allocations[2].takes_over, 1);
  const ArenaReport report = replay_layout(instance, plan, layout, Semantics::device, ram(8));
  EXPECT_TRUE(report.valid) << report.violation;
}

TEST(InPlace, NotOverWhatIsReadLater) {
  const Instance instance = relus(true);
  const Plan plan = keep_all_plan(instance);
  Layout layout = place(instance, plan, Semantics::device);
  EXPECT_EQ(layout.arena, Bytes(16));  // y beside x, z over y
  EXPECT_TRUE(replay_layout(instance, plan, layout, Semantics::device, ram(16)).valid);
  layout.allocations[1].offset = layout.allocations[0].offset;  // y over x, which z reads
  EXPECT_THAT(replay_layout(instance, plan, layout, Semantics::device, ram(16)).violation,
              HasSubstr("allocation 1 does not say that it takes over 0"));
  layout.allocations[1].takes_over = 0;
  EXPECT_THAT(replay_layout(instance, plan, layout, Semantics::device, ram(16)).violation,
              HasSubstr("x has been overwritten"));
}

TEST(InPlace, NotOverWhatTheChannelIsReading) {
  // y = relu(x) while x is being paged out.
  const Instance instance = relus(false);
  Plan plan = keep_all_plan(instance);
  plan.steps.insert(plan.steps.begin() + 1, {StepKind::page_out, OpId(), ValueId(0)});
  Layout layout = place(instance, plan, Semantics::device);
  EXPECT_EQ(layout.allocations[1].takes_over, -1);
  EXPECT_EQ(layout.arena, Bytes(16));
  EXPECT_TRUE(replay_layout(instance, plan, layout, Semantics::device, ram(16)).valid);
  layout.allocations[1].offset = layout.allocations[0].offset;
  EXPECT_THAT(replay_layout(instance, plan, layout, Semantics::device, ram(16)).violation,
              HasSubstr("overlaps x"));
}

TEST(InPlace, NotOverWhatIsSeenInAnotherWayToo) {
  Graph graph;
  const ValueId x = test::add_node(graph, "x", {}, 16);
  Value transposed;
  transposed.name = "xT";
  transposed.bytes = Bytes(16);
  transposed.shape = {2, 2};
  transposed.strides = {1, 2};
  transposed.alias_of = x;
  const ValueId view(static_cast<std::int32_t>(graph.values.size()));
  graph.values.push_back(transposed);
  const ValueId y = test::add_node(graph, "y", {x, view}, 16);
  graph.values[x].shape = graph.values[y].shape = {2, 2};
  const OpId add = graph.values[y].producer;
  graph.ops[add].kind = "add";
  const Instance instance = test::instance_of(std::move(graph));
  EXPECT_TRUE(overwritable_inputs(instance.graph, instance.graph.ops[add]).empty());
  EXPECT_EQ(place(instance, keep_all_plan(instance), Semantics::device).arena, Bytes(32));
}

TEST(InPlace, OverOperandsThatAreNotStretched) {
  const auto positions = [](const std::string& kind, const std::vector<test::Operand>& inputs,
                            const Shape& to) {
    const Graph graph = test::one_op(kind, inputs, {{to}});
    return overwritable_inputs(graph, graph.ops[test::last_op(graph)]);
  };
  using Positions = std::vector<std::size_t>;
  EXPECT_EQ(positions("mul", {{{2, 3}}, {{2, 3}}}, {2, 3}), (Positions{0, 1}));
  EXPECT_EQ(positions("sub", {{{3}}, {{2, 3}}}, {2, 3}), (Positions{1}));
  EXPECT_EQ(positions("div", {{{2, 1}}, {{1, 3}}}, {2, 3}), (Positions{}));
  EXPECT_EQ(positions("sigmoid", {{{2, 3}}}, {2, 3}), (Positions{0}));
  EXPECT_EQ(positions("div_backward_b", {{{2, 3}}, {{3}}, {{2, 3}}}, {2, 3}), (Positions{0, 2}));
  // A sum over rows reads on after its first result.
  EXPECT_EQ(positions("mul_backward", {{{2, 3}}, {{2, 3}}}, {3}), (Positions{}));
  EXPECT_EQ(positions("reduce_sum", {{{2, 1}}}, {2, 1}), (Positions{}));
}

TEST(VerifierOnAddresses, RejectsWhatOverlaps) {
  const Instance chain = test::chain();
  const Plan plan = keep_all_plan(chain);
  const Layout good = place(chain, plan, Semantics::device);
  const auto violation = [&](const Layout& layout) {
    return replay_layout(chain, plan, layout, Semantics::device, ram(1000)).violation;
  };
  Layout layout = good;
  layout.allocations[1].offset = layout.allocations[0].offset + 9;
  EXPECT_THAT(violation(layout), HasSubstr("overlaps a"));
  layout = good;
  ++layout.allocations[1].end;
  EXPECT_THAT(violation(layout), HasSubstr("allocation 1 ends here, not at step"));
  layout = good;
  layout.allocations[0].offset = -1;
  EXPECT_THAT(violation(layout), HasSubstr("a at -1"));
  layout = good;
  layout.allocations.pop_back();
  EXPECT_THAT(violation(layout), HasSubstr("no allocation for d"));
  layout = good;
  layout.allocations.push_back(layout.allocations.back());
  EXPECT_THAT(violation(layout), HasSubstr("belongs to no step"));
  layout = good;
  layout.allocations[2].bytes = Bytes(4);
  EXPECT_THAT(violation(layout), HasSubstr("is not that of c"));
}

}  // namespace
}  // namespace poet
