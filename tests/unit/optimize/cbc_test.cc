// The solver behind its two functions, on models with answers known by hand or by enumeration.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "poet/optimize/solvers/cbc.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

using Lp = LpStatus;
using Mip = MipStatus;

constexpr double kTolerance = 1e-7;

// Worth 60, 100 and 120 at weights 10, 20 and 30; the sack holds 50. Best: the last two, 220. Fractions: all
// of the first two and 2/3 of the last, 240.
Model knapsack() {
  Model model;
  Linear weight;
  weight.add(10, Term::of(model.add_binary(-60)));
  weight.add(20, Term::of(model.add_binary(-100)));
  weight.add(30, Term::of(model.add_binary(-120)));
  model.at_most(weight, 50);
  return model;
}

/// Of two windows, from the random problem with the seed 72362: its knapsack covers, beside probing, cut off
/// the optimum.
Model windows_of_a_random_problem() {
  using Terms = std::vector<std::pair<int, double>>;
  constexpr double kBudget = 198;
  Model model;
  for (const double cost : {0, 0, 0, 0, 0, 24, 42, 12, 20}) model.add_binary(cost);
  for (int i = 0; i < 2; ++i) model.add_column(0, kInfinity, 0, false);
  const auto sum_of = [](const Terms& terms, double unit = 1) {
    Linear sum;
    for (const auto& [column, factor] : terms) sum.add(factor / unit, Term::of(column));
    return sum;
  };
  model.at_least(sum_of({{0, 1}, {5, 1}}), 1);
  model.at_least(sum_of({{2, 1}, {6, 1}}), 1);
  model.at_least(sum_of({{4, 1}, {8, 1}}), 1);
  for (const Terms& terms : {Terms{{0, -1}, {5, -1}, {6, 1}}, Terms{{0, -1}, {5, -1}, {7, 1}},
                             Terms{{1, -1}, {6, -1}, {7, 1}}, Terms{{3, -1}, {7, -1}, {8, 1}}})
    model.at_most(sum_of(terms), 0);
  model.at_most(sum_of({{0, 11}, {1, 11}, {2, 77}}, kBudget), 83 / kBudget);
  model.at_most(sum_of({{0, 1}, {1, 1}, {2, 7}}), 7);
  model.at_most(sum_of({{5, 3}, {6, 3}, {7, 5}, {8, 2}, {9, -24}, {10, 24}}, 24), 0);
  model.at_most(sum_of({{9, -1}, {10, 1}}), 11.0 / 24);
  model.at_least(sum_of({{2, -77}, {4, -55}, {5, -88}, {6, 77}, {8, 55}}, kBudget), -1);
  return model;
}

void expect_x(const std::vector<double>& x, const std::vector<double>& expected) {
  ASSERT_EQ(x.size(), expected.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], kTolerance) << i;
}

TEST(Lp, FindsTheOptimumAndReducedCosts) {
  const LpResult lp = solve_lp(knapsack(), 10);
  ASSERT_EQ(lp.status, Lp::optimal);
  EXPECT_NEAR(lp.objective, -240, kTolerance);
  expect_x(lp.x, {1, 1, 2.0 / 3});
  // A unit of weight is worth 120 / 30 = 4: the others are 60 - 40 and 100 - 80 ahead of it.
  expect_x(lp.reduced_costs, {-20, -20, 0});
}

TEST(Lp, AsksForCuts) {
  const Model model = knapsack();
  LpOptions options;
  // All three weigh 60. Without all three, the last two are best.
  options.cuts = [](const std::vector<double>& x) {
    std::vector<Linear> cuts;
    if (x[0] + x[1] + x[2] <= 2 + kTolerance) return cuts;
    Linear& cut = cuts.emplace_back();
    cut.add(3, Term::fixed(1));
    for (int column = 0; column < 3; ++column) {
      cut.add(-0.5, Term::of(column));
      cut.add(-0.5, Term::of(column));  // repeated columns are summed
    }
    return cuts;
  };
  const LpResult lp = solve_lp(model, options);
  ASSERT_EQ(lp.status, Lp::optimal);
  EXPECT_NEAR(lp.objective, -220, kTolerance);
  expect_x(lp.x, {0, 1, 1});
  ASSERT_EQ(lp.cuts.size(), 1);
  EXPECT_EQ(lp.cuts[0].constant(), 3);
  EXPECT_EQ(lp.cuts[0].terms().size(), 6);
}

TEST(Lp, IsInfeasibleWhereACutSaysSo) {
  const Model model = knapsack();
  LpOptions options;
  options.cuts = [](const std::vector<double>& x) {
    std::vector<Linear> cuts(1);
    cuts[0].add(x[0], Term::of(0));  // no x is at most 1 and, times 1/2, at least 1
    cuts[0].add(-0.5, Term::fixed(1));
    return cuts;
  };
  EXPECT_EQ(solve_lp(model, options).status, Lp::infeasible);
}

TEST(Lp, CountsTheConstant) {
  Model model = knapsack();
  model.cost_constant = 1000;
  EXPECT_NEAR(solve_lp(model, 10).objective, 760, kTolerance);
  EXPECT_NEAR(solve_mip(model, {}).objective, 780, kTolerance);
  EXPECT_NEAR(solve_mip(model, {}).bound, 780, kTolerance);
}

TEST(Lp, RangesAndEqualities) {
  // min x + y with 2 <= x + 2 y <= 3 and x - y = 1: x = 1 + y, 1 + 3 y >= 2, y = 1/3, x = 4/3.
  Model model;
  const Term x = Term::of(model.add_column(-kInfinity, kInfinity, 1, false));
  const Term y = Term::of(model.add_column(-kInfinity, kInfinity, 1, false));
  model.add_row(Linear().add(1, x).add(2, y), 2, 3);
  model.add_row(Linear().add(1, x).add(-1, y), 1, 1);
  const LpResult lp = solve_lp(model, 10);
  ASSERT_EQ(lp.status, Lp::optimal);
  expect_x(lp.x, {4.0 / 3, 1.0 / 3});
  EXPECT_NEAR(lp.objective, 5.0 / 3, kTolerance);
}

TEST(Lp, SaysInfeasible) {
  Model model;
  const Term x = Term::of(model.add_binary(1));
  const Term y = Term::of(model.add_binary(1));
  model.at_least(Linear().add(1, x).add(1, y), 2.5);
  EXPECT_EQ(solve_lp(model, 10).status, Lp::infeasible);
}

TEST(Lp, UnboundedIsNeitherOptimalNorInfeasible) {
  Model model;
  const Term x = Term::of(model.add_column(0, kInfinity, -1, false));
  const Term y = Term::of(model.add_column(0, kInfinity, 0, false));
  model.at_most(Linear().add(1, x).add(-1, y), 1);
  EXPECT_EQ(solve_lp(model, 10).status, Lp::stopped);
}

TEST(Lp, AContradictionIsInfeasible) {
  Model model = knapsack();
  model.at_least(Linear(), 1);
  EXPECT_EQ(solve_lp(model, 10).status, Lp::infeasible);
  EXPECT_EQ(solve_mip(model, {}).status, Mip::infeasible);
}

TEST(Mip, WithoutHeuristicsCoversCutOffNoOptimum) {
  MipOptions options;
  options.heuristics = false;
  const MipResult mip = solve_mip(windows_of_a_random_problem(), options);
  ASSERT_EQ(mip.status, Mip::optimal);
  EXPECT_NEAR(mip.objective, 42, kTolerance);
  EXPECT_LE(mip.bound, 42 + kTolerance);
}

TEST(Mip, Knapsack) {
  const MipResult mip = solve_mip(knapsack(), {});
  ASSERT_EQ(mip.status, Mip::optimal);
  EXPECT_NEAR(mip.objective, -220, kTolerance);
  EXPECT_NEAR(mip.bound, -220, kTolerance);
  expect_x(mip.x, {0, 1, 1});
}

TEST(Mip, IntegersKeepTheirBounds) {
  // max 3 x + 2 y + z with x in [-3, 2], y in [0, 10], both integer, z in [0, 1.5]; 2 x + 3 y + z <= 13.5.
  // x = 2 leaves 9.5. y = 3: 9, z = 0.5 -> 6 + 6 + 0.5 = 12.5; y = 2: 6, z = 1.5 -> 6 + 4 + 1.5 = 11.5.
  Model model;
  const Term x = Term::of(model.add_column(-3, 2, -3, true));
  const Term y = Term::of(model.add_column(0, 10, -2, true));
  const Term z = Term::of(model.add_column(0, 1.5, -1, false));
  model.at_most(Linear().add(2, x).add(3, y).add(1, z), 13.5);
  const MipResult most = solve_mip(model, {});
  ASSERT_EQ(most.status, Mip::optimal);
  EXPECT_NEAR(most.objective, -12.5, kTolerance);
  expect_x(most.x, {2, 3, 0.5});
  // And the least: every column at its lower bound.
  for (double& cost : model.cost) cost = -cost;
  const MipResult least = solve_mip(model, {});
  ASSERT_EQ(least.status, Mip::optimal);
  EXPECT_NEAR(least.objective, -9, kTolerance);
  expect_x(least.x, {-3, 0, 0});
}

TEST(Mip, InfeasibleForIntegersOnly) {
  // 2 x + 2 y = 3 has the solution x = y = 3/4, and none in integers.
  Model model;
  const Term x = Term::of(model.add_binary(1));
  const Term y = Term::of(model.add_binary(1));
  model.add_row(Linear().add(2, x).add(2, y), 3, 3);
  EXPECT_EQ(solve_lp(model, 10).status, Lp::optimal);
  const MipResult mip = solve_mip(model, {});
  EXPECT_EQ(mip.status, Mip::infeasible);
  EXPECT_TRUE(mip.x.empty());
}

TEST(Mip, CutoffLeavesNothingAtTheOptimum) {
  MipOptions options;
  options.cutoff = -221;  // below the optimum
  const MipResult none = solve_mip(knapsack(), options);
  EXPECT_EQ(none.status, Mip::infeasible);
  EXPECT_TRUE(none.x.empty());
  options.cutoff = -219;
  const MipResult best = solve_mip(knapsack(), options);
  EXPECT_EQ(best.status, Mip::optimal);
  EXPECT_NEAR(best.objective, -220, kTolerance);
}

TEST(Mip, CutoffCountsTheConstant) {
  Model model = knapsack();
  model.cost_constant = 1000;  // the optimum is 780
  MipOptions options;
  options.cutoff = 779;
  EXPECT_EQ(solve_mip(model, options).status, Mip::infeasible);
  options.cutoff = 781;
  EXPECT_EQ(solve_mip(model, options).status, Mip::optimal);
}

// A model without continuous escape that takes some search: items of like worth, two sacks.
Model two_sacks(test::Rng& rng, int items) {
  Model model;
  Linear first, second;
  for (int i = 0; i < items; ++i) {
    const int weight = test::pick(rng, 30, 60);
    const int volume = test::pick(rng, 30, 60);
    const Term x = Term::of(model.add_binary(-(weight + volume + test::pick(rng, 0, 4))));
    first.add(weight, x);
    second.add(volume, x);
  }
  model.at_most(first, 15 * items);
  model.at_most(second, 15 * items);
  return model;
}

TEST(Mip, AStartIsTakenOver) {
  test::Rng rng(3);
  const Model model = two_sacks(rng, 30);
  const MipResult best = solve_mip(model, {});
  ASSERT_EQ(best.status, Mip::optimal);
  MipOptions options;
  options.node_limit = 0;
  for (int c = 0; c < model.columns(); ++c)
    options.start.emplace_back(c, best.x[static_cast<std::size_t>(c)] > 0.5 ? 1.0 : 0.0);
  const MipResult started = solve_mip(model, options);
  EXPECT_NEAR(started.objective, best.objective, 1e-6);
  EXPECT_LE(started.bound, best.objective + 1e-6);
  EXPECT_EQ(started.x.size(), best.x.size());
}

TEST(Mip, AStartThatBreaksARowDoesNoHarm) {
  MipOptions options;
  options.start = {{0, 1}, {1, 1}, {2, 1}};  // weighs 60
  const MipResult mip = solve_mip(knapsack(), options);
  ASSERT_EQ(mip.status, Mip::optimal);
  EXPECT_NEAR(mip.objective, -220, kTolerance);
}

TEST(Mip, GapAllowsLess) {
  test::Rng rng(4);
  const Model model = two_sacks(rng, 30);
  const double best = solve_mip(model, {}).objective;
  MipOptions options;
  options.relative_gap = 0.1;
  const MipResult mip = solve_mip(model, options);
  EXPECT_NE(mip.status, Mip::infeasible);
  EXPECT_LE(mip.bound, best + 1e-6);  // still a bound
  EXPECT_GE(mip.objective, best - 1e-6);
  EXPECT_LE(mip.objective, best + 0.1 * std::abs(best) + 1e-6);
}

TEST(Mip, StoppingIsNotInfeasibility) {
  test::Rng rng(5);
  const Model model = two_sacks(rng, 40);
  const double best = solve_mip(model, {}).objective;
  MipOptions options;
  int calls = 0;
  options.keep_going = [&calls](double objective, double bound) {
    EXPECT_LE(bound, objective + 1e-6);
    return ++calls < 2;
  };
  const MipResult mip = solve_mip(model, options);
  EXPECT_GE(calls, 2);
  EXPECT_TRUE(mip.status == Mip::feasible || mip.status == Mip::unknown);
  EXPECT_LE(mip.bound, best + 1e-6);
}

// Market split: equations with a solution by construction that take a tree search hours to find.
TEST(Mip, RunningOutOfTimeIsNotInfeasibility) {
  test::Rng rng(6);
  Model model;
  std::vector<Term> x;
  for (int c = 0; c < 40; ++c) x.push_back(Term::of(model.add_binary(0)));
  for (int r = 0; r < 5; ++r) {
    Linear sum;
    int right = 0;
    for (std::size_t c = 0; c < x.size(); ++c) {
      const int coefficient = test::pick(rng, 0, 99);
      sum.add(coefficient, x[c]);
      if (c % 2 == 0) right += coefficient;
    }
    model.add_row(sum, right, right);
  }
  MipOptions options;
  options.time_limit_seconds = 0.3;
  const MipResult mip = solve_mip(model, options);
  EXPECT_NE(mip.status, Mip::infeasible);
  EXPECT_TRUE(mip.bound <= 1e-6) << mip.bound;  // the solution costs nothing
}

// What was left, made smaller row by row, of a model on which Cbc's probing ended in an assertion of Clp:
// nothing beats the first solution, and the bounds that said so were handed on.
TEST(Mip, ProvenAtTheRootByCrossedBounds) {
  Model model;
  for (int c = 0; c < 23; ++c) model.add_binary(0);
  model.cost[2] = 1;
  model.cost[3] = 10;
  model.cost[4] = model.cost[6] = 10000.0 / 23;
  model.cost[5] = 1;
  struct Row {
    std::vector<std::pair<double, int>> terms;
    double most;
  };
  const Row rows[] = {
      {{{1, 0}, {-1, 11}}, 0},           {{{1, 1}, {-1, 12}}, 0},           {{{1, 4}, {-1, 14}}, 0},
      {{{1, 6}, {-1, 5}, {-1, 15}}, 0},  {{{1, 8}, {-1, 16}}, 0},           {{{1, 7}, {-1, 21}}, 0},
      {{{1, 9}, {-1, 19}}, 0},           {{{-1, 6}, {-1, 17}}, -1},         {{{1, 11}, {-1, 10}}, 0},
      {{{1, 14}, {-1, 13}}, 0},          {{{1, 15}, {-1, 14}}, 0},          {{{1, 17}, {-1, 4}}, 0},
      {{{-1, 18}, {-1, 3}}, -1},         {{{1, 10}, {-1, 11}}, 0},          {{{1, 11}, {-1, 0}, {-1, 12}}, 0},
      {{{1, 12}, {-1, 1}, {-1, 13}}, 0}, {{{1, 16}, {-1, 8}}, 0},           {{{-1, 2}, {-1, 18}}, -1},
      {{{1, 19}, {-1, 9}}, 0},           {{{1, 21}, {-1, 7}, {-1, 22}}, 0}, {{{1, 22}, {-1, 9}}, 0},
      {{{3, 13}, {5, 18}}, 6.5},         {{{1, 14}, {4, 20}}, 4},
  };
  for (const Row& row : rows) {
    Linear sum;
    for (const auto& [coefficient, column] : row.terms) sum.add(coefficient, Term::of(column));
    model.at_most(sum, row.most);
  }
  // x6 or x17, and x17 needs x4. x6 needs x5 or x15; x4 and x15 need x14, that x13, and x13 excludes x18:
  // then x2 and x3 must be. Cheapest: x6 and x5, with x18.
  const MipResult mip = solve_mip(model, {});
  ASSERT_EQ(mip.status, Mip::optimal);
  EXPECT_NEAR(mip.objective, 10000.0 / 23 + 1, kTolerance);
}

TEST(Mip, IsDeterministic) {
  test::Rng rng(7);
  const Model model = two_sacks(rng, 30);
  const MipResult once = solve_mip(model, {});
  const MipResult again = solve_mip(model, {});
  EXPECT_EQ(once.x, again.x);
  EXPECT_EQ(once.nodes, again.nodes);
}

// Random models of 3 to 9 binaries against all their points.
TEST(Mip, IsExhaustiveOnSmallModels) {
  test::Rng rng(8);
  int infeasible = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    const int columns = test::pick(rng, 3, 9);
    const int rows = test::pick(rng, 1, 5);
    Model model;
    std::vector<Linear> sums(static_cast<std::size_t>(rows));
    std::vector<std::vector<int>> weights(static_cast<std::size_t>(rows));
    std::vector<int> least(static_cast<std::size_t>(rows)), most(static_cast<std::size_t>(rows));
    for (int c = 0; c < columns; ++c) {
      const Term x = Term::of(model.add_binary(test::pick(rng, -9, 9)));
      for (std::size_t r = 0; r < sums.size(); ++r) {
        weights[r].push_back(test::chance(rng, 0.7) ? test::pick(rng, -9, 9) : 0);
        sums[r].add(weights[r].back(), x);
      }
    }
    for (std::size_t r = 0; r < sums.size(); ++r) {
      least[r] = test::pick(rng, -20, 12);
      most[r] = least[r] + test::pick(rng, 0, 12);
      model.add_row(sums[r], least[r], most[r]);
    }
    double best = kInfinity;
    for (unsigned point = 0; point < 1U << columns; ++point) {
      double cost = 0;
      bool holds = true;
      for (int c = 0; c < columns; ++c)
        if ((point >> c & 1U) != 0) cost += model.cost[static_cast<std::size_t>(c)];
      for (std::size_t r = 0; r < sums.size(); ++r) {
        int sum = 0;
        for (int c = 0; c < columns; ++c)
          if ((point >> c & 1U) != 0) sum += weights[r][static_cast<std::size_t>(c)];
        holds = holds && least[r] <= sum && sum <= most[r];
      }
      if (holds) best = std::min(best, cost);
    }
    const MipResult mip = solve_mip(model, {});
    if (best == kInfinity) {
      EXPECT_EQ(mip.status, Mip::infeasible);
      ++infeasible;
    } else {
      EXPECT_EQ(mip.status, Mip::optimal);
      EXPECT_NEAR(mip.objective, best, 1e-6);
      EXPECT_NEAR(mip.bound, best, 1e-6);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(infeasible, 20);
  EXPECT_LT(infeasible, 280);
}

TEST(Cbc, SaysItsVersion) { EXPECT_EQ(cbc_version().substr(0, 6), "CBC 2."); }

}  // namespace
}  // namespace poet
