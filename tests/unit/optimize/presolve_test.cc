// What presolve() and reduced costs decide, by hand and against enumeration: no least cost is lost.

#include "poet/optimize/solvers/presolve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/random_instance.h"

namespace poet {
namespace {

using test::pick;
using test::Rng;

constexpr double kClose = 1e-7;

// Least cost of all points with whole numbers, infinite without one; each that keeps the rows is shown.
template <class Visit>
double enumerate(const Model& model, const Visit& visit) {
  double least = kInfinity;
  std::vector<double> x = model.lower;
  if (model.contradiction()) return least;
  for (;;) {
    if (violation(model, x) <= kClose) {
      least = std::min(least, cost_of(model, x.data()));
      visit(x);
    }
    std::size_t c = 0;
    for (; c < x.size(); ++c) {
      if (x[c] < model.upper[c]) {
        ++x[c];
        break;
      }
      x[c] = model.lower[c];
    }
    if (c == x.size()) return least;
  }
}

double least_cost(const Model& model) {
  return enumerate(model, [](const std::vector<double>&) {});
}

Model random_model(Rng& rng) {
  Model model;
  const int columns = pick(rng, 1, 6);
  for (int c = 0; c < columns; ++c) {
    const int lower = pick(rng, -1, 1);
    model.add_column(lower, lower + pick(rng, 0, 2), pick(rng, -3, 5), true);
  }
  for (int rows = pick(rng, 0, 6); rows > 0; --rows) {
    Linear sum;
    for (int c = 0; c < columns; ++c)
      if (pick(rng, 0, 1) == 1) sum.add(pick(rng, -3, 3), Term::of(c));
    const int lower = pick(rng, -6, 3);
    switch (pick(rng, 0, 2)) {
      case 0:
        model.at_least(sum, lower);
        break;
      case 1:
        model.at_most(sum, lower + 3);
        break;
      default:
        model.add_row(sum, lower, lower + pick(rng, 0, 4));
    }
  }
  return model;
}

TEST(Presolve, FollowsImplicationsToTheEnd) {
  // a is needed, a needs b, b leaves no room for c; d costs and nobody asks for it.
  Model model;
  const Term a = Term::of(model.add_binary(5));
  const Term b = Term::of(model.add_binary(3));
  const Term c = Term::of(model.add_binary(-2));
  model.add_binary(1);
  model.at_least(Linear().add(1, a), 1);
  model.at_most(Linear().add(1, a).add(-1, b), 0);
  model.at_most(Linear().add(2, b).add(2, c), 3);
  const Presolved small = presolve(model);
  ASSERT_FALSE(small.infeasible);
  EXPECT_EQ(small.model.columns(), 0);
  EXPECT_EQ(small.model.rows(), 0);
  EXPECT_EQ(small.model.cost_constant, 8);
  EXPECT_EQ(restored(small, {}), (std::vector<double>{1, 1, 0, 0}));
}

TEST(Presolve, KeepsWhatIsOpen) {
  Model model;
  model.add_column(2, 2, 7, true);
  const Term x = Term::of(model.add_binary(-60));
  const Term y = Term::of(model.add_column(0, kInfinity, -1, false));
  model.at_most(Linear().add(10, x).add(1, y).add(1, Term::of(0)), 12);
  const Presolved small = presolve(model);
  ASSERT_EQ(small.columns, (std::vector<int>{1, 2}));
  ASSERT_EQ(small.model.rows(), 1);
  EXPECT_EQ(small.model.row_upper[0], 10);
  EXPECT_EQ(small.model.cost_constant, 14);
  EXPECT_EQ(restored(small, {0, 10}), (std::vector<double>{2, 0, 10}));
}

TEST(Presolve, FindsContradictions) {
  Model model;
  const Term x = Term::of(model.add_binary(1));
  const Term y = Term::of(model.add_binary(1));
  model.at_least(Linear().add(1, x).add(1, y), 2);
  model.at_most(Linear().add(3, x).add(2, y), 4);
  EXPECT_TRUE(presolve(model).infeasible);
}

TEST(Presolve, EndsWhereBoundsCreep) {
  Model model;
  const Term x = Term::of(model.add_column(0, kInfinity, 1, true));
  const Term y = Term::of(model.add_column(0, kInfinity, 1, true));
  model.at_most(Linear().add(1, x).add(-1, y), -1);
  model.at_most(Linear().add(1, y).add(-1, x), -1);
  EXPECT_FALSE(presolve(model).infeasible);
}

// What is decided counts as the rest does: for the cutoff, and for the gap.
TEST(Presolve, OfASolveKeepsItsContract) {
  Model model;
  const Term x = Term::of(model.add_binary(5));
  model.at_least(Linear().add(1, x), 1);
  MipOptions options;
  options.cutoff = 3;
  EXPECT_EQ(solve_mip(model, options).status, MipStatus::infeasible);
  options.cutoff = 6;
  MipResult result = solve_mip(model, options);
  ASSERT_EQ(result.status, MipStatus::optimal);
  EXPECT_EQ(result.objective, 5);
  EXPECT_EQ(result.bound, 5);
  EXPECT_EQ(result.x, std::vector<double>{1});

  const Term y = Term::of(model.add_binary(-2));
  const Term z = Term::of(model.add_binary(-3));
  model.at_most(Linear().add(2, y).add(2, z).add(1, x), 4);
  result = solve_mip(model, {});
  ASSERT_EQ(result.status, MipStatus::optimal);
  EXPECT_NEAR(result.objective, 2, kClose);
  EXPECT_NEAR(result.bound, 2, kClose);
  EXPECT_EQ(result.x, (std::vector<double>{1, 0, 1}));
}

TEST(Presolve, LosesNoLeastCost) {
  Rng rng(1);
  int smaller = 0;
  int infeasible = 0;
  for (int i = 0; i < 5'000; ++i) {
    const Model model = random_model(rng);
    const double least = least_cost(model);
    const Presolved small = presolve(model);
    if (small.infeasible) {
      ++infeasible;
      ASSERT_EQ(least, kInfinity) << i;
      continue;
    }
    smaller += small.model.columns() < model.columns();
    const double of_small = enumerate(small.model, [&](const std::vector<double>& x) {
      const std::vector<double> point = restored(small, x);
      ASSERT_LE(violation(model, point), kClose) << i;
      ASSERT_NEAR(cost_of(model, point.data()), cost_of(small.model, x.data()), kClose) << i;
    });
    if (least == kInfinity)
      ASSERT_EQ(of_small, kInfinity) << i;
    else
      ASSERT_NEAR(of_small, least, kClose) << i;
  }
  EXPECT_GT(smaller, 1'500);
  EXPECT_GT(infeasible, 200);
}

TEST(ReducedCosts, FixNothingThatIsBelowTheTarget) {
  Rng rng(2);
  int fixed_low = 0;
  int fixed_high = 0;
  for (int i = 0; i < 300; ++i) {
    const Model model = random_model(rng);
    const LpResult relaxation = solve_lp(model, 10);
    if (relaxation.status != LpStatus::optimal) continue;
    const double target = relaxation.objective + 0.5 * pick(rng, 1, 6);
    Model decided = model;
    (void)fix_by_reduced_costs(decided, relaxation, target);
    fixed_low += decided.upper != model.upper;
    fixed_high += decided.lower != model.lower;
    (void)enumerate(model, [&](const std::vector<double>& x) {
      if (cost_of(model, x.data()) < target - kClose) {
        ASSERT_LE(violation(decided, x), kClose) << i;
      }
    });
  }
  EXPECT_GT(fixed_low, 20);
  EXPECT_GT(fixed_high, 20);
}

}  // namespace
}  // namespace poet
