// The coarse view of a schedule on a chain of five ops: its gaps, and the decisions that bridge them.

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "poet/optimize/problem/gaps.h"
#include "tests/support/ladder.h"

namespace poet {
namespace {

using Sets = std::vector<std::vector<int>>;
constexpr int kFirst = 0, kSecond = 1, kThird = 2, kFourth = 3, kFifth = 4;

Problem problem_of(const Instance& instance, Semantics semantics = Semantics::published,
                   const SolveOptions& options = {}) {
  return make_problem({instance, test::ram(1000), semantics}, options);
}

std::vector<std::tuple<int, int, int>> list(const Gaps& gaps) {
  std::vector<std::tuple<int, int, int>> all;
  for (const Gap& gap : gaps.all()) all.emplace_back(gap.value, gap.from, gap.to);
  return all;
}

// All kept but the gap of `value` that ends in op `to`.
std::vector<GapMode> with(const Gaps& gaps, std::vector<GapMode> modes, int value, int to, GapMode mode) {
  for (std::size_t g : gaps.of(value))
    if (gaps.all()[g].to == to) modes[g] = mode;
  return modes;
}

TEST(Gaps, GoFromProductionThroughFirstUsesToTheEnd) {
  const Problem problem = problem_of(test::ladder());
  const Gaps gaps(problem);
  EXPECT_EQ(list(gaps), (std::vector<std::tuple<int, int, int>>{{kFirst, 0, 1},
                                                                {kFirst, 1, 4},
                                                                {kFirst, 4, 5},
                                                                {kSecond, 1, 2},
                                                                {kSecond, 2, 4},
                                                                {kSecond, 4, 5},
                                                                {kThird, 2, 3},
                                                                {kThird, 3, 5},
                                                                {kFourth, 3, 4},
                                                                {kFourth, 4, 5},
                                                                {kFifth, 4, 5}}));
  EXPECT_EQ(gaps.of(kFirst), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(gaps.of(kFifth), (std::vector<std::size_t>{10}));
}

TEST(Gaps, OnlyThoseWithAnOpInBetweenCanBeEmptied) {
  const Problem problem = problem_of(test::ladder());
  const Gaps gaps(problem);
  for (const Gap& gap : gaps.all()) {
    const bool long_enough = gap.to == 4 && (gap.value == kFirst || gap.value == kSecond);
    EXPECT_TRUE(gaps.possible(gap, GapMode::keep));
    EXPECT_EQ(gaps.possible(gap, GapMode::recompute), long_enough) << gap.value << gap.from << gap.to;
    EXPECT_EQ(gaps.possible(gap, GapMode::page), long_enough) << gap.value << gap.from << gap.to;
  }
}

// A page-in happens a stage before the use, the page-out a stage before that, after the stage of production:
// op 3 may be the first user to page for what op 0 makes.
TEST(Gaps, PagingTakesTwoStages) {
  Graph graph;
  const ValueId a = test::add_node(graph, "a", {});
  test::add_node(graph, "b", {});
  const ValueId c = test::add_node(graph, "c", {a});
  const ValueId d = test::add_node(graph, "d", {a, c});
  test::add_node(graph, "e", {c, d});
  const Instance instance = test::instance_of(std::move(graph));
  const Problem problem = problem_of(instance);
  const Gaps gaps(problem);
  EXPECT_FALSE(gaps.possible({kFirst, 0, 2}, GapMode::page));  // in during stage 1, out during stage 1: no
  EXPECT_TRUE(gaps.possible({kFirst, 0, 2}, GapMode::recompute));
  EXPECT_TRUE(gaps.possible({kFirst, 0, 3}, GapMode::page));
  EXPECT_FALSE(gaps.possible({kThird, 2, 4}, GapMode::page));
  EXPECT_TRUE(gaps.possible({kThird, 2, 4}, GapMode::recompute));
}

TEST(Gaps, WhatTheProblemForbidsIsNotPossible) {
  SolveOptions options;
  options.paging = false;
  const Gap gap{kFirst, 1, 4};
  const Problem resident = problem_of(test::ladder(), Semantics::published, options);
  EXPECT_FALSE(Gaps(resident).possible(gap, GapMode::page));
  EXPECT_TRUE(Gaps(resident).possible(gap, GapMode::recompute));
  options.paging = true;
  options.rematerialization = false;
  const Problem once = problem_of(test::ladder(), Semantics::published, options);
  EXPECT_TRUE(Gaps(once).possible(gap, GapMode::page));
  EXPECT_FALSE(Gaps(once).possible(gap, GapMode::recompute));
}

TEST(Gaps, WithoutBytesThereAreNone) {
  Instance instance = test::ladder();
  instance.costs.values[ValueId(kSecond)].bytes = Bytes(0);
  const Problem problem = problem_of(instance);
  const Gaps gaps(problem);
  EXPECT_TRUE(gaps.of(kSecond).empty());
  EXPECT_EQ(gaps.all().size(), 8U);
}

TEST(GapDecisions, KeepAllTakesNone) {
  const Problem problem = problem_of(test::ladder());
  const Gaps gaps(problem);
  const Decisions d = gaps.decisions(gaps.keep_all());
  EXPECT_EQ(d.recompute, Sets(5));
  EXPECT_EQ(d.page_in, Sets(5));
  EXPECT_EQ(complete(problem, d).stage_peak, (std::vector<std::int64_t>{10, 30, 60, 65, 36}));
}

TEST(GapDecisions, RecomputeInTheStageOfTheUse) {
  const Problem problem = problem_of(test::ladder());
  const Gaps gaps(problem);
  const Decisions d = gaps.decisions(with(gaps, gaps.keep_all(), kFirst, 4, GapMode::recompute));
  EXPECT_EQ(d.recompute, (Sets{{}, {}, {}, {}, {kFirst}}));
  EXPECT_EQ(d.page_in, Sets(5));
  const Candidate candidate = complete(problem, d);
  EXPECT_EQ(candidate.stage_peak, (std::vector<std::int64_t>{10, 30, 50, 55, 36}));
  EXPECT_EQ(candidate.joules, 12);
  EXPECT_EQ(candidate.seconds, 6);
}

TEST(GapDecisions, PageInTheStageBeforeTheUse) {
  const Problem problem = problem_of(test::ladder());
  const Gaps gaps(problem);
  const Decisions d = gaps.decisions(with(gaps, gaps.keep_all(), kFirst, 4, GapMode::page));
  EXPECT_EQ(d.recompute, Sets(5));
  EXPECT_EQ(d.page_in, (Sets{{}, {}, {}, {kFirst}, {}}));
  const Candidate candidate = complete(problem, d);
  EXPECT_EQ(candidate.decisions.page_out, (Sets{{}, {kFirst}, {}, {}, {}}));
  // Published: a arrives when stage 4 starts.
  EXPECT_EQ(candidate.stage_peak, (std::vector<std::int64_t>{10, 30, 50, 55, 36}));
  EXPECT_EQ(candidate.joules, 17);  // 10 + 3 + 4
  EXPECT_EQ(candidate.bytes_written, 10);
  // Staged: it has its RAM during stage 3.
  const Problem staged = problem_of(test::ladder(), Semantics::staged);
  EXPECT_EQ(complete(staged, d).stage_peak, (std::vector<std::int64_t>{10, 30, 50, 65, 36}));
}

TEST(GapDecisions, OperandsComeTheWayTheirOwnGapSays) {
  const Problem problem = problem_of(test::ladder());
  const Gaps gaps(problem);
  const std::vector<GapMode> b_recomputed = with(gaps, gaps.keep_all(), kSecond, 4, GapMode::recompute);
  EXPECT_EQ(gaps.decisions(b_recomputed).recompute[4], (std::vector<int>{kSecond}));  // a is kept
  const Decisions chain = gaps.decisions(with(gaps, b_recomputed, kFirst, 4, GapMode::recompute));
  EXPECT_EQ(chain.recompute[4], (std::vector<int>{kFirst, kSecond}));
  EXPECT_EQ(complete(problem, chain).stage_peak, (std::vector<std::int64_t>{10, 30, 50, 35, 36}));
  const Decisions mixed = gaps.decisions(with(gaps, b_recomputed, kFirst, 4, GapMode::page));
  EXPECT_EQ(mixed.recompute[4], (std::vector<int>{kSecond}));
  EXPECT_EQ(mixed.page_in[3], (std::vector<int>{kFirst}));
  EXPECT_EQ(complete(problem, mixed).joules, 10 + 2 + 7);
}

// After a's last first use only b's recomputation needs it: it is recomputed too, without being asked.
TEST(GapDecisions, OperandsWithoutFurtherUseAreRecomputed) {
  const Problem problem = problem_of(test::ladder_without_rail());
  const Gaps gaps(problem);
  const std::vector<GapMode> modes = with(gaps, gaps.keep_all(), kSecond, 4, GapMode::recompute);
  const Decisions d = gaps.decisions(modes);
  EXPECT_EQ(d.recompute, (Sets{{}, {}, {}, {}, {kFirst, kSecond}}));
  const Candidate candidate = complete(problem, d);
  // d 5, a 15, a b 35, then a goes and e comes: 26.
  EXPECT_EQ(candidate.stage_peak, (std::vector<std::int64_t>{10, 30, 50, 35, 35}));
  EXPECT_EQ(candidate.joules, 14);
  // Unless its last gap says that it is kept.
  const Decisions kept = gaps.decisions(with(gaps, modes, kFirst, 5, GapMode::keep));
  EXPECT_EQ(kept.recompute[4], (std::vector<int>{kSecond}));
  EXPECT_EQ(complete(problem, kept).stage_peak, (std::vector<std::int64_t>{10, 30, 60, 45, 35}));
}

TEST(GapDecisions, OperandsThatCannotBeRecomputedAreKept) {
  Instance instance = test::ladder_without_rail();
  instance.graph.ops[OpId(kFirst)].recomputable = false;
  const Problem problem = problem_of(instance);
  const Gaps gaps(problem);
  const Decisions d = gaps.decisions(with(gaps, gaps.keep_all(), kSecond, 4, GapMode::recompute));
  EXPECT_EQ(d.recompute[4], (std::vector<int>{kSecond}));
  EXPECT_EQ(complete(problem, d).retain[3], (std::vector<int>{kFirst, kThird}));
}

// One op makes both values: recomputing it for either brings both.
TEST(GapDecisions, ResultsOfOneOpReturnTogether) {
  const Problem problem = problem_of(test::twins());
  const Gaps gaps(problem);
  const int x = 0, y = 1;
  std::vector<GapMode> modes = with(gaps, gaps.keep_all(), x, 4, GapMode::recompute);
  modes = with(gaps, modes, y, 4, GapMode::recompute);
  EXPECT_EQ(gaps.decisions(modes).recompute, (Sets{{}, {}, {}, {}, {0}}));
}

}  // namespace
}  // namespace poet
