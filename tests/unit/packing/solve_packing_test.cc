// Packings for other compilers worked out by hand: verdicts, banks, gaps.

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "poet/base/error.h"
#include "poet/packing/problem.h"

namespace poet {
namespace {

constexpr std::int64_t kPackEffort = 100'000'000;

RequestedBuffer requested(std::int64_t lower, std::int64_t upper, std::int64_t bytes) {
  return {.id = "b", .lower = lower, .upper = upper, .bytes = bytes, .place = "buffers[0]"};
}

PackSolution solved(const PackProblem& problem) { return solve_packing(problem, kPackEffort, {}); }

TEST(SolvePacking, SaysWhatIsProven) {
  // Two of 4 meet, then one of 4 and one of 5: 9.
  PackProblem problem{{requested(0, 3, 4), requested(2, 6, 4), requested(5, 8, 5)}, {}};
  EXPECT_EQ(solved(problem).verdict, PackVerdict::optimal);
  EXPECT_EQ(solved(problem).least_height, 9);
  problem.capacity = 12;
  PackSolution solution = solved(problem);
  EXPECT_LE(solution.heights.front(), 12);
  problem.capacity = 8;
  solution = solved(problem);
  EXPECT_EQ(solution.verdict, PackVerdict::infeasible);
  EXPECT_TRUE(solution.buffers.empty());
  EXPECT_EQ(solution.lower_bound, 9);
  EXPECT_EQ(solved({}).verdict, PackVerdict::optimal);
}

TEST(SolvePacking, TakesCapacitiesOfNothing) {
  PackProblem problem{{requested(0, 3, 0)}, {}, 0};
  EXPECT_EQ(solved(problem).verdict, PackVerdict::optimal);
  problem.buffers.push_back(requested(0, 3, 1));
  EXPECT_EQ(solved(problem).verdict, PackVerdict::infeasible);
  EXPECT_EQ(solved({problem.buffers, {{"a", 0}, {"b", 0}}}).verdict, PackVerdict::infeasible);
  EXPECT_EQ(solved({problem.buffers, {{"a", 0}, {"b", 1}}}).verdict, PackVerdict::feasible);
}

TEST(SolvePacking, StopsUndecided) {
  // As kMoreThanLoad of pack_test.cc: 8 are alive, 9 are needed, which takes a search.
  const PackProblem problem{{requested(0, 2, 4), requested(1, 4, 4), requested(2, 5, 2), requested(2, 6, 2),
                             requested(4, 6, 2), requested(5, 7, 3), requested(6, 7, 4)},
                            {},
                            8};
  EXPECT_EQ(solved(problem).verdict, PackVerdict::infeasible);
  EXPECT_EQ(solve_packing(problem, kPackEffort, Stop(0)).verdict, PackVerdict::unknown);
}

TEST(SolvePacking, UsesGaps) {
  PackProblem problem{{requested(0, 9, 4), requested(3, 5, 4)}, {}};
  EXPECT_EQ(solved(problem).least_height, 8);
  problem.buffers[0].gaps = {{2, 5}};
  const PackSolution solution = solved(problem);
  EXPECT_EQ(solution.least_height, 4);
  EXPECT_EQ(solution.buffers[0].offset, 0);
  EXPECT_EQ(solution.buffers[1].offset, 0);
}

TEST(SolvePacking, ChoosesBanks) {
  // 6 and 4 in one bank, 5 and 3 in the other: no other choice fits.
  PackProblem problem{{requested(0, 1, 6), requested(0, 1, 5), requested(0, 1, 4), requested(0, 1, 3)},
                      {{"a", 10}, {"b", 8}}};
  PackSolution solution = solved(problem);
  ASSERT_EQ(solution.verdict, PackVerdict::feasible);
  EXPECT_EQ(solution.buffers[0].bank, 0U);
  EXPECT_EQ(solution.buffers[1].bank, 1U);
  EXPECT_EQ(solution.buffers[2].bank, 0U);
  EXPECT_EQ(solution.buffers[3].bank, 1U);
  EXPECT_EQ(solution.heights, (std::vector<std::int64_t>{10, 8}));
  problem.buffers[3].bank = "a";
  EXPECT_EQ(solved(problem).verdict, PackVerdict::infeasible);
  problem = {{requested(0, 1, 9)}, {{"a", 8}, {"b", 8}}};
  EXPECT_EQ(solved(problem).verdict, PackVerdict::infeasible);  // across both it would fit
}

TEST(SolvePacking, FixesOffsetsInTheirBank) {
  PackProblem problem{{requested(0, 4, 4), requested(1, 3, 8)}, {{"a", 8}, {"b", 12}}};
  problem.buffers[0].bank = "b";
  problem.buffers[0].offset = 4;
  const PackSolution solution = solved(problem);
  ASSERT_EQ(solution.verdict, PackVerdict::feasible);
  EXPECT_EQ(solution.buffers[0].bank, 1U);
  EXPECT_EQ(solution.buffers[0].offset, 4);
  EXPECT_EQ(solution.buffers[1].bank, 0U);
}

TEST(SolvePacking, TakesNoRoomForBuffersOfSizeZero) {
  // Fixed beyond the capacity or the bank, in which they are nevertheless.
  PackProblem problem{{requested(0, 4, 5), requested(0, 4, 0)}, {}, 10};
  problem.buffers[1].offset = 50;
  EXPECT_EQ(solved(problem).heights, (std::vector<std::int64_t>{5}));
  problem.capacity.reset();
  problem.banks = {{"a", 10}, {"b", 100}};
  problem.buffers[1].bank = "a";
  const PackSolution solution = solved(problem);
  ASSERT_EQ(solution.verdict, PackVerdict::feasible);
  EXPECT_EQ(solution.heights, (std::vector<std::int64_t>{5, 0}));
  EXPECT_EQ(solution.buffers[1].bank, 0U);
  EXPECT_EQ(solution.buffers[1].offset, 50);
}

std::string refusal_of(const PackProblem& problem) {
  try {
    check(problem);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SolvePacking, RefusesFixedBuffersThatOverlapInTheirBank) {
  // No bank is the one bank that there is.
  PackProblem problem{{requested(0, 4, 4), requested(3, 6, 4)}, {{"a", 20}}};
  problem.buffers[0].offset = 0;
  problem.buffers[0].bank = "a";
  problem.buffers[1].offset = 2;
  EXPECT_EQ(refusal_of(problem), "buffers[0]: its fixed offset 2 overlaps that of \"b\" (buffers[0])");
  problem.buffers[0].id = "";
  EXPECT_EQ(refusal_of(problem), "buffers[0]: its fixed offset 2 overlaps that of buffers[0]");
  problem.buffers[1].offset = 4;
  EXPECT_EQ(solved(problem).verdict, PackVerdict::feasible);
  problem.banks.push_back({"b", 20});
  problem.buffers[1].offset = 2;
  problem.buffers[1].bank = "b";
  EXPECT_EQ(refusal_of(problem), "");
  problem.buffers[0].bank = "b";
  EXPECT_EQ(refusal_of(problem), "buffers[0]: its fixed offset 2 overlaps that of buffers[0]");
}

TEST(SolvePacking, ChecksManyFixedBuffers) {
  // All pairs would be 8e8: one after the other at one offset, and all at one time at offsets of their own.
  constexpr std::int64_t kCount = 20'000;
  PackProblem problem;
  for (std::int64_t i = 0; i < kCount; ++i) {
    problem.buffers.push_back(requested(i, i + 1, 4));
    problem.buffers.back().offset = 0;
    problem.buffers.push_back(requested(0, kCount, 4));
    problem.buffers.back().offset = 4 * (i + 1);
  }
  EXPECT_EQ(refusal_of(problem), "");
  problem.buffers.back().offset = 4 * kCount - 1;
  EXPECT_NE(refusal_of(problem).find("overlaps"), std::string::npos);
}

TEST(SolvePacking, EndsByItselfWhereFirstFitAloneDecides) {
  // As in StopsUndecided, one after the other: 8 are alive, so that the bound is never reached.
  PackProblem problem;
  for (std::int64_t t = 0; t < 360 * 7; t += 7)
    for (const auto& [lower, upper, bytes] : {std::array<std::int64_t, 3>{0, 2, 4},
                                              {1, 4, 4},
                                              {2, 5, 2},
                                              {2, 6, 2},
                                              {4, 6, 2},
                                              {5, 7, 3},
                                              {6, 7, 4}})
      problem.buffers.push_back(requested(t + lower, t + upper, bytes));
  const PackSolution solution = solve_packing(problem, std::int64_t{1} << 60, {});
  EXPECT_EQ(solution.verdict, PackVerdict::feasible);
  EXPECT_GE(solution.least_height, 9);
  EXPECT_EQ(solution.lower_bound, 8);
  EXPECT_EQ(solution.nodes, 0);
}

TEST(SolvePacking, RefusesBanksThatAreNot) {
  PackProblem problem{{requested(0, 4, 4)}, {{"a", 8}, {"b", 12}}};
  problem.buffers[0].bank = "c";
  EXPECT_EQ(refusal_of(problem), "buffers[0]: there is no bank \"c\"");
  problem.buffers[0].bank = "";
  problem.buffers[0].offset = 0;
  EXPECT_EQ(refusal_of(problem), "buffers[0]: a fixed offset needs a bank that it is in");
  problem.buffers[0].bank = "a";
  problem.buffers[0].offset = 5;
  EXPECT_EQ(refusal_of(problem), "buffers[0]: it ends at 9, beyond the 8 bytes of bank a");
  problem.banks = {{"a", std::int64_t{1} << 60}, {"b", 1}};
  EXPECT_EQ(refusal_of(problem), "bank b: banks must have from 0 to 2^60 bytes, all together");
  problem.banks.clear();
  EXPECT_EQ(refusal_of(problem), "buffers[0]: there is no bank \"a\"");
}

}  // namespace
}  // namespace poet
