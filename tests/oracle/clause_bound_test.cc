// Clause learning against every plan of small graphs (every_plan_test.cc compares that with a search that
// shares nothing with poet's own). POET_CLAUSE_CASES: how many. POET_CLAUSE_FIRST: the first seed (1).

#include "poet/optimize/clauses/clause_bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poet/base/numbers.h"
#include "poet/optimize/search/every_plan.h"
#include "tests/support/effort.h"
#include "tests/support/linear_cases.h"

namespace poet {
namespace {

constexpr double kLearningEffort = 10;

struct LearnedBounds {
  int proven = 0, found = 0, recomputing = 0, out_of_order = 0;
};

// Every other op costs nothing.
void give_away(Problem& p) {
  p.baseline_joules -= p.idle_watts * p.baseline_seconds;
  p.idle_watts = 0;
  for (int op = 0; op < p.ops; op += 2) {
    p.baseline_joules -= p.joules[at(op)];
    p.joules[at(op)] = 0;
  }
}

void learn(std::uint64_t seed, LearnedBounds& tally) {
  test::LinearCase c = test::linear_case(seed, 7, 13);
  if (seed % 2 == 0) c.limits.deadline.reset();
  SolveOptions options;
  options.paging = false;
  options.gap = 1e-6;
  Problem problem = make_problem({c.instance, c.limits, c.semantics}, options);
  if (seed % 3 == 0) give_away(problem);
  if (!has_few_plans(problem)) return;
  const EveryPlan every = search_every_plan(problem, {});
  if (every.computations.empty()) return;
  const double truth = every.bound, overhead = truth - problem.baseline_joules;
  SCOPED_TRACE(fmt::format("seed {}, {} ops, overhead {}", seed, problem.ops, overhead));
  if (overhead < 1e-6 * problem.baseline_joules) return;
  ++tally.recomputing;
  const double tolerance = 2e-6 * problem.baseline_joules;

  Search proof(problem, options);
  proof.know(truth);
  ClauseBound(proof).go_on(kLearningEffort);
  EXPECT_LE(proof.bound(), truth + 1e-9 * problem.baseline_joules);
  tally.proven += proof.bound() >= truth - tolerance ? 1 : 0;

  Search plans(problem, options);
  plans.accept_sequences();
  plans.know(truth + overhead);
  ClauseBound(plans).go_on(kLearningEffort);
  EXPECT_LE(plans.bound(), truth + 1e-9 * problem.baseline_joules);
  tally.found += plans.best_joules() <= truth + tolerance ? 1 : 0;
  if (!plans.sequence()) return;
  EXPECT_GE(plans.sequence()->joules, truth - 1e-9 * problem.baseline_joules);
  const bool is_staged = plans.has_incumbent() && plans.incumbent().joules <= plans.sequence()->joules;
  tally.out_of_order += is_staged ? 0 : 1;
}

TEST(ClauseBound, IsNoneThatAPlanBreaks) {
  const long cases = test::from_environment("POET_CLAUSE_CASES", test::cases(300, 3'000));
  const long first = test::from_environment("POET_CLAUSE_FIRST", 1);
  LearnedBounds tally;
  for (long i = 0; i < cases; ++i) learn(static_cast<std::uint64_t>(first + i), tally);
  fmt::print("{} cases: {} recompute; the optimum proven in {}, found in {}, out of order {}\n", cases,
             tally.recomputing, tally.proven, tally.found, tally.out_of_order);
  EXPECT_GE(tally.recomputing, cases / 10);
  EXPECT_GE(tally.proven, tally.recomputing * 9 / 10);
  EXPECT_GE(tally.found, tally.recomputing * 9 / 10);
}

}  // namespace
}  // namespace poet
