// No schedule is missed: on many small instances at budgets, deadlines and write limits that barely do or
// barely do not, the optimiser finds a schedule exactly where there is one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "poet/optimize/explain.h"
#include "poet/optimize/solve.h"
#include "poet/verify/replay.h"
#include "tests/support/exhaustive.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

using test::Rng;

constexpr int kCases = 670;  // per semantics

struct Case {
  Instance instance;
  Limits limits;
  Semantics semantics;
  test::ExhaustiveOptions oracle;
};

// Half of the deadlines are the baseline's own or next to it. On devices the oracle knows no timeline: where
// there is a deadline, transfers take no time.
void add_deadline(Rng& rng, Case& c, double baseline_seconds) {
  c.limits.deadline = Seconds(baseline_seconds + 0.125 * test::pick(rng, 0, test::chance(rng, 0.5) ? 2 : 16));
  if (test::chance(rng, 0.1))
    c.limits.deadline = Seconds(baseline_seconds * (1 - 5e-10));  // within tolerance
  if (c.semantics != Semantics::device) return;
  c.oracle.transfers_take_no_time = true;
  for (const ValueId v : ids<ValueId>(c.instance.costs.values.size())) {
    c.instance.costs.values[v].page_in.seconds = Seconds(0);
    c.instance.costs.values[v].page_out.seconds = Seconds(0);
  }
}

// Graphs of 3 to 5 ops, some of 6. Budgets from the largest working set of an op, where there are schedules
// at times, to keeping everything; most are next to the former.
Case random_case(std::uint64_t seed, Semantics semantics) {
  Rng rng(seed);
  for (;;) {
    test::RandomInstanceOptions options;
    options.ops = test::chance(rng, 0.1) ? 6 : test::pick(rng, 3, 5);
    options.in_place = test::chance(rng, 0.5);
    options.multi_output = options.ops < 6 && test::chance(rng, 0.4);
    options.updates = test::chance(rng, 0.3);
    options.views = test::chance(rng, 0.2);
    options.inputs = test::chance(rng, 0.4);
    options.storage = test::chance(rng, 0.6);
    options.device = semantics == Semantics::device;
    Case c{test::random_instance(rng, options), {}, semantics, {}};
    c.instance.costs.timing = {};
    const Report all = replay_keep_all(c.instance, semantics);
    const int floor =
        static_cast<int>(ram_floor(make_problem({c.instance, {}, semantics}, {})).floor_ram->value());
    const int most = static_cast<int>(all.peak_ram.value()) - 1;
    if (most < floor) continue;
    const int highest = test::chance(rng, 0.7) ? floor + (most - floor) / 4 : most;
    c.limits.ram_budget = Bytes(test::pick(rng, floor, highest));
    if (test::chance(rng, 0.6)) add_deadline(rng, c, all.runtime.value());
    if (test::chance(rng, 0.2)) c.limits.max_bytes_written = Bytes(test::pick(rng, 0, floor));
    return c;
  }
}

struct Category {
  int cases = 0;
  double seconds = 0;
  double longest = 0;
  void add(double took) {
    ++cases;
    seconds += took;
    longest = std::max(longest, took);
  }
};

class NoFalseInfeasible : public testing::TestWithParam<Semantics> {};

TEST_P(NoFalseInfeasible, AScheduleWhereThereIsOneAndNoneWhereThereIsNone) {
  Category found, none, enumerated;
  int unknown = 0;
  const auto seconds_of = [](const auto& action) {
    const auto start = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (int i = 0; i < kCases; ++i) {
    const auto seed = static_cast<std::uint64_t>(i) + 1;
    SCOPED_TRACE(fmt::format("{}, seed {}", to_string(GetParam()), seed));
    const Case c = random_case(seed, GetParam());
    SolveOptions options;
    options.gap = 0.01;
    options.time_limit_seconds = 5;
    Outcome outcome;
    const double took = seconds_of([&] { outcome = solve({c.instance, c.limits, c.semantics}, options); });
    const Report report = outcome.schedule.stages.empty()
                              ? Report{}
                              : replay(c.instance, outcome.schedule, c.semantics, c.limits);
    // Looking only for what is as good or better than a valid answer is much faster.
    test::ExhaustiveOptions oracle = c.oracle;
    if (report.valid) oracle.at_most_joules = report.energy.value();
    std::optional<double> best;
    enumerated.add(seconds_of([&] { best = test::least_energy(c.instance, c.semantics, c.limits, oracle); }));
    const std::string answer = fmt::format("{} after {:.0f} ms: {}", to_string(outcome.certificate.status),
                                           1000 * took, outcome.explanation.reason);
    if (best) {
      found.add(took);
      EXPECT_TRUE(outcome.certificate.status == Status::optimal ||
                  outcome.certificate.status == Status::feasible)
          << answer;
      EXPECT_TRUE(report.valid) << report.violation;
      const double slack = 1e-6 * (1 + *best);
      EXPECT_LE(outcome.certificate.bounds.of_staged().value(), *best + slack) << answer;
      EXPECT_GE(report.energy.value(), *best - slack) << answer;
      if (outcome.certificate.staged_gap <= options.gap) {
        const double overhead = *best - replay_keep_all(c.instance, c.semantics).energy.value();
        EXPECT_LE(report.energy.value(), *best + 0.011 * overhead + slack) << answer;
      }
    } else {
      none.add(took);
      unknown += outcome.certificate.status == Status::unknown;
      EXPECT_TRUE(outcome.certificate.status == Status::infeasible ||
                  outcome.certificate.status == Status::unknown)
          << answer;
      EXPECT_TRUE(outcome.schedule.stages.empty());
    }
  }
  const auto print = [&](const char* what, const Category& c) {
    fmt::print("{:<9}  {:<12} {:>4} cases, {:6.1f} ms each, {:6.1f} ms at most\n", to_string(GetParam()),
               what, c.cases, 1000 * c.seconds / std::max(c.cases, 1), 1000 * c.longest);
  };
  print("a schedule", found);
  print("none", none);
  print("oracle", enumerated);
  fmt::print("{:<9}  unknown where there is none: {}\n", to_string(GetParam()), unknown);
  EXPECT_GT(found.cases, 200);
  EXPECT_GT(none.cases, 100);
}

INSTANTIATE_TEST_SUITE_P(Oracle, NoFalseInfeasible,
                         testing::Values(Semantics::published, Semantics::staged, Semantics::device),
                         [](const auto& semantics) { return std::string(to_string(semantics.param)); });

}  // namespace
}  // namespace poet
