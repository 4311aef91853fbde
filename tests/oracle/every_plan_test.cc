// Small graphs of which nothing can be paged are decided: compared with an exhaustive search that shares
// nothing with poet's own. POET_EVERY_PLAN_CASES: how many. POET_EVERY_PLAN_FIRST: the first seed (1).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poet/compile.h"
#include "tests/support/effort.h"
#include "tests/support/linear_cases.h"
#include "tests/support/linear_search.h"

namespace poet {
namespace {

struct SmallGraphs {
  int optimal = 0, infeasible = 0, recomputing = 0, compared = 0;
};

void decide(std::uint64_t seed, SmallGraphs& tally) {
  test::LinearCase c = test::linear_case(seed, 6, 12);
  c.limits.deadline.reset();
  SCOPED_TRACE(fmt::format("seed {}: {}, {} ops", seed, to_string(c.semantics), c.instance.graph.ops.size()));
  CompileRequest request{c.instance, c.limits, c.semantics, {}};
  request.options.paging = false;
  request.options.gap = 1e-6;
  request.options.time_limit_seconds = 10;
  request.options.explain = false;
  request.addresses = false;
  const CompileResult answer = compile(request);
  const Status status = answer.certificate.status;
  EXPECT_TRUE(status == Status::optimal || status == Status::infeasible) << to_string(status);

  test::LinearSearchOptions options;
  options.paging = false;
  options.most_states = 200'000;
  const test::LinearSearchResult truth =
      test::search_linear_plans(c.instance, c.semantics, c.limits, options);
  if (!truth.finished) return;
  ++tally.compared;
  EXPECT_EQ(truth.best.has_value(), status == Status::optimal);
  if (!truth.best || status != Status::optimal) {
    ++tally.infeasible;
    return;
  }
  ++tally.optimal;
  const double baseline = answer.keep_all.energy.value();
  EXPECT_NEAR(answer.report.energy.value(), truth.best->joules, 1e-7 * baseline);
  tally.recomputing += truth.best->joules > baseline * (1 + 1e-9) ? 1 : 0;
}

TEST(EveryPlan, OfASmallGraphIsDecided) {
  const long cases = test::from_environment("POET_EVERY_PLAN_CASES", test::cases(60, 300));
  const long first = test::from_environment("POET_EVERY_PLAN_FIRST", 1);
  SmallGraphs tally;
  for (long i = 0; i < cases; ++i) decide(static_cast<std::uint64_t>(first + i), tally);
  fmt::print("{} cases: {} compared, {} optimal, {} of them recompute, {} infeasible\n", cases,
             tally.compared, tally.optimal, tally.recomputing, tally.infeasible);
  EXPECT_GE(tally.compared, cases / 2);
  EXPECT_GE(tally.recomputing, cases / 20);
}

}  // namespace
}  // namespace poet
