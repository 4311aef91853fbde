// No schedule is missed: on many small instances at budgets, deadlines and write limits that barely do or
// barely do not, the optimiser finds a schedule exactly where there is one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poet/optimize/explain.h"
#include "poet/optimize/solve.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/exhaustive.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

using test::Rng;

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

class NoFalseInfeasible : public testing::TestWithParam<Semantics> {};

TEST_P(NoFalseInfeasible, AScheduleWhereThereIsOneAndNoneWhereThereIsNone) {
  const int cases = test::cases(60, 670);
  int found = 0;
  int none = 0;
  int unknown = 0;
  for (int i = 0; i < cases; ++i) {
    const auto seed = static_cast<std::uint64_t>(i) + 1;
    SCOPED_TRACE(fmt::format("{}, seed {}", to_string(GetParam()), seed));
    const Case c = random_case(seed, GetParam());
    SolveOptions options;
    options.gap = 0.01;
    options.time_limit_seconds = 5;
    const Outcome outcome = solve({c.instance, c.limits, c.semantics}, options);
    const Report report = outcome.schedule.stages.empty()
                              ? Report{}
                              : replay(c.instance, outcome.schedule, c.semantics, c.limits);
    // Looking only for what is as good or better than a valid answer is much faster.
    test::ExhaustiveOptions oracle = c.oracle;
    if (report.valid) oracle.at_most_joules = report.energy.value();
    const std::optional<double> best = test::least_energy(c.instance, c.semantics, c.limits, oracle);
    const std::string answer =
        fmt::format("{}: {}", to_string(outcome.certificate.status), outcome.explanation.reason);
    if (best) {
      ++found;
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
      ++none;
      unknown += outcome.certificate.status == Status::unknown;
      EXPECT_TRUE(outcome.certificate.status == Status::infeasible ||
                  outcome.certificate.status == Status::unknown)
          << answer;
      EXPECT_TRUE(outcome.schedule.stages.empty());
    }
  }
  fmt::print("{}: a schedule in {} cases, none in {}, of which {} unknown\n", to_string(GetParam()), found,
             none, unknown);
  EXPECT_GT(found, cases * 3 / 10);
  EXPECT_GT(none, cases * 3 / 20);
}

INSTANTIATE_TEST_SUITE_P(Oracle, NoFalseInfeasible,
                         testing::Values(Semantics::published, Semantics::staged, Semantics::device),
                         [](const auto& semantics) { return std::string(to_string(semantics.param)); });

}  // namespace
}  // namespace poet
