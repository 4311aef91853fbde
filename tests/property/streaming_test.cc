// Plans of streaming passes: the verifier takes them with the energy that the pass counted, also where all
// have addresses; and what little RAM there may be, one op's needs are enough where values may be paged.

#include "poet/optimize/heuristic/streaming_search.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>

#include "poet/optimize/explain.h"
#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/search/prefetch_in_place.h"
#include "poet/optimize/search/streamed_plan.h"
#include "poet/plan/canonical.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/plan/schedule/stages_of.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

using test::chance;
using test::pick;
using test::Rng;

struct StreamedCase {
  Instance instance;
  Limits limits;
};

StreamedCase scarce_case(int seed) {
  Rng rng(static_cast<std::uint64_t>(seed));
  test::RandomInstanceOptions options;
  options.ops = pick(rng, 6, 60);
  options.multi_output = chance(rng, 0.3);
  options.updates = chance(rng, 0.3);
  options.views = chance(rng, 0.3);
  options.inputs = chance(rng, 0.5);
  options.device = true;
  StreamedCase c{test::random_instance(rng, options), {}};
  const std::int64_t floor =
      ram_floor(make_problem({c.instance, {}, Semantics::device}, {})).floor_ram->value();
  const std::int64_t most = replay_keep_all(c.instance, Semantics::device).peak_ram.value();
  c.limits.ram_budget = Bytes(floor + (most - floor) * pick(rng, 0, 60) / 100);
  return c;
}

/// The best of so many passes that know where values lie; nothing where they do not fit.
std::optional<PlacedPlan> placed_plan(const StreamedCase& c, int passes) {
  const Problem problem = make_problem({c.instance, c.limits, Semantics::device}, {});
  StreamingSearch search(problem, c.instance.costs.alignment.value());
  for (int pass = 0; pass < passes; ++pass) search.improve([] { return false; });
  if (!search.best()) return std::nullopt;
  PlacedPlan placed;
  placed.plan = plan_in_place(c.instance, *search.best());
  placed.layout = layout_of(c.instance, placed.plan, search.best()->addresses);
  return placed;
}

TEST(Streaming, PlansHoldAtTheEnergyOfThePass) {
  int plans = 0, recomputing = 0;
  const auto never = [] { return false; };
  for (int seed = 1; seed <= test::effort(1'000); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const StreamedCase c = scarce_case(seed);
    const Problem problem = make_problem({c.instance, c.limits, Semantics::device}, {});
    StreamingSearch search(problem);
    for (int round = 0; round < 10; ++round) search.improve(never);
    ASSERT_TRUE(search.best().has_value());
    const Plan plan = canonicalize(c.instance, search.best()->plan, Semantics::device);
    const Report report = replay(c.instance, plan, Semantics::device, c.limits);
    ASSERT_TRUE(report.valid) << report.violation;
    EXPECT_EQ(report.bytes_written.value(), search.best()->bytes_written);
    const double waiting = problem.idle_watts * (report.runtime.value() - search.best()->seconds);
    const double waking = report.energy.value() - search.best()->joules - waiting;
    EXPECT_GE(waking, -1e-9);
    EXPECT_LE(waking, problem.wake_joules * (report.page_ins + report.page_outs) + 1e-9);
    ++plans;
    recomputing += report.recomputations > 0;
  }
  EXPECT_EQ(plans, test::effort(1'000));
  EXPECT_GT(recomputing, test::enough(300));
}

TEST(Streaming, AddressesHold) {
  int plans = 0;
  for (int seed = 1; seed <= test::effort(1'000); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const StreamedCase c = scarce_case(seed);
    const std::optional<PlacedPlan> placed = placed_plan(c, 10);
    if (!placed) continue;
    const Report report = replay(c.instance, placed->plan, Semantics::device, c.limits);
    ASSERT_TRUE(report.valid) << report.violation;
    const ArenaReport arena =
        replay_layout(c.instance, placed->plan, placed->layout, Semantics::device, c.limits);
    ASSERT_TRUE(arena.valid) << arena.violation;
    EXPECT_EQ(arena.arena, placed->layout.arena);
    EXPECT_LE(placed->layout.lower_bound, place(c.instance, placed->plan, Semantics::device).arena);
    ++plans;
  }
  EXPECT_GT(plans, test::enough(900));
}

TEST(Streaming, PageInsComeEarlierAtTheirAddresses) {
  int sooner = 0;
  for (int seed = 1; seed <= test::effort(1'000); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const StreamedCase c = scarce_case(seed);
    const std::optional<PlacedPlan> late = placed_plan(c, 4);
    if (!late) continue;
    const Report before = replay(c.instance, late->plan, Semantics::device, c.limits);
    const PlacedPlan early = prefetched_in_place(c.instance, *late);
    const Report report = replay(c.instance, early.plan, Semantics::device, c.limits);
    ASSERT_TRUE(report.valid) << report.violation;
    const ArenaReport arena =
        replay_layout(c.instance, early.plan, early.layout, Semantics::device, c.limits);
    ASSERT_TRUE(arena.valid) << arena.violation;
    EXPECT_EQ(arena.arena, late->layout.arena);
    EXPECT_NEAR(early.energy.value(), report.energy.value(), 1e-9 * report.energy.value());
    EXPECT_LE(report.energy, before.energy);
    EXPECT_EQ(report.page_ins, before.page_ins);
    EXPECT_EQ(report.page_outs, before.page_outs);
    sooner += report.energy < before.energy;
  }
  EXPECT_GT(sooner, test::enough(100));
}

// What a staged schedule says comes back from its steps.
TEST(StagesOf, UndoesLinearise) {
  int paged = 0;
  for (int seed = 1; seed <= test::effort(300); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const StreamedCase c = scarce_case(seed);
    Problem problem = make_problem({c.instance, c.limits, Semantics::published}, {});
    const auto found = greedy(problem, [] { return false; });
    if (!found) continue;
    const Schedule schedule = to_schedule(problem, c.instance, *found);
    const Decisions decided = decisions_of(schedule);
    EXPECT_EQ(decided.recompute, found->decisions.recompute);
    EXPECT_EQ(decided.page_in, found->decisions.page_in);
    EXPECT_EQ(decided.page_out, found->decisions.page_out);
    const Schedule again = stages_of(c.instance, linearise(c.instance, schedule, Semantics::published));
    ASSERT_EQ(schedule.stages.size(), again.stages.size());
    for (std::size_t t = 0; t < schedule.stages.size(); ++t) {
      EXPECT_EQ(schedule.stages[t].compute, again.stages[t].compute) << t;
      EXPECT_EQ(schedule.stages[t].page_in, again.stages[t].page_in) << t;
      EXPECT_EQ(schedule.stages[t].page_out, again.stages[t].page_out) << t;
      EXPECT_EQ(schedule.stages[t].retain, again.stages[t].retain) << t;
      paged += static_cast<int>(schedule.stages[t].page_in.size());
    }
  }
  EXPECT_GT(paged, test::enough(300));
}

}  // namespace
}  // namespace poet
