// The transfer planner may only shift: what it returns is accepted by the verifier, with the same
// computations and transfers, and is never costlier, slower or larger.

#include "poet/plan/timing/transfers.h"
#include "poet/plan/schedule/linearise.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "poet/optimize/solve.h"
#include "poet/plan/canonical.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/timing/timeline.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"
#include "tests/support/steps_counted.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::Rng;

std::vector<OpId> computations(const Plan& plan) {
  std::vector<OpId> ops;
  for (const Step& step : plan.steps)
    if (step.kind == StepKind::compute) ops.push_back(step.op);
  return ops;
}

TEST(PlanTransfers, OnlyShifts) {
  int paging = 0;
  int shifted = 0;
  int better = 0;
  for (int i = 0; i < test::effort(400, 5); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", i));
    Rng rng(static_cast<std::uint64_t>(i) + 1);
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 6, 14);
    options.in_place = test::chance(rng, 0.5);
    options.multi_output = test::chance(rng, 0.4);
    options.updates = test::chance(rng, 0.3);
    options.views = test::chance(rng, 0.2);
    options.storage = true;
    options.device = true;
    Instance instance = test::random_instance(rng, options);
    instance.costs.timing.concurrent = i % 5 != 0;
    // Slow page-ins want to start before the RAM is there, or before their value has left it.
    const double slow = test::pick(rng, 1, 6);
    for (ValueCost& cost : instance.costs.values) cost.page_in.seconds = slow * cost.page_in.seconds;
    const Report all = replay_keep_all(instance, Semantics::device);
    Limits limits;
    limits.ram_budget = Bytes(all.peak_ram.value() * test::pick(rng, 60, 99) / 100);
    SolveOptions quick;
    quick.time_limit_seconds = 0.1;
    quick.rematerialization = i % 4 == 0;  // else they page
    const Outcome outcome = solve({instance, limits, Semantics::device}, quick);
    if (outcome.schedule.stages.empty()) continue;
    const Plan before = linearise(instance, outcome.schedule, Semantics::device);
    // With room to spare a page-in may start as early as its value is on storage and out of RAM.
    if (i % 2 == 1) limits.ram_budget = 3 * all.peak_ram;
    const Plan after = plan_transfers(instance, before, Semantics::device, limits);
    const Report old_report = replay(instance, before, Semantics::device, limits);
    const Report report = replay(instance, after, Semantics::device, limits);
    ASSERT_TRUE(old_report.valid) << old_report.violation;
    EXPECT_TRUE(report.valid) << report.violation;
    EXPECT_EQ(test::steps_counted(before), test::steps_counted(after));
    EXPECT_EQ(computations(before), computations(after));
    EXPECT_LE(report.energy.value(), old_report.energy.value() * (1 + 1e-9));
    EXPECT_LE(report.runtime.value(), old_report.runtime.value() * (1 + 1e-9));
    const Timeline line = timeline_of(instance, after);
    EXPECT_NEAR(line.makespan, report.runtime.value(), 1e-9 * (1 + line.makespan));
    EXPECT_NEAR(line.stalled, report.stalled.value(), 1e-9 * (1 + line.makespan));
    EXPECT_EQ(line.peak + instance.costs.persistent, report.peak_ram);
    paging += report.page_outs > 0;
    shifted += !(after.steps == before.steps);
    better += report.energy.value() < old_report.energy.value() * (1 - 1e-9);
    const Layout layout = place(instance, after, Semantics::device);
    Limits room;
    room.ram_budget = instance.costs.persistent + layout.arena;
    const ArenaReport arena = replay_layout(instance, after, layout, Semantics::device, room);
    EXPECT_TRUE(arena.valid) << arena.violation;
    EXPECT_LE(layout.lower_bound, layout.arena);
    if (HasFailure()) return;
  }
  EXPECT_GT(shifted, test::enough(20, 5));
  EXPECT_GT(better, 0);
  fmt::print("{} plans page, {} shifted, {} cheaper\n", paging, shifted, better);
}

// a; b reads a; c, d; e reads a and d: a is away while c and d run. Its page-in stands right before its use,
// where compute waits for it: one second, though the channel is at rest while d runs.
TEST(PlanTransfers, MovesPageInsOutOfTheSlotOfTheirUse) {
  Graph graph;
  const ValueId a = test::add_node(graph, "a", {}, 10);
  const ValueId b = test::add_node(graph, "b", {a}, 1);
  const ValueId c = test::add_node(graph, "c", {b}, 1);
  const ValueId d = test::add_node(graph, "d", {c}, 1);
  test::add_node(graph, "e", {a, d}, 1);
  const Instance instance = test::instance_of(std::move(graph));
  const auto step = [](StepKind kind, int v) { return Step{kind, OpId(), ValueId(v)}; };
  const auto compute = [](int op) { return Step{StepKind::compute, OpId(op), ValueId()}; };
  const Plan plan =
      canonicalize(instance,
                   {{compute(0), step(StepKind::page_out, 0), compute(1), step(StepKind::wait, 0), compute(2),
                     compute(3), step(StepKind::page_in, 0), compute(4)}},
                   Semantics::device);
  const Report before = replay(instance, plan, Semantics::device, test::ram(100));
  ASSERT_EQ(before.violation, "");
  EXPECT_DOUBLE_EQ(before.runtime.value(), 6);
  const Plan planned = plan_transfers(instance, plan, Semantics::device, test::ram(100));
  const Report report = replay(instance, planned, Semantics::device, test::ram(100));
  ASSERT_EQ(report.violation, "");
  EXPECT_DOUBLE_EQ(report.runtime.value(), 5);
  EXPECT_EQ(report.stalled.value(), 0);
}

// Whose order a slot between two computations does not tell: two allocations of a value in one.
TEST(PlanTransfers, LeavesPageInsInVainAlone) {
  const auto step = [](StepKind kind, int v) { return Step{kind, OpId(), ValueId(v)}; };
  const auto compute = [](int op) { return Step{StepKind::compute, OpId(op), ValueId()}; };
  for (const bool concurrent : {true, false}) {
    Instance chain = test::chain();
    chain.costs.timing.concurrent = concurrent;
    const Plan plan = canonicalize(
        chain,
        {{compute(0), step(StepKind::page_out, 0), step(StepKind::free, 0), step(StepKind::page_in, 0),
          step(StepKind::free, 0), compute(0), compute(1), compute(2), compute(3)}},
        Semantics::device);
    ASSERT_EQ(replay(chain, plan, Semantics::device, test::ram(1000)).violation, "");
    const Plan planned = plan_transfers(chain, plan, Semantics::device, test::ram(1000));
    EXPECT_EQ(replay(chain, planned, Semantics::device, test::ram(1000)).violation, "");
    EXPECT_EQ(planned.steps, plan.steps);
  }
}

}  // namespace
}  // namespace poet
