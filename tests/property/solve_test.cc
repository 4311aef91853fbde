// What holds of every answer, on random training graphs of 6 to 14 ops: it is a schedule, more RAM, time or
// freedom never costs more, and bounds are below what can be reached.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <vector>

#include "poet/optimize/explain.h"
#include "poet/optimize/solve.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

using test::Rng;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct SolveCase {
  Instance instance;
  Limits limits;
  Semantics semantics;
};

// Budgets from the largest working set to just below what keeping everything takes; deadlines on half of
// them, a limit on writing on some. `timed`: on devices waiting costs energy, the channel may block,
// transfers wake it, and deadlines count them; otherwise time is free there.
SolveCase random_case(Rng& rng, Semantics semantics, bool timed, int most_ops = 14) {
  for (;;) {
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 6, most_ops);
    options.in_place = test::chance(rng, 0.5);
    options.multi_output = test::chance(rng, 0.4);
    options.updates = test::chance(rng, 0.3);
    options.views = test::chance(rng, 0.2);
    options.inputs = test::chance(rng, 0.3);
    options.storage = test::chance(rng, 0.8);
    options.device = semantics == Semantics::device;
    SolveCase c{test::random_instance(rng, options), {}, semantics};
    if (!timed) c.instance.costs.timing = {};
    const Report all = replay_keep_all(c.instance, semantics);
    const Problem problem = make_problem({c.instance, c.limits, semantics}, {});
    const std::int64_t floor = ram_floor(problem).floor_ram->value();
    if (all.peak_ram.value() <= floor) continue;
    c.limits.ram_budget =
        Bytes(test::pick(rng, static_cast<int>(floor), static_cast<int>(all.peak_ram.value()) - 1));
    if (test::chance(rng, 0.5) && (timed || semantics != Semantics::device))
      c.limits.deadline = Seconds(all.runtime.value() * (1 + 0.125 * test::pick(rng, 0, 6)));
    if (test::chance(rng, 0.15))
      c.limits.max_bytes_written = Bytes(test::pick(rng, 0, static_cast<int>(floor)));
    return c;
  }
}

SolveOptions exact() {
  SolveOptions options;
  options.gap = 0;
  options.time_limit_seconds = 20;
  return options;
}

struct Answer {
  Outcome outcome;
  double energy = kInfinite;  // without a schedule
  [[nodiscard]] bool found() const { return energy < kInfinite; }
};

/// Solves, has the verifier check the schedule, and the bound against its energy.
Answer solved(const SolveCase& c, const SolveOptions& options) {
  Answer answer{solve({c.instance, c.limits, c.semantics}, options)};
  const Outcome& outcome = answer.outcome;
  EXPECT_EQ(outcome.schedule.stages.empty(), outcome.certificate.status == Status::infeasible ||
                                                 outcome.certificate.status == Status::unknown);
  if (outcome.schedule.stages.empty()) return answer;
  const Report report = replay(c.instance, outcome.schedule, c.semantics, c.limits);
  EXPECT_TRUE(report.valid) << report.violation;
  answer.energy = report.energy.value();
  EXPECT_LE(outcome.certificate.bounds.of_staged().value(), answer.energy * (1 + 1e-9));
  if (outcome.certificate.staged_gap == 0) {
    EXPECT_NEAR(outcome.certificate.bounds.of_staged().value(), answer.energy, 1e-6 * (1 + answer.energy));
  }
  return answer;
}

/// `wider` allows whatever `narrow` allows.
void expect_no_costlier(const Answer& wider, const Answer& narrow) {
  if (!narrow.found()) return;
  EXPECT_NE(wider.outcome.certificate.status, Status::infeasible);
  EXPECT_LE(wider.outcome.certificate.bounds.of_staged().value(), narrow.energy + 1e-6 * (1 + narrow.energy));
  if (wider.found() && wider.outcome.certificate.staged_gap == 0) {
    EXPECT_LE(wider.energy, narrow.energy + 1e-6 * (1 + narrow.energy));
  }
}

class Solve : public testing::TestWithParam<Semantics> {};

std::string name_of_semantics(const testing::TestParamInfo<Semantics>& test) { return to_string(test.param); }

TEST_P(Solve, MoreRamTimeOrFreedomNeverCostsMore) {
  Rng rng(31);
  int answered = 0;
  int proven = 0;
  int cheaper = 0;
  for (int i = 0; i < test::effort(25, 5); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    const SolveCase c = random_case(rng, GetParam(), false);
    const Answer answer = solved(c, exact());
    answered += answer.found();
    proven += answer.found() && answer.outcome.certificate.staged_gap == 0;

    std::vector<Answer> wider;
    SolveCase more = c;
    more.limits.ram_budget = c.limits.ram_budget + Bytes(test::pick(rng, 1, 40));
    wider.push_back(solved(more, exact()));
    if (c.limits.deadline) {
      more = c;
      more.limits.deadline = 1.25 * *c.limits.deadline;
      wider.push_back(solved(more, exact()));
    }
    if (c.limits.max_bytes_written) {
      more = c;
      more.limits.max_bytes_written.reset();
      wider.push_back(solved(more, exact()));
    }
    for (const Answer& w : wider) {
      expect_no_costlier(w, answer);
      cheaper += w.energy < answer.energy - 1e-6;
    }

    for (const auto freedom : {&SolveOptions::paging, &SolveOptions::rematerialization}) {
      SolveOptions options = exact();
      options.*freedom = false;
      const Answer narrow = solved(c, options);
      expect_no_costlier(answer, narrow);
      cheaper += answer.energy < narrow.energy - 1e-6;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(answered, test::enough(12, 5));  // the cases are not all impossible
  EXPECT_EQ(proven, answered);
  EXPECT_GT(cheaper, test::enough(12, 5));  // nor is what is added always useless
}

TEST_P(Solve, SameCallSameSchedule) {
  Rng rng(33);
  for (int i = 0; i < test::effort(15, 5); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    const SolveCase c = random_case(rng, GetParam(), false);
    const Outcome once = solve({c.instance, c.limits, c.semantics}, exact());
    const Outcome again = solve({c.instance, c.limits, c.semantics}, exact());
    EXPECT_EQ(once.certificate.status, again.certificate.status);
    EXPECT_EQ(once.schedule, again.schedule);
    EXPECT_EQ(once.certificate.bounds.every_plan, again.certificate.bounds.every_plan);
    EXPECT_EQ(once.nodes, again.nodes);
    if (HasFailure()) return;
  }
}

// `infeasible` and the limits named then are both believed by users: the former is checked against what a
// solve at the latter finds.
TEST_P(Solve, NamedLimitsHaveASchedule) {
  Rng rng(34);
  // Of the time limit a part is for the search for the limits named, which ends by itself after some seconds:
  // it is the least only if the clock does not end it.
  SolveOptions patient = exact();
  patient.time_limit_seconds = 600;
  int named = 0;
  const int enough_named = test::effort(8, 5);
  for (int i = 0; i < 100 && named < enough_named; ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    SolveCase c = random_case(rng, GetParam(), false);
    if (test::chance(rng, 0.5))
      c.limits.ram_budget = *ram_floor(make_problem({c.instance, c.limits, c.semantics}, {})).floor_ram;
    if (test::chance(rng, 0.5)) c.instance.costs.has_storage = false;
    if (solved(c, exact()).found()) continue;
    const Answer answer = solved(c, patient);
    const Explanation& why = answer.outcome.explanation;
    EXPECT_FALSE(why.reason.empty());
    if (why.least_ram) {
      EXPECT_GE(*why.least_ram, *why.floor_ram);
      EXPECT_GT(*why.least_ram, c.limits.ram_budget);
      SolveCase enough = c;
      enough.limits.ram_budget = *why.least_ram;
      EXPECT_TRUE(solved(enough, exact()).found());
      enough.limits.ram_budget = *why.least_ram - Bytes(1);
      EXPECT_FALSE(solved(enough, exact()).found());
      ++named;
    }
    if (why.least_deadline) {
      SolveCase enough = c;
      enough.limits.deadline = *why.least_deadline;
      EXPECT_TRUE(solved(enough, exact()).found());
    }
    if (HasFailure()) return;
  }
  EXPECT_EQ(named, enough_named);
}

// What a schedule becomes once its transfers are planned: a plan within the limits that needs no more.
TEST(SolveDevice, PlannedTransfersNeverCostMore) {
  Rng rng(36);
  int cheaper = 0;
  for (int i = 0; i < test::effort(120, 5); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    const SolveCase c = random_case(rng, Semantics::device, true, 60);
    SolveOptions options;
    options.time_limit_seconds = 0.1;
    options.explain = false;
    const Outcome outcome = solve({c.instance, c.limits, c.semantics}, options);
    EXPECT_EQ(outcome.planned.has_value(), c.instance.costs.has_storage && !outcome.schedule.stages.empty());
    if (!outcome.planned) continue;
    const PlannedSchedule& planned = *outcome.planned;
    const Report plan = replay(c.instance, planned.plan, c.semantics, c.limits);
    const Report schedule = replay(c.instance, outcome.schedule, c.semantics, c.limits);
    ASSERT_TRUE(plan.valid) << plan.violation;
    EXPECT_TRUE(replay(c.instance, planned.schedule, c.semantics, c.limits).valid);
    EXPECT_NEAR(plan.energy.value(), planned.energy.value(), 1e-9 * plan.energy.value());
    EXPECT_LE(plan.energy.value(), schedule.energy.value() * (1 + 1e-12));
    EXPECT_GE(plan.energy.value(), outcome.certificate.bounds.every_plan.value() * (1 - 1e-9));
    cheaper += plan.energy.value() < schedule.energy.value() * (1 - 1e-9);
  }
  EXPECT_GT(cheaper, test::enough(1, 5));
}

INSTANTIATE_TEST_SUITE_P(Property, Solve,
                         testing::Values(Semantics::published, Semantics::staged, Semantics::device),
                         name_of_semantics);

// The paper's own formulation obeys the same laws against the tight one.
TEST(SolvePublishedFormulation, IsValidAndNeverBelowTheTightBound) {
  Rng rng(35);
  int answered = 0;
  for (int i = 0; i < test::effort(25, 5); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 6, 8);
    options.in_place = test::chance(rng, 0.5);
    SolveCase c{test::random_instance(rng, options), {}, Semantics::published};
    const std::int64_t floor =
        ram_floor(make_problem({c.instance, c.limits, c.semantics}, {})).floor_ram->value();
    c.limits.ram_budget = Bytes((floor + replay_keep_all(c.instance, c.semantics).peak_ram.value()) / 2);
    SolveOptions published = exact();
    published.formulation = Formulation::published;
    published.time_limit_seconds = 3;
    const Answer theirs = solved(c, published);
    const Answer ours = solved(c, exact());
    answered += theirs.found();
    EXPECT_LE(ours.energy, theirs.energy + 1e-6);
    if (HasFailure()) return;
  }
  EXPECT_GT(answered, test::enough(10, 5));
}

// Where waiting costs energy the timeline is modelled approximately: answers need not be optimal, but bounds
// and claims of infeasibility must hold against every other answer.
TEST(SolveDeviceTimeline, BoundsHoldAgainstNarrowerCases) {
  Rng rng(36);
  int answered = 0;
  for (int i = 0; i < test::effort(16, 5); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    const SolveCase c = random_case(rng, Semantics::device, true);
    SolveOptions quick = exact();
    quick.time_limit_seconds = 1;
    const Answer answer = solved(c, quick);
    answered += answer.found();
    SolveCase more = c;
    more.limits.ram_budget = c.limits.ram_budget + Bytes(test::pick(rng, 1, 40));
    expect_no_costlier(solved(more, quick), answer);
    for (const auto freedom : {&SolveOptions::paging, &SolveOptions::rematerialization}) {
      SolveOptions options = quick;
      options.*freedom = false;
      expect_no_costlier(answer, solved(c, options));
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(answered, test::enough(7, 5));
}

}  // namespace
}  // namespace poet
