// Plans with synchronous paging: the verifier takes them, they are never worse than what the
// staged schedules have, and where RAM is scarce they are better, or the only ones.

#include "poet/compile.h"
#include "poet/optimize/search/plans_from_scratch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poet/compile/refit_with_reserve.h"
#include "poet/compile/variants/reserve.h"
#include "poet/graph/dataflow.h"
#include "poet/optimize/explain.h"
#include "poet/plan/allowance.h"
#include "poet/plan/timing/timeline.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

using test::pick;
using test::Rng;

struct SynchronousCase {
  Instance instance;
  Limits limits;
};

SynchronousCase scarce(Rng& rng) {
  for (;;) {
    test::RandomInstanceOptions options;
    options.ops = pick(rng, 8, 16);
    options.in_place = test::chance(rng, 0.5);
    options.multi_output = test::chance(rng, 0.3);
    options.updates = test::chance(rng, 0.3);
    options.inputs = test::chance(rng, 0.5);
    options.device = true;
    SynchronousCase c{test::random_instance(rng, options), {}};
    const Report all = replay_keep_all(c.instance, Semantics::device);
    const std::int64_t floor =
        ram_floor(make_problem({c.instance, {}, Semantics::device}, {})).floor_ram->value();
    const std::int64_t range = all.peak_ram.value() - floor;
    if (range <= 4) continue;
    c.limits.ram_budget = Bytes(floor + range * pick(rng, 5, 50) / 100);
    if (test::chance(rng, 0.3)) c.limits.deadline = 1.5 * all.runtime;
    return c;
  }
}

CompileRequest request_of(const SynchronousCase& c) {
  CompileRequest request;
  request.instance = c.instance;
  request.limits = c.limits;
  return request;
}

double energy_of_plan(const SynchronousCase& c, const CompileResult& planned) {
  if (planned.plan.steps.empty()) return 1e300;
  const Report report = replay(c.instance, planned.plan, Semantics::device, c.limits);
  EXPECT_TRUE(report.valid) << report.violation;
  return report.energy.value();
}

TEST(SynchronousPlan, PlansHoldAndAreNeverWorse) {
  int better = 0;
  int only = 0;
  for (int seed = 1; seed <= test::effort(30, 4); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Rng rng(static_cast<std::uint64_t>(seed));
    const SynchronousCase c = scarce(rng);
    CompileRequest request = request_of(c);
    request.options.time_limit_seconds = 1;
    request.addresses = false;
    const CompileResult both = compile(request);
    const double energy = energy_of_plan(c, both);
    request.options.synchronous = false;
    const CompileResult staged = compile(request);
    const double staged_energy = energy_of_plan(c, staged);
    EXPECT_FALSE(staged.synchronous);

    // The first answer good enough ends the search: the gap asked for is what may be lost.
    const double baseline = replay_keep_all(c.instance, Semantics::device).energy.value();
    EXPECT_LE(energy - baseline, (staged_energy - baseline) * 1.011 + 1e-9 * baseline);
    if (energy < 1e300) {
      EXPECT_LE(both.certificate.bounds.every_plan.value(), energy * (1 + 1e-9));
      EXPECT_NE(both.certificate.status, Status::infeasible);
    }
    if (!both.synchronous) continue;
    better += energy < staged_energy * (1 - 1e-9) ? 1 : 0;
    only += staged_energy == 1e300 ? 1 : 0;
  }
  fmt::print("better in {} cases, the only ones in {}\n", better, only);
  EXPECT_GT(better, test::enough(5, 4));
}

TEST(SynchronousPlan, EnergyIsTheVerifiers) {
  int plans = 0;
  for (int seed = 100; seed < 100 + test::effort(40, 4); ++seed) {
    Rng rng(static_cast<std::uint64_t>(seed));
    const SynchronousCase c = scarce(rng);
    const auto found = search_synchronous({c.instance, c.limits, Semantics::device}, {}, {});
    plans += found.empty() ? 0 : 1;
    for (const SynchronousPlan& one : found) {
      const Report report = replay(c.instance, one.plan, Semantics::device, c.limits);
      EXPECT_TRUE(report.valid) << report.violation;
      EXPECT_NEAR(one.energy.value(), report.energy.value(), 1e-9 * report.energy.value());
    }
  }
  EXPECT_GT(plans, test::enough(10, 4));
}

// Any decisions: what follows from them is a plan within the limits, or nothing; never one that costs more
// than what was known.
TEST(SynchronousSearch, PlansOfAnyAnswerAreTheVerifiersAndNeverWorse) {
  int found = 0;
  int better = 0;
  for (int seed = 200; seed < 200 + test::effort(60, 4); ++seed) {
    Rng rng(static_cast<std::uint64_t>(seed));
    const SynchronousCase c = scarce(rng);
    const SolveRequest request{c.instance, c.limits, Semantics::device};
    const SolveOptions options;
    const Stop stop;
    std::vector<SynchronousPlan> known;
    if (seed % 2 == 0) known = search_synchronous(request, options, stop);
    const Problem instant = instant_problem(request, options, 0);
    const Gaps gaps(instant);
    std::vector<GapMode> modes = gaps.keep_all();
    for (std::size_t g = 0; g < modes.size(); ++g)
      for (const GapMode mode : {GapMode::page, GapMode::recompute})
        if (test::chance(rng, 0.3) && gaps.possible(gaps.all()[g], mode)) modes[g] = mode;
    SynchronousSearch search(request, options, stop, known);
    const auto never = [] { return false; };
    const bool followed = search.follow(gaps.decisions(modes), modes, never);
    const bool went_on = search.go_on(1, 7, never);
    EXPECT_EQ(followed || went_on,
              search.best() != nullptr && (known.empty() || search.best()->energy < known.front().energy));
    better += followed || went_on ? 1 : 0;
    const std::vector<SynchronousPlan> plans = search.take();
    found += plans.empty() ? 0 : 1;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (i > 0) {
        EXPECT_LT(plans[i - 1].energy, plans[i].energy);
      }
      const Report report = replay(c.instance, plans[i].plan, Semantics::device, c.limits);
      EXPECT_TRUE(report.valid) << report.violation;
      EXPECT_NEAR(plans[i].energy.value(), report.energy.value(), 1e-9 * report.energy.value());
    }
  }
  fmt::print("plans in {} cases, better ones in {}\n", found, better);
  EXPECT_GT(found, test::enough(20, 4));
  EXPECT_GT(better, test::enough(20, 4));
}

// The plans are the original's, as are their figures.
TEST(WithReserve, LeavesItFreeWhileOpsRun) {
  int plans = 0;
  int reserved = 0;  // computations with all of it
  for (int seed = 300; seed < 300 + test::effort(100, 4); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Rng rng(static_cast<std::uint64_t>(seed));
    const SynchronousCase c = scarce(rng);
    const Bytes room = c.limits.ram_budget - c.instance.costs.persistent;
    const Bytes reserve(std::max<std::int64_t>(1, room.value() * pick(rng, 1, 30) / 100));
    const Instance less = with_reserve(c.instance, c.limits.ram_budget, reserve);
    EXPECT_LE(ram_floor(less, Semantics::device).bytes(), c.limits.ram_budget);
    const Dataflow flow = dataflow(c.instance.graph);
    for (const SynchronousPlan& made : search_synchronous({less, c.limits, Semantics::device}, {}, {})) {
      const Report report = replay(c.instance, made.plan, Semantics::device, c.limits);
      ASSERT_TRUE(report.valid) << report.violation;
      EXPECT_NEAR(made.energy.value(), report.energy.value(), 1e-9 * report.energy.value());
      const Timeline line = timeline_of(c.instance, made.plan);
      for (std::size_t i = 0; i < made.plan.steps.size(); ++i) {
        const Step& step = made.plan.steps[i];
        if (step.kind != StepKind::compute) continue;
        const Bytes alone = working_set(c.instance.costs, flow, step.op, {}, Semantics::device).bytes();
        EXPECT_LE(line.ram[i], std::max(alone, room - reserve)) << i;
        reserved += alone <= room - reserve ? 1 : 0;
      }
      ++plans;
    }
  }
  EXPECT_GT(plans, test::enough(50, 4));
  EXPECT_GT(reserved, test::enough(500, 4));
}

// As if addresses were over by a little, which they seldom are where values are few.
TEST(RefitWithReserve, HasAddressesThatFit) {
  int found = 0;
  int not_found = 0;
  for (int seed = 300; seed < 300 + test::effort(150, 4); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Rng rng(static_cast<std::uint64_t>(seed));
    const SynchronousCase c = scarce(rng);
    const CompileRequest request = request_of(c);
    for (const SynchronousPlan& plan :
         search_synchronous({c.instance, c.limits, Semantics::device}, {}, {})) {
      const Bytes room = c.limits.ram_budget - c.instance.costs.persistent;
      const Bytes over = Bytes(std::max<std::int64_t>(1, room.value() * pick(rng, 1, 15) / 100));
      const std::optional<PlacedPlan> refit =
          refit_with_reserve(request.instance, request.limits, request.options, plan.decided, over, {});
      not_found += refit ? 0 : 1;
      if (!refit) continue;
      ++found;
      const Report report = replay(c.instance, refit->plan, Semantics::device, c.limits);
      EXPECT_TRUE(report.valid) << report.violation;
      EXPECT_NEAR(refit->energy.value(), report.energy.value(), 1e-9 * report.energy.value());
      const ArenaReport arena =
          replay_layout(c.instance, refit->plan, refit->layout, Semantics::device, c.limits);
      EXPECT_TRUE(arena.valid) << arena.violation;
    }
  }
  fmt::print("{} of {} plans fit with less RAM\n", found, found + not_found);
  EXPECT_GT(found, test::enough(20, 4));
}

TEST(SynchronousPlan, NothingWhereEverythingFitsOrNothingMayBePaged) {
  Rng rng(3);
  SynchronousCase c = scarce(rng);
  SolveOptions options;
  options.paging = false;
  EXPECT_TRUE(search_synchronous({c.instance, c.limits, Semantics::device}, options, {}).empty());
  c.limits.ram_budget = Bytes(1'000'000'000);
  EXPECT_TRUE(search_synchronous({c.instance, c.limits, Semantics::device}, {}, {}).empty());
}

}  // namespace
}  // namespace poet
