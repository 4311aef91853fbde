// Schedules without a solver, on chains small enough to know what greed finds.

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "poet/optimize/heuristic/greedy.h"
#include "tests/support/ladder.h"

namespace poet {
namespace {

using Sets = std::vector<std::vector<int>>;

bool never() { return false; }

Limits greedy_limits(std::int64_t bytes, double deadline) {
  Limits both = test::ram(bytes);
  both.deadline = Seconds(deadline);
  return both;
}

std::optional<Candidate> greedy_at(const Instance& instance, const Limits& limits,
                                   const SolveOptions& options = {},
                                   Semantics semantics = Semantics::published) {
  const Problem problem = make_problem({instance, limits, semantics}, options);
  std::optional<Candidate> found = greedy(problem, never);
  EXPECT_TRUE(!found || found->within(problem));
  return found;
}

double joules_at(const Instance& instance, const Limits& limits, const SolveOptions& options = {}) {
  const auto found = greedy_at(instance, limits, options);
  return found ? found->joules : -1;
}

constexpr double kNothing = -1;

// A ladder in which recomputing b costs 10 J: paging it, 7 J, is cheaper. Everything once: 18 J.
Instance dear_ladder() {
  Instance instance = test::ladder();
  instance.costs.ops[OpId(1)].energy = Joules(10);
  return instance;
}

TEST(Greedy, KeepsWhatFits) {
  const auto found = greedy_at(test::ladder(), test::ram(65));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->joules, 10);
  EXPECT_EQ(found->decisions.recompute, Sets(5));
  EXPECT_EQ(found->decisions.page_in, Sets(5));
}

TEST(Greedy, EmptiesAsMuchAsNeeded) {
  for (const std::int64_t bytes : {64, 60, 55}) {
    const auto found = greedy_at(test::ladder(), test::ram(bytes));
    ASSERT_TRUE(found.has_value()) << bytes;
    // 60 and 64 would also do with b recomputed, at the same 12 J.
    EXPECT_EQ(found->joules, 12) << bytes;
  }
  for (const std::int64_t bytes : {54, 50}) {
    const auto found = greedy_at(test::ladder(), test::ram(bytes));
    ASSERT_TRUE(found.has_value()) << bytes;
    EXPECT_EQ(found->decisions.recompute, (Sets{{}, {}, {}, {}, {0, 1}})) << bytes;
    EXPECT_EQ(found->joules, 14) << bytes;
  }
  EXPECT_EQ(joules_at(test::ladder(), test::ram(49)), kNothing);  // c needs 50
}

TEST(Greedy, TakesTheCheaperWay) {
  const auto found = greedy_at(dear_ladder(), test::ram(50));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->decisions.recompute[4], (std::vector<int>{0}));
  EXPECT_EQ(found->decisions.page_in[3], (std::vector<int>{1}));
  EXPECT_EQ(found->joules, 18 + 2 + 7);
}

TEST(Greedy, OneWayWhereTheOtherIsClosed) {
  SolveOptions no_paging;
  no_paging.paging = false;
  EXPECT_EQ(joules_at(dear_ladder(), test::ram(50), no_paging), 18 + 2 + 10);
  SolveOptions no_recomputing;
  no_recomputing.rematerialization = false;
  EXPECT_EQ(joules_at(dear_ladder(), test::ram(50), no_recomputing), 18 + 7 + 7);
}

TEST(Greedy, KeepsTheDeadline) {
  EXPECT_EQ(joules_at(test::ladder(), greedy_limits(50, 7)), 14);
  // Time to recompute one: 19 J would do, but greed either pages or recomputes where one alone is too slow.
  const double mixed = joules_at(test::ladder(), greedy_limits(50, 6));
  EXPECT_GE(mixed, 10 + 2 + 7);
  EXPECT_LE(mixed, 10 + 7 + 7);
  EXPECT_EQ(joules_at(test::ladder(), greedy_limits(50, 5)), 10 + 7 + 7);
  SolveOptions no_paging;
  no_paging.paging = false;
  EXPECT_EQ(joules_at(test::ladder(), greedy_limits(50, 6), no_paging), kNothing);
}

TEST(Greedy, KeepsTheWriteLimit) {
  Limits both = test::ram(50);
  both.max_bytes_written = Bytes(20);
  EXPECT_EQ(joules_at(dear_ladder(), both), 18 + 2 + 7);
  both.max_bytes_written = Bytes(19);  // b has 20
  EXPECT_EQ(joules_at(dear_ladder(), both), 18 + 2 + 10);
}

TEST(Greedy, RecomputesResultsOfOneOpOnce) {
  const auto found = greedy_at(test::twins(), test::ram(100));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->decisions.recompute, (Sets{{}, {}, {}, {}, {0}}));
  EXPECT_EQ(found->joules, 12);
}

TEST(Greedy, StopsWhenTold) {
  const Instance instance = test::ladder();
  const Problem problem = make_problem({instance, test::ram(50), Semantics::published}, {});
  EXPECT_FALSE(greedy(problem, [] { return true; }).has_value());
}

TEST(Greedy, EndsAfterSoMuchWork) {
  const Instance instance = test::ladder();
  const Problem problem = make_problem({instance, test::ram(50), Semantics::published}, {});
  constexpr long kPlenty = 10'000;
  EXPECT_FALSE(greedy(problem, never, 0).has_value());
  EXPECT_FALSE(greedy(problem, never, 1).has_value());  // two evictions are needed
  const auto found = greedy(problem, never, kPlenty);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->joules, 14);
}

TEST(GreedyFrom, MakesItFit) {
  const Instance instance = test::ladder();
  const Problem problem = make_problem({instance, test::ram(50), Semantics::published}, {});
  const auto found = greedy_from(problem, Gaps(problem).keep_all(), never);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->joules, 14);
}

TEST(GreedyFrom, TakesBackWhatWasNotNeeded) {
  const Instance instance = test::ladder();
  const Problem problem = make_problem({instance, test::ram(65), Semantics::published}, {});
  const Gaps gaps(problem);
  std::vector<GapMode> modes = gaps.keep_all();
  for (std::size_t g = 0; g < modes.size(); ++g)
    if (gaps.possible(gaps.all()[g], GapMode::page)) modes[g] = GapMode::page;
  const auto found = greedy_from(problem, modes, never);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->joules, 10);
  EXPECT_EQ(found->decisions.page_in, Sets(5));
}

std::int64_t lean_peak(const Instance& instance, Semantics semantics, const SolveOptions& options = {}) {
  const Problem problem = make_problem({instance, test::ram(1000), semantics}, options);
  return lean_schedule(problem, never).peak;
}

TEST(LeanSchedule, GoesToTheFloorWhateverTheBudget) {
  for (const Semantics semantics : {Semantics::published, Semantics::staged, Semantics::device})
    EXPECT_EQ(lean_peak(test::ladder(), semantics), 50) << to_string(semantics);
}

TEST(LeanSchedule, PagingOnly) {
  SolveOptions options;
  options.rematerialization = false;
  EXPECT_EQ(lean_peak(test::ladder(), Semantics::published, options), 50);
  // Staged: what e needs arrives while d is computed, beside c: nothing is gained there.
  EXPECT_EQ(lean_peak(test::ladder(), Semantics::staged, options), 65);
}

TEST(LeanSchedule, NothingToDecide) {
  SolveOptions options;
  options.rematerialization = false;
  options.paging = false;
  EXPECT_EQ(lean_peak(test::ladder(), Semantics::device, options), 65);
}

}  // namespace
}  // namespace poet
