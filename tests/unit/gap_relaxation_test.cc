// The bound of the gap relaxation, worked out by hand.

#include <gtest/gtest.h>

#include <vector>

#include "poet/optimize/gap_relaxation.h"
#include "tests/support/ladder.h"

namespace poet {
namespace {

struct Bounded {
  double bound = 0;
  std::vector<int> paged, recomputed;  // values with a gap of that mode before op 4
};

Bounded relaxed(const Instance& instance, const Limits& limits, const SolveOptions& options = {},
                Semantics semantics = Semantics::published) {
  const Problem problem = make_problem({instance, limits, semantics}, options);
  Search search(problem, options);
  const GapRelaxation relaxation = gap_relaxation(search, 20'000);
  Bounded result;
  result.bound = relaxation.bound;
  const Gaps gaps(problem);
  for (std::size_t g = 0; g < relaxation.modes.size(); ++g) {
    if (gaps.all()[g].to != 4) continue;
    if (relaxation.modes[g] == Mode::page) result.paged.push_back(gaps.all()[g].value);
    if (relaxation.modes[g] == Mode::recompute) result.recomputed.push_back(gaps.all()[g].value);
  }
  return result;
}

// `joules` up to the solvers' tolerances, which are on the safe side.
void expect_bound(const Bounded& result, double joules) {
  EXPECT_LE(result.bound, joules);
  EXPECT_GT(result.bound, joules - 1e-5);
}

Limits limits(std::int64_t bytes, double deadline) {
  Limits both = test::ram(bytes);
  both.deadline = Seconds(deadline);
  return both;
}

const std::vector<int> kNone;
const std::vector<int> kA{0};
const std::vector<int> kB{1};
const std::vector<int> kBoth{0, 1};

TEST(GapRelaxation, NothingLeavesWhereEverythingFits) {
  const Bounded result = relaxed(test::ladder(), test::ram(65));
  expect_bound(result, 10);
  EXPECT_EQ(result.paged, kNone);
  EXPECT_EQ(result.recomputed, kNone);
}

TEST(GapRelaxation, TheCheapestThatMakesRoom) {
  // Beside b and c (50 B) there is no room for a; beside c and d (35 B) there is for b. Recomputing: 2 J.
  const Bounded one = relaxed(test::ladder(), test::ram(55));
  expect_bound(one, 12);
  EXPECT_EQ(one.recomputed, kA);
  const Bounded both = relaxed(test::ladder(), test::ram(50));
  expect_bound(both, 14);
  EXPECT_EQ(both.recomputed, kBoth);
}

TEST(GapRelaxation, PagingCountsBothWays) {
  SolveOptions options;
  options.rematerialization = false;
  const Bounded result = relaxed(test::ladder(), test::ram(50), options);
  expect_bound(result, 10 + 2 * (3 + 4));
  EXPECT_EQ(result.paged, kBoth);
  // Where recomputing b costs 10 J, paging it is better; everything once is then 18 J.
  Instance dear = test::ladder();
  dear.costs.ops[OpId(1)].energy = Joules(10);
  const Bounded mixed = relaxed(dear, test::ram(50));
  expect_bound(mixed, 18 + 2 + 7);
  EXPECT_EQ(mixed.paged, kB);
  EXPECT_EQ(mixed.recomputed, kA);
}

TEST(GapRelaxation, RecomputingTakesTime) {
  // 5 s are needed once; each recomputation takes 1 s.
  expect_bound(relaxed(test::ladder(), limits(50, 7)), 14);
  expect_bound(relaxed(test::ladder(), limits(50, 6)), 10 + 2 + 7);
  expect_bound(relaxed(test::ladder(), limits(50, 5)), 10 + 7 + 7);
}

// Recomputing b takes a, which is gone: 4 J in truth. The relaxation sees 2.
TEST(GapRelaxation, SeesOperandsAtHand) {
  expect_bound(relaxed(test::ladder_without_rail(), test::ram(50)), 12);
}

// x and y return by one computation of 2 J, not by two.
TEST(GapRelaxation, ResultsOfOneOpShareItsCost) {
  const Bounded result = relaxed(test::twins(), test::ram(100));
  expect_bound(result, 12);
  EXPECT_EQ(result.recomputed, kBoth);
}

TEST(GapRelaxation, IdlePowerIsPaidForRecomputing) {
  Instance instance = test::ladder();
  instance.costs.timing.idle = Watts(3);
  // Everything once: 10 J and 3 W for 5 s. Recomputing a: 2 J and 3 W for 1 s; paging it would be 7 J.
  expect_bound(relaxed(instance, test::ram(55), {}, Semantics::device), 25 + 5);
}

TEST(GapRelaxation, WithoutAWayOutThereIsNoHint) {
  SolveOptions options;
  options.paging = false;
  const Bounded result = relaxed(test::ladder(), limits(50, 5), options);
  EXPECT_GE(result.bound, 10);  // any bound is true of no schedule
  EXPECT_EQ(result.recomputed, kNone);
}

}  // namespace
}  // namespace poet
