// Slack for transfers is free: what with_slack() returns is accepted by the verifier, has the same
// computations and transfers, needs no more energy, time and RAM, and where times vary waits less on average.
// And without variation a simulated step is the timeline's.

#include "poet/plan/timing/slack.h"
#include "poet/plan/schedule/linearise.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "poet/compile.h"
#include "poet/optimize/solve.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/timing/overlap.h"
#include "poet/plan/timing/timeline.h"
#include "poet/plan/timing/transfers.h"
#include "poet/plan/timing/variation.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"
#include "tests/support/steps_counted.h"

namespace poet {
namespace {

using test::Rng;

struct Planned {
  Instance instance;
  Limits limits;
  Plan plan;
};

/// A plan that pages, as the main path has it before slack; nothing where none was found.
std::optional<Planned> planned(int seed) {
  Rng rng(static_cast<std::uint64_t>(seed) + 1);
  test::RandomInstanceOptions options;
  options.ops = test::pick(rng, 6, 16);
  options.in_place = test::chance(rng, 0.5);
  options.multi_output = test::chance(rng, 0.4);
  options.updates = test::chance(rng, 0.3);
  options.storage = true;
  options.device = true;
  Planned made{test::random_instance(rng, options), {}, {}};
  made.instance.costs.timing.concurrent = seed % 9 != 0;
  const Report all = replay_keep_all(made.instance, Semantics::device);
  made.limits.ram_budget = Bytes(all.peak_ram.value() * test::pick(rng, 60, 99) / 100);
  SolveOptions quick;
  quick.time_limit_seconds = 0.1;
  quick.rematerialization = seed % 4 == 0;  // else they page
  const Outcome outcome = solve({made.instance, made.limits, Semantics::device}, quick);
  if (outcome.schedule.stages.empty()) return std::nullopt;
  made.plan = plan_transfers(made.instance, linearise(made.instance, outcome.schedule, Semantics::device),
                             Semantics::device, made.limits);
  if (seed % 2 == 1) made.limits.ram_budget = Bytes(all.peak_ram.value() * test::pick(rng, 100, 200) / 100);
  made.instance.costs.timing.variation =
      TimeVariation{1 + test::pick(rng, 0, 10) / 100.0, 1 + test::pick(rng, 0, 50) / 100.0,
                    1 + test::pick(rng, 1, 20) / 10.0, 1 + test::pick(rng, 1, 20) / 10.0};
  return made;
}

TEST(Slack, IsFree) {
  int paging = 0;
  int given = 0;
  double waiting_before = 0;
  double waiting_after = 0;
  double runtime_before = 0;
  double runtime_after = 0;
  for (int i = 0; i < test::effort(400, 5); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", i));
    const std::optional<Planned> made = planned(i);
    if (!made) continue;
    const auto& [instance, limits, plan] = *made;
    const Plan slack = with_slack(instance, plan, limits);
    const Report before = replay(instance, plan, Semantics::device, limits);
    const Report after = replay(instance, slack, Semantics::device, limits);
    ASSERT_TRUE(before.valid) << before.violation;
    ASSERT_TRUE(after.valid) << after.violation;
    EXPECT_EQ(test::steps_counted(plan), test::steps_counted(slack));
    EXPECT_LE(after.energy.value(), before.energy.value() * (1 + 1e-9));
    EXPECT_LE(after.runtime.value(), before.runtime.value() * (1 + 1e-9));
    EXPECT_LE(after.peak_ram, std::max(before.peak_ram, limits.ram_budget));
    paging += before.page_outs > 0;
    if (slack.steps == plan.steps) continue;
    ++given;
    ASSERT_TRUE(instance.costs.timing.concurrent);
    // Other samples than those that it was chosen by.
    const SimulatedSteps was = simulate(instance, plan, kSimulatedSteps, 77);
    const SimulatedSteps is = simulate(instance, slack, kSimulatedSteps, 77);
    const double unit = was.runtime.mean.value();
    EXPECT_LE(is.runtime.mean.value(), unit * 1.005);
    EXPECT_LE(is.stalled.mean.value(), was.stalled.mean.value() + 0.005 * unit);
    waiting_before += was.stalled.mean.value() / unit;
    waiting_after += is.stalled.mean.value() / unit;
    runtime_before += 1;
    runtime_after += is.runtime.mean.value() / unit;
    const Layout layout = place(instance, slack, Semantics::device);
    Limits room;
    room.ram_budget = instance.costs.persistent + layout.arena;
    const ArenaReport arena = replay_layout(instance, slack, layout, Semantics::device, room);
    EXPECT_TRUE(arena.valid) << arena.violation;
    if (HasFailure()) return;
  }
  EXPECT_GT(given, test::enough(20, 5));
  EXPECT_LT(waiting_after, waiting_before);
  EXPECT_LT(runtime_after, runtime_before);
  fmt::print("{} plans page, {} got slack: waiting {:.3f} -> {:.3f} of a step, runtime {:.4f}\n", paging,
             given, waiting_before / given, waiting_after / given, runtime_after / runtime_before);
}

TEST(Slack, WithoutVariationThereIsNone) {
  for (int i = 0; i < test::effort(60, 5); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", i));
    std::optional<Planned> made = planned(i);
    if (!made) continue;
    for (const auto& variation : {std::optional<TimeVariation>(), std::optional(TimeVariation{})}) {
      made->instance.costs.timing.variation = variation;
      const Timeline line = timeline_of(made->instance, made->plan);
      const SimulatedSteps steps = simulate(made->instance, made->plan);
      ASSERT_EQ(steps.runtimes.size(), 1U);
      EXPECT_EQ(steps.runtime.median.value(), line.makespan);
      EXPECT_EQ(steps.stalled.mean.value(), line.stalled);
    }
    made->instance.costs.timing.variation.reset();
    EXPECT_TRUE(with_slack(made->instance, made->plan, made->limits).steps == made->plan.steps);
  }
}

}  // namespace
}  // namespace poet
