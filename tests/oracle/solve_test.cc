// The optimiser against every schedule there is, on small random training graphs.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "poet/graph/dataflow.h"
#include "poet/optimize/solve.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/exhaustive.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

using test::Rng;

struct SolveCase {
  Instance instance;
  Limits limits;
  Semantics semantics;
};

// The largest working set of one op: no budget below can do.
std::int64_t floor_bytes(const Instance& instance, Semantics semantics) {
  const Dataflow flow = dataflow(instance.graph);
  std::int64_t floor = 0;
  for (OpId op : ids<OpId>(instance.graph.ops.size())) {
    std::int64_t sum = semantics == Semantics::device ? instance.costs.ops[op].workspace.value() : 0;
    for (ValueId v : flow.reads[op]) sum += instance.costs.values[v].bytes.value();
    for (ValueId v : flow.writes[op]) sum += instance.costs.values[v].bytes.value();
    floor = std::max(floor, sum);
  }
  return floor + instance.costs.persistent.value();
}

// Graphs of 3 to 6 ops in which keeping everything takes more than any one op; budgets from just below the
// latter to just below the former; deadlines on half of them, a limit on writing on some.
SolveCase random_case(Rng& rng, Semantics semantics, bool single_output) {
  for (;;) {
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 3, 6);
    options.in_place = test::chance(rng, 0.5);
    options.multi_output = !single_output && test::chance(rng, 0.4);
    options.updates = !single_output && test::chance(rng, 0.3);
    options.inputs = test::chance(rng, 0.3);
    options.storage = test::chance(rng, 0.8);
    options.device = semantics == Semantics::device;
    SolveCase c{test::random_instance(rng, options), {}, semantics};
    c.instance.costs.timing = {};  // time is free: the oracle enumerates RAM and energy
    const Report all = replay_keep_all(c.instance, semantics);
    const std::int64_t floor = floor_bytes(c.instance, semantics);
    if (all.peak_ram.value() <= floor) continue;
    const bool impossible = test::chance(rng, 0.1);
    c.limits.ram_budget = Bytes(test::pick(rng, static_cast<int>(floor) - (impossible ? 1 : 0),
                                           static_cast<int>(impossible ? floor : all.peak_ram.value() - 1)));
    if (semantics != Semantics::device && test::chance(rng, 0.5))
      c.limits.deadline = Seconds(all.runtime.value() * (1 + 0.125 * test::pick(rng, 0, 6)));
    if (test::chance(rng, 0.15))
      c.limits.max_bytes_written = Bytes(test::pick(rng, 0, static_cast<int>(floor)));
    return c;
  }
}

SolveOptions exact() {
  SolveOptions options;
  options.gap = 0;
  options.time_limit_seconds = 60;
  return options;
}

// Solves, has the verifier check the schedule, and returns its energy; absent where there is none.
std::optional<double> solved(const SolveCase& c, const SolveOptions& options) {
  const Outcome outcome = solve({c.instance, c.limits, c.semantics}, options);
  if (outcome.schedule.stages.empty()) return std::nullopt;
  EXPECT_EQ(outcome.certificate.staged_gap, 0);
  const Report report = replay(c.instance, outcome.schedule, c.semantics, c.limits);
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_LE(outcome.certificate.bounds.of_staged().value(), report.energy.value() * (1 + 1e-9));
  return report.energy.value();
}

void expect_same(const std::optional<double>& a, const std::optional<double>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (a) {
    EXPECT_NEAR(*a, *b, 1e-6 * (1 + *b));
  }
}

// `claimed`: what the optimiser says; the oracle then only looks for something as good or better, which is
// much faster.
std::optional<double> oracle(const SolveCase& c, const SolveOptions& options,
                             const std::optional<double>& claimed = {}) {
  test::ExhaustiveOptions all;
  if (claimed) all.at_most_joules = *claimed;
  all.paging = options.paging;
  all.rematerialization = options.rematerialization;
  return test::least_energy(c.instance, c.semantics, c.limits, all);
}

class EverySemantics : public testing::TestWithParam<Semantics> {};

// Each case has a seed of its own, so that a long run by hand can go on from where another one stopped.
TEST_P(EverySemantics, TightIsExhaustive) {
  const long cases = test::from_environment("POET_SOLVE_CASES", 120);
  const long first = test::from_environment("POET_SOLVE_FIRST", 2022);
  long answered = 0;
  for (long i = 0; i < cases; ++i) {
    SCOPED_TRACE(fmt::format("POET_SOLVE_FIRST={}", first + i));
    Rng rng(static_cast<std::uint64_t>(first + i));
    const SolveCase c = random_case(rng, GetParam(), false);
    const auto answer = solved(c, exact());
    answered += answer.has_value();
    expect_same(answer, oracle(c, exact(), answer));
    if (HasFailure()) return;
    if (cases > 1000 && (i + 1) % 1000 == 0)
      fmt::print(stderr, "{}: {} cases right, the next is {}\n", to_string(GetParam()), i + 1, first + i + 1);
  }
  EXPECT_GT(answered, cases / 3);  // the cases are not all impossible
}

TEST_P(EverySemantics, WithoutPagingOrWithoutRecomputation) {
  Rng rng(7);
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    const SolveCase c = random_case(rng, GetParam(), false);
    SolveOptions options = exact();
    (i % 2 == 0 ? options.paging : options.rematerialization) = false;
    const auto answer = solved(c, options);
    expect_same(answer, oracle(c, options, answer));
    if (HasFailure()) return;
  }
}

// Each tightening alone is valid: without it the optimum is the same.
TEST_P(EverySemantics, TighteningsKeepTheOptimum) {
  Rng rng(11);
  bool Tightenings::*const switches[] = {
      &Tightenings::provenance,         &Tightenings::use_it_or_lose_it,   &Tightenings::rounding,
      &Tightenings::interval_retention, &Tightenings::reduced_cost_fixing, &Tightenings::windows};
  for (int i = 0; i < 16; ++i) {
    const SolveCase c = random_case(rng, GetParam(), false);
    const auto best = oracle(c, exact());
    for (std::size_t s = 0; s < std::size(switches); ++s) {
      SCOPED_TRACE(fmt::format("case {}, switch {}", i, s));
      SolveOptions options = exact();
      options.tightenings.*switches[s] = false;
      expect_same(solved(c, options), best);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, EverySemantics,
                         testing::Values(Semantics::published, Semantics::staged, Semantics::device),
                         [](const auto& semantics) { return std::string(to_string(semantics.param)); });

// The paper's own program never frees a retained value that its stage does not use: it may miss schedules,
// never find cheaper ones; without paging nobody would retain such a value, and it is exact.
TEST(PublishedFormulation, IsNeverBetterAndExactWithoutPaging) {
  Rng rng(5);
  for (int i = 0; i < 80; ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    SolveCase c = random_case(rng, Semantics::published, true);
    c.limits.max_bytes_written.reset();
    SolveOptions published = exact();
    published.formulation = Formulation::published;
    published.paging = i % 2 == 0;
    const auto best = oracle(c, published);
    const Outcome outcome = solve({c.instance, c.limits, c.semantics}, published);
    if (outcome.schedule.stages.empty()) {
      if (!published.paging) {
        EXPECT_FALSE(best.has_value());
      }
    } else {
      const Report report = replay(c.instance, outcome.schedule, c.semantics, c.limits);
      EXPECT_TRUE(report.valid) << report.violation;
      ASSERT_TRUE(best.has_value());
      EXPECT_GE(report.energy.value(), *best - 1e-6);
      if (!published.paging) {
        EXPECT_NEAR(report.energy.value(), *best, 1e-6 * (1 + *best));
      }
    }
    if (HasFailure()) return;
  }
}

// Where waiting costs energy or the deadline counts transfers, the channel is modelled approximately: the
// answer may be above the optimum, never invalid, and never below its own bound.
TEST(DeviceTimeline, AnswersAreValidAndAboveTheirBound) {
  Rng rng(13);
  int answered = 0;
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 4, 9);
    options.in_place = test::chance(rng, 0.5);
    options.device = true;
    options.multi_output = test::chance(rng, 0.3);
    const Instance instance = test::random_instance(rng, options);
    const Report all = replay_keep_all(instance, Semantics::device);
    const std::int64_t floor = floor_bytes(instance, Semantics::device);
    Limits limits;
    limits.ram_budget = Bytes((floor + all.peak_ram.value()) / 2);
    limits.deadline = Seconds(all.runtime.value() * (1 + 0.25 * test::pick(rng, 0, 8)));
    SolveOptions quick = exact();
    quick.time_limit_seconds = 5;
    const Outcome outcome = solve({instance, limits, Semantics::device}, quick);
    if (outcome.schedule.stages.empty()) continue;
    ++answered;
    const Report report = replay(instance, outcome.schedule, Semantics::device, limits);
    EXPECT_TRUE(report.valid) << report.violation;
    EXPECT_LE(outcome.certificate.bounds.of_staged().value(), report.energy.value() * (1 + 1e-9));
  }
  EXPECT_GT(answered, 20);
}

}  // namespace
}  // namespace poet
