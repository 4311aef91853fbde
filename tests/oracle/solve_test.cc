// The optimiser against every schedule there is, on small random training graphs.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "poet/graph/dataflow.h"
#include "poet/optimize/milp/formulation.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/solve.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/exhaustive.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_training_graph.h"
#include "tests/support/working_set.h"

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
  const long cases = test::from_environment("POET_SOLVE_CASES", test::cases(24, 120));
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
  const int enough = test::effort(8, 4);
  constexpr int kMostCases = 400;  // many have no schedule, most of those without recomputation
  int without_paging = 0;          // cases with a schedule
  int without_recomputation = 0;
  for (int i = 0; i < kMostCases && std::min(without_paging, without_recomputation) < enough; ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    const SolveCase c = random_case(rng, GetParam(), false);
    SolveOptions options = exact();
    const bool pages = without_recomputation < without_paging;
    (pages ? options.rematerialization : options.paging) = false;
    const auto answer = solved(c, options);
    (pages ? without_recomputation : without_paging) += answer.has_value();
    expect_same(answer, oracle(c, options, answer));
    if (HasFailure()) return;
  }
  EXPECT_GE(without_paging, enough);
  EXPECT_GE(without_recomputation, enough);
}

struct Switch {
  const char* name;
  bool Tightenings::*flag;
};
constexpr Switch kSwitches[] = {{"provenance", &Tightenings::provenance},
                                {"use it or lose it", &Tightenings::use_it_or_lose_it},
                                {"rounding", &Tightenings::rounding},
                                {"interval retention", &Tightenings::interval_retention},
                                {"reduced cost fixing", &Tightenings::reduced_cost_fixing},
                                {"windows", &Tightenings::windows}};

// Each tightening alone is valid: without it the optimum is the same.
TEST_P(EverySemantics, TighteningsKeepTheOptimum) {
  Rng rng(11);
  int answered = 0;
  for (int i = 0; i < test::effort(16, 4); ++i) {
    const SolveCase c = random_case(rng, GetParam(), false);
    const auto best = oracle(c, exact());
    answered += best.has_value();
    for (const Switch& s : kSwitches) {
      SCOPED_TRACE(fmt::format("case {}, {}", i, s.name));
      SolveOptions options = exact();
      options.tightenings.*s.flag = false;
      expect_same(solved(c, options), best);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(answered, test::enough(8, 4));
}

INSTANTIATE_TEST_SUITE_P(Oracle, EverySemantics,
                         testing::Values(Semantics::published, Semantics::staged, Semantics::device),
                         [](const auto& semantics) { return std::string(to_string(semantics.param)); });

// Rows and columns of a restricted model: in the full one something can happen to every value in every stage,
// so that no intervals merge.
std::pair<int, int> size_of_model(const SolveRequest& request, const Tightenings& tightenings) {
  const Problem problem = make_problem(request, exact());
  TightOptions options;
  options.tightenings = tightenings;
  const Model model = build_tight(problem, just_in_time_columns(problem, 1, 1), options).model;
  return {model.rows(), model.columns()};
}

// The comparison above would pass with switches that do nothing. Fixing by reduced costs changes neither the
// model nor, on graphs as small as this one, the number of nodes: unit/presolve_test.cc is about that.
TEST(Tightenings, ChangeTheModelOrTheBound) {
  test::RandomTrainingGraphOptions shape;
  shape.ops = 16;
  const Instance instance = test::random_training_graph(9, shape);
  const Report all = replay_keep_all(instance, Semantics::published);
  Limits limits;
  limits.ram_budget = test::budget_between(instance, Semantics::published, all.peak_ram, 20);
  const SolveRequest request{instance, limits, Semantics::published};
  const Outcome with = solve(request, exact());
  ASSERT_FALSE(with.timed_out);
  for (const Switch& s : kSwitches) {
    SCOPED_TRACE(s.name);
    SolveOptions options = exact();
    options.tightenings.*s.flag = false;
    if (s.flag == &Tightenings::windows) {
      const Outcome without = solve(request, options);
      EXPECT_FALSE(without.timed_out);
      EXPECT_LT(without.certificate.bounds.every_plan, with.certificate.bounds.every_plan);
    } else if (s.flag != &Tightenings::reduced_cost_fixing) {
      EXPECT_NE(size_of_model(request, options.tightenings), size_of_model(request, {}));
    }
  }
}

// The paper's own program never frees a retained value that its stage does not use: it may miss schedules,
// never find cheaper ones; without paging nobody would retain such a value, and it is exact.
TEST(PublishedFormulation, IsNeverBetterAndExactWithoutPaging) {
  Rng rng(5);
  int answered = 0;
  int answered_with_paging = 0;
  for (int i = 0; i < test::effort(80, 4); ++i) {
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
      ++(published.paging ? answered_with_paging : answered);
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
  EXPECT_GT(answered, test::enough(24, 4));
  EXPECT_GT(answered_with_paging, test::enough(32, 4));
}

// Where waiting costs energy or the deadline counts transfers, the channel is modelled approximately: the
// answer may be above the optimum, never invalid, and never below its own bound. linear_plans_test.cc holds
// such bounds against exhaustive searches.
TEST(DeviceTimeline, AnswersAreValidAndNotBelowTheirOwnBound) {
  Rng rng(13);
  int answered = 0;
  for (int i = 0; i < test::effort(60, 5); ++i) {
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
  EXPECT_GT(answered, test::enough(49, 5));
}

}  // namespace
}  // namespace poet
