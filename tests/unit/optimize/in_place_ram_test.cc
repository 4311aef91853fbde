// Device semantics count a result and the operand that it is written over once: worked out by hand, for
// staged schedules, their plans, plans of one's own, the search and the least RAM. The other semantics count
// both.

#include <gtest/gtest.h>

#include <algorithm>

#include "poet/optimize/explain.h"
#include "poet/optimize/milp/formulation.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/solvers/solver.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/schedule/keep_all.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/plan/timing/timeline.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::stage;

/// Gives the op of one operand or two, all of the result's bytes, a kind that can write over any of them.
void write_in_place(Graph& graph, ValueId result) {
  Op& op = graph.ops[graph.values[result].producer];
  op.kind = op.inputs.size() == 1 ? "logical_not" : "logical_and";
  const auto look_alike = [&](ValueId v) {
    graph.values[v].dtype = DType::uint8;
    graph.values[v].shape = {graph.values[v].bytes.value()};
  };
  look_alike(result);
  for (const ValueId v : op.inputs) look_alike(v);
}

/// a (10 B); b (10 B) can be written over a; c (4 B) reads b; d (1 B) reads c, and a if `again`.
Instance chain(bool again) {
  Graph graph;
  const ValueId a = test::add_node(graph, "a", {}, 10);
  const ValueId b = test::add_node(graph, "b", {a}, 10);
  const ValueId c = test::add_node(graph, "c", {b}, 4);
  test::add_node(graph, "d", again ? std::vector<ValueId>{a, c} : std::vector<ValueId>{c}, 1);
  write_in_place(graph, b);
  return test::instance_of(std::move(graph));
}

/// The report of the schedule, after checking that its plan, and the search's own measurement of both, agree.
Report both(const Instance& instance, const Schedule& schedule, Semantics semantics = Semantics::device) {
  const Report report = replay(instance, schedule, semantics, no_limits());
  const Plan plan = linearise(instance, schedule, semantics);
  const Report again = replay(instance, plan, semantics, no_limits());
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_TRUE(again.valid) << again.violation;
  EXPECT_EQ(again.peak_ram, report.peak_ram);
  EXPECT_EQ(again.runtime, report.runtime);
  const Layout layout = place(instance, plan, semantics);
  EXPECT_TRUE(replay_layout(instance, plan, layout, semantics, test::ram(1000)).valid);
  if (semantics == Semantics::device) {
    EXPECT_EQ(timeline_of(instance, plan).peak, report.peak_ram);
    EXPECT_EQ(layout.arena, report.peak_ram);
  }
  return report;
}

Report device(const Instance& instance, const Plan& plan) {
  const Report report = replay(instance, plan, Semantics::device, no_limits());
  EXPECT_TRUE(report.valid) << report.violation;
  return report;
}

TEST(InPlaceRam, AnOperandThatDiesCountsOnceWithTheResult) {
  // a: 10; a is b: 10; b c: 14; c d: 5.
  const Instance instance = chain(false);
  EXPECT_EQ(both(instance, keep_all_schedule(instance.graph)).peak_ram, Bytes(14));
  for (const Semantics semantics : {Semantics::published, Semantics::staged})
    EXPECT_EQ(both(instance, keep_all_schedule(instance.graph), semantics).peak_ram, Bytes(20));
}

TEST(InPlaceRam, OneThatIsKeptCountsBesideIt) {
  // a b: 20; a b c: 24.
  const Instance instance = chain(true);
  EXPECT_EQ(both(instance, keep_all_schedule(instance.graph)).peak_ram, Bytes(24));
  // Dropped after b and recomputed for d: a is b: 10; b c: 14; c a d: 15.
  const Schedule recomputing{
      {stage({}, {}, {}, {0}), stage({0}, {}, {}, {1}), stage({1}, {}, {}, {2}), stage({2}, {}, {}, {0, 3})}};
  EXPECT_EQ(both(instance, recomputing).peak_ram, Bytes(15));
  // Sent while b is computed: a b: 20.
  const Schedule paging{{stage({}, {}, {}, {0}), stage({0}, {}, {0}, {1}), stage({1}, {0}, {}, {2}),
                         stage({0, 2}, {}, {}, {3})}};
  EXPECT_EQ(both(instance, paging).peak_ram, Bytes(24));  // b c and a, arriving
}

TEST(InPlaceRam, WorkspaceComesOnTop) {
  Instance instance = chain(false);
  instance.costs.ops[OpId(1)].workspace = Bytes(7);
  EXPECT_EQ(replay_keep_all(instance, Semantics::device).peak_ram, Bytes(17));
}

// x; a; b can be written over a; c over b and x, both 10 B. z (1 B) reads c.
TEST(InPlaceRam, OneOperandAtMost) {
  Graph graph;
  const ValueId x = test::add_node(graph, "x", {}, 10);
  const ValueId b = test::add_node(graph, "b", {}, 10);
  const ValueId c = test::add_node(graph, "c", {x, b}, 10);
  test::add_node(graph, "z", {c}, 1);
  write_in_place(graph, c);
  const Instance instance = test::instance_of(std::move(graph));
  EXPECT_EQ(both(instance, keep_all_schedule(instance.graph)).peak_ram, Bytes(20));  // of 30
}

// The channel takes 3 s to send a, which dies with b: b waits, or counts beside it.
TEST(InPlaceRam, WhatIsStillSentHasToHaveLeft) {
  Graph graph;
  const ValueId a = test::add_node(graph, "a", {}, 10);
  test::add_node(graph, "s", {}, 1);
  const ValueId b = test::add_node(graph, "b", {a}, 10);
  const ValueId c = test::add_node(graph, "c", {b}, 1);
  test::add_node(graph, "d", {c}, 1);
  test::add_node(graph, "e", {a, c}, 1);
  write_in_place(graph, b);
  Instance instance = test::instance_of(std::move(graph));
  instance.costs.values[a].page_out.seconds = Seconds(3);
  // a 0-1; out 1-4, s 1-2 (11 B); b waits: 4-5 (10 B, not 20); c 5-6 (11 B); in 6-7, d 6-7 (12 B); e 7-8.
  const Schedule schedule{{stage({}, {}, {}, {0}), stage({0}, {}, {0}, {1}), stage({0}, {}, {}, {2}),
                           stage({2}, {}, {}, {3}), stage({3}, {0}, {}, {4}), stage({0, 3}, {}, {}, {5})}};
  const Report report = both(instance, schedule);
  EXPECT_EQ(report.peak_ram, Bytes(12));
  EXPECT_EQ(report.runtime, Seconds(8));
  EXPECT_EQ(report.stalled, Seconds(2));

  // The same plan with the wait after b: 20 B, and a second earlier.
  const Plan plan = linearise(instance, schedule, Semantics::device);
  const Step wait{StepKind::wait, OpId(), a};
  const Step compute{StepKind::compute, OpId(2), ValueId()};
  Plan later = plan;
  const auto at = std::find(later.steps.begin(), later.steps.end(), wait);
  ASSERT_NE(at, later.steps.end());
  ASSERT_EQ(*(at + 1), compute);
  std::iter_swap(at, at + 1);
  EXPECT_EQ(device(instance, later).peak_ram, Bytes(20));
  EXPECT_EQ(device(instance, later).runtime, Seconds(7));
}

// A free that does not follow at once: the operand is still there when the op has run.
TEST(InPlaceRam, ThePlanHasToGiveTheOperandBackAtOnce) {
  const Instance instance = chain(false);
  const auto compute = [](int op) { return Step{StepKind::compute, OpId(op), ValueId()}; };
  const Step free_a{StepKind::free, OpId(), ValueId(0)};
  const Step free_b{StepKind::free, OpId(), ValueId(1)};
  EXPECT_EQ(device(instance, {{compute(0), compute(1), free_a, compute(2), free_b, compute(3)}}).peak_ram,
            Bytes(14));
  EXPECT_EQ(device(instance, {{compute(0), compute(1), compute(2), free_b, free_a, compute(3)}}).peak_ram,
            Bytes(24));
}

// What the search says of RAM: the least of one op, the least of the tight model, what it measures.
TEST(InPlaceRam, TheSearchCountsIt) {
  const Instance instance = chain(true);
  SolveOptions options;
  const Problem problem = make_problem({instance, test::ram(15), Semantics::device}, options);
  EXPECT_EQ(problem.working_sets, (std::vector<std::int64_t>{10, 10, 14, 15}));
  EXPECT_EQ(ram_floor(problem).floor_ram, Bytes(15));
  EXPECT_EQ(complete(problem, no_decisions(problem)).peak, 24);
  const Problem staged = make_problem({instance, test::ram(15), Semantics::staged}, options);
  EXPECT_EQ(staged.working_sets, (std::vector<std::int64_t>{10, 20, 14, 15}));

  TightOptions least;
  least.objective = Objective::ram;
  for (int stage = 0; stage < problem.ops; ++stage) least.exact_stages.insert(stage);
  const TightModel tight = build_tight(problem, full_columns(problem), least);
  const MipResult mip = solve_mip(tight.model, {});
  ASSERT_FALSE(mip.x.empty());
  EXPECT_NEAR(mip.objective * tight.ram_unit, 15, 1e-6);  // a is dropped after b
}

}  // namespace
}  // namespace poet
