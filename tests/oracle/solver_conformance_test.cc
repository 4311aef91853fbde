// One suite for every solver: the embedded ones, and whichever programs on this machine can be asked through
// MPS and solution files. Each is held to its contract in solver.h: answers known by hand, by enumeration,
// and by exhaustive search over schedules; limits, interrupts, cutoff, start, and equal results of equal
// calls.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "poet/cost/instance_json.h"
#include "poet/optimize/milp/formulation.h"
#include "poet/optimize/solvers/solver.h"
#include "tests/support/effort.h"
#include "tests/support/exhaustive.h"
#include "tests/support/paths.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

using Mip = MipStatus;
using test::Rng;

constexpr double kTolerance = 1e-6;

struct Contestant {
  std::string name;
  Solver solver = Solver::cbc;
  std::string (*command)() = [] { return std::string(); };  // of Solver::file
  std::string needs;  // a shell command that succeeds where the program is installed
};

std::string script() { return (test::repository() / "tests/support/mps_milp.py").string(); }

/// A shell's condition: `python` has a SciPy that solves.
std::string has_scipy(const std::string& python) {
  return python + " -c 'import scipy.optimize; scipy.optimize.milp' 2>/dev/null";
}

std::string scipy_command() {
  static const bool on_path = std::system((has_scipy("python3") + " >/dev/null").c_str()) == 0;
  return fmt::format("{} '{}' {{mps}} {{solution}} {{seconds}}", on_path ? "python3" : "/usr/bin/python3",
                     script());
}

std::string cbc_command() {
  return "cbc {mps} sec {seconds} ratioGap 0 allowableGap 0 solve solution {solution} >/dev/null";
}

std::string glpsol_command() {
  return "glpsol --freemps {mps} --tmlim {seconds} --write {solution} >/dev/null";
}

// GoogleTest calls it for every test, in every process of this program: it looks for nothing itself.
std::vector<Contestant> candidates() {
  return {
      {.name = "cbc", .solver = Solver::cbc, .needs = "true"},
      {.name = "highs", .solver = Solver::highs, .needs = has_solver(Solver::highs) ? "true" : "false"},
      {"file_cbc", Solver::file, cbc_command, "command -v cbc"},
      {"file_glpsol", Solver::file, glpsol_command, "command -v glpsol"},
      {"file_scipy", Solver::file, scipy_command,
       has_scipy("python3") + " || " + has_scipy("/usr/bin/python3")},
  };
}

class SolverConformance : public testing::TestWithParam<Contestant> {
 protected:
  void SetUp() override {
    static std::map<std::string, bool> here;
    const auto [found, is_new] = here.try_emplace(GetParam().name);
    if (is_new) found->second = std::system(("{ " + GetParam().needs + "; } >/dev/null 2>&1").c_str()) == 0;
    if (!found->second) GTEST_SKIP() << GetParam().name << " is not on this machine";
  }
  // The solver proves optimality and infeasibility; a file's word is not taken for it.
  [[nodiscard]] static bool proves() { return GetParam().solver != Solver::file; }
  [[nodiscard]] static int rounds(int embedded, int by_file) {
    return proves() ? test::effort(embedded, 3) : test::effort(by_file, 4);
  }
  [[nodiscard]] static MipOptions options() {
    MipOptions options;
    options.solver = GetParam().solver;
    options.file.command = GetParam().command();
    return options;
  }
  static void expect_optimum(const Model& model, double objective) {
    const MipResult mip = solve_mip(model, options());
    EXPECT_EQ(mip.status, proves() ? Mip::optimal : Mip::feasible);
    ASSERT_FALSE(mip.x.empty());
    EXPECT_LE(violation(model, mip.x), 1e-6);
    const double slack = kTolerance * std::max(1.0, std::abs(objective));
    EXPECT_NEAR(mip.objective, objective, slack);
    if (proves()) {
      EXPECT_NEAR(mip.bound, objective, slack);
    }
    EXPECT_LE(mip.bound, objective + slack);
    EXPECT_FALSE(mip.solver_failed);
  }
  static void expect_infeasible(const Model& model) {
    const MipResult mip = solve_mip(model, options());
    EXPECT_EQ(mip.status, proves() ? Mip::infeasible : Mip::unknown);
    EXPECT_TRUE(mip.x.empty());
  }
};

// Worth 60, 100 and 120 at weights 10, 20 and 30; the sack holds 50. Best: the last two, 220.
Model knapsack() {
  Model model;
  Linear weight;
  weight.add(10, Term::of(model.add_binary(-60)));
  weight.add(20, Term::of(model.add_binary(-100)));
  weight.add(30, Term::of(model.add_binary(-120)));
  model.at_most(weight, 50);
  return model;
}

// Equations with a solution by construction (cost 0) that take a tree search hours to find.
Model market_split() {
  Rng rng(6);
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
  return model;
}

// Some search, with solutions of many qualities: items of like worth, two sacks.
Model two_sacks(int items) {
  Rng rng(3);
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

TEST_P(SolverConformance, Optimum) { expect_optimum(knapsack(), -220); }

TEST_P(SolverConformance, ConstantCounts) {
  Model model = knapsack();
  model.cost_constant = 1000.5;
  expect_optimum(model, 780.5);
}

TEST_P(SolverConformance, Infeasible) {
  // 2 x + 2 y = 3 has the solution x = y = 3/4, and none in integers.
  Model integers_only;
  integers_only.add_row(
      Linear().add(2, Term::of(integers_only.add_binary(1))).add(2, Term::of(integers_only.add_binary(1))), 3,
      3);
  expect_infeasible(integers_only);
  // x + y >= 2.5 has no solution at all.
  Model at_all;
  at_all.at_least(Linear().add(1, Term::of(at_all.add_binary(1))).add(1, Term::of(at_all.add_binary(1))),
                  2.5);
  expect_infeasible(at_all);
}

TEST_P(SolverConformance, UnboundedIsNeitherOptimalNorInfeasible) {
  Model model;
  const Term x = Term::of(model.add_column(0, kInfinity, -1, true));
  const Term y = Term::of(model.add_column(0, kInfinity, 0, false));
  model.at_most(Linear().add(1, x).add(-1, y), 1);
  const MipResult mip = solve_mip(model, options());
  EXPECT_NE(mip.status, Mip::optimal);
  EXPECT_NE(mip.status, Mip::infeasible);
  EXPECT_EQ(mip.bound, -kInfinity);
}

TEST_P(SolverConformance, EqualitiesRangesAndFreeColumns) {
  // min x + y + 0.1 k with 2 <= x + 2 y <= 3, x - y = k, k >= 1 integer; x, y free. y = (x + 2 y - k) / 3, so
  // x + y = (2 (x + 2 y) + k) / 3, least at x + 2 y = 2, k = 1: 5/3 + 0.1.
  Model model;
  const Term x = Term::of(model.add_column(-kInfinity, kInfinity, 1, false));
  const Term y = Term::of(model.add_column(-kInfinity, kInfinity, 1, false));
  const Term k = Term::of(model.add_column(1, 7, 0.1, true));
  model.add_row(Linear().add(1, x).add(2, y), 2, 3);
  model.add_row(Linear().add(1, x).add(-1, y).add(-1, k), 0, 0);
  expect_optimum(model, 5.0 / 3 + 0.1);
}

TEST_P(SolverConformance, IntegersWithBoundsOfEveryKind) {
  // a in [-3, 2], b in [1, inf), c in (-inf, 5], d fixed at 4, e in [-7, -2]; all integers.
  // min -2 a + b - c + d + e, a + b <= 3.5, b - c >= -3.5.
  // d = 4, e = -7. b = 1 leaves a <= 2.5: a = 2, and c <= 4.5: c = 4. -4 + 1 - 4 + 4 - 7 = -10. b = 2 would
  // lose 1 + 2 and win 1.
  Model model;
  const Term a = Term::of(model.add_column(-3, 2, -2, true));
  const Term b = Term::of(model.add_column(1, kInfinity, 1, true));
  const Term c = Term::of(model.add_column(-kInfinity, 5, -1, true));
  model.add_column(4, 4, 1, true);
  model.add_column(-7, -2, 1, true);
  model.at_most(Linear().add(1, a).add(1, b), 3.5);
  model.at_least(Linear().add(1, b).add(-1, c), -3.5);
  expect_optimum(model, -10);
}

TEST_P(SolverConformance, LargeCoefficients) {
  // 123456 x + 234567 y >= 7654321 with x, y <= 60 integer, least 1000 x + 2000 y: enumerated here.
  Model model;
  const Term x = Term::of(model.add_column(0, 60, 1000, true));
  const Term y = Term::of(model.add_column(0, 60, 2000, true));
  model.at_least(Linear().add(123456, x).add(234567, y), 7654321);
  double best = kInfinity;
  for (int i = 0; i <= 60; ++i)
    for (int j = 0; j <= 60; ++j)
      if (123456 * i + 234567 * j >= 7654321) best = std::min(best, 1000.0 * i + 2000.0 * j);
  expect_optimum(model, best);
}

TEST_P(SolverConformance, NoColumnsAndNoRows) {
  Model nothing;
  nothing.cost_constant = 7;
  const MipResult empty = solve_mip(nothing, options());
  EXPECT_EQ(empty.status, Mip::optimal);
  EXPECT_EQ(empty.objective, 7);
  Model no_rows;
  no_rows.add_column(-1, 3, 2, true);
  no_rows.add_column(-1, 3, -1, false);
  no_rows.add_column(0, 1, 0, true);
  expect_optimum(no_rows, -5);
}

TEST_P(SolverConformance, ContinuousModels) {
  Model model = knapsack();
  for (char& integer : model.integer) integer = 0;
  expect_optimum(model, -240);  // all of the first two and 2/3 of the last
}

TEST_P(SolverConformance, SmallModelsAgainstAllTheirPoints) {
  Rng rng(8);
  int infeasible = 0;
  const int all = rounds(150, 12);
  for (int round = 0; round < all; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    const int columns = test::pick(rng, 3, 9);
    Model model;
    std::vector<std::vector<int>> weights(static_cast<std::size_t>(test::pick(rng, 1, 5)));
    std::vector<Linear> sums(weights.size());
    for (int c = 0; c < columns; ++c) {
      const Term x = Term::of(model.add_binary(test::pick(rng, -9, 9)));
      for (std::size_t r = 0; r < sums.size(); ++r) {
        weights[r].push_back(test::chance(rng, 0.7) ? test::pick(rng, -9, 9) : 0);
        sums[r].add(weights[r].back(), x);
      }
    }
    std::vector<int> least, most;
    for (Linear& sum : sums) {
      least.push_back(test::pick(rng, -20, 12));
      most.push_back(least.back() + test::pick(rng, 0, 12));
      model.add_row(sum, least.back(), most.back());
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
    if (best == kInfinity) {
      ++infeasible;
      expect_infeasible(model);
    } else {
      expect_optimum(model, best);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(infeasible, test::enough(0, 4));
  EXPECT_LT(infeasible, all);
}

// Small training graphs, published semantics, exact RAM rows in every stage: the model is the problem.
TEST_P(SolverConformance, SchedulesAgainstExhaustiveSearch) {
  Rng rng(21);
  int answered = 0;
  for (int round = 0; round < rounds(25, 4); ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    test::RandomInstanceOptions shape;
    shape.ops = test::pick(rng, 4, 6);
    const Instance instance = test::random_instance(rng, shape);
    SolveOptions solve_options;
    Limits limits;
    limits.ram_budget = Bytes(1LL << 50);
    Problem all = make_problem({instance, limits, Semantics::published}, solve_options);
    std::int64_t floor = 0;
    for (int t = 0; t < all.ops; ++t) floor = std::max(floor, working_set(all, t));
    const std::int64_t peak = complete(all, no_decisions(all)).peak;
    limits.ram_budget = Bytes(all.persistent + floor + (peak - floor) / 3);
    const Problem problem = make_problem({instance, limits, Semantics::published}, solve_options);
    TightOptions tight_options;
    for (int t = 0; t < problem.ops; ++t) tight_options.exact_stages.insert(t);
    const TightModel tight = build_tight(problem, full_columns(problem), tight_options);
    const auto least = test::least_energy(instance, Semantics::published, limits);
    if (!least) {
      expect_infeasible(tight.model);
    } else {
      ++answered;
      expect_optimum(tight.model, (*least - problem.baseline_joules) * tight.scale);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(answered, test::enough(2, 4));
}

// Which would otherwise take hours; so would those below.
TEST_P(SolverConformance, TimeLimitHolds) {
  const Model model = market_split();
  MipOptions limited = options();
  limited.time_limit_seconds = 0.3;
  const MipResult mip = solve_mip(model, limited);
  EXPECT_NE(mip.status, Mip::infeasible);
  EXPECT_NE(mip.status, Mip::optimal);
  EXPECT_LE(mip.bound, kTolerance);
}

TEST_P(SolverConformance, InterruptHolds) {
  const Model model = market_split();
  MipOptions interrupted = options();
  int polls = 0;
  interrupted.keep_going = [&](double objective, double bound) {
    EXPECT_LE(bound, objective + kTolerance);
    return ++polls < 5;
  };
  const MipResult mip = solve_mip(model, interrupted);
  EXPECT_EQ(polls, 5);
  EXPECT_NE(mip.status, Mip::infeasible);
  EXPECT_NE(mip.status, Mip::optimal);
}

// The published BERT at half the RAM between floor and peak: 75,000 columns, whose root alone takes longer.
TEST_P(SolverConformance, TimeLimitHoldsInsideTheRoot) {
  if (!proves()) GTEST_SKIP() << "writing the model takes longer than the limit";
  const Instance instance = read_instance(test::repository() / "data/published/bert.a72.json");
  Limits limits;
  limits.ram_budget = Bytes(1LL << 50);
  Problem problem = make_problem({instance, limits, Semantics::published}, {});
  std::int64_t floor = 0;
  for (int t = 0; t < problem.ops; ++t) floor = std::max(floor, working_set(problem, t));
  problem.budget = (floor + complete(problem, no_decisions(problem)).peak) / 2;
  const TightModel tight = build_tight(problem, full_columns(problem), {});
  for (const double limit : {0.05, 0.4}) {
    MipOptions limited = options();
    limited.time_limit_seconds = limit;
    EXPECT_NE(solve_mip(tight.model, limited).status, Mip::infeasible);
    if (limited.solver != Solver::cbc) continue;
    EXPECT_NE(solve_lp(tight.model, limit).status, LpStatus::infeasible);
  }
}

TEST_P(SolverConformance, NoTimeIsNoAnswer) {
  MipOptions none = options();
  none.time_limit_seconds = 0;
  const MipResult mip = solve_mip(knapsack(), none);
  EXPECT_EQ(mip.status, Mip::unknown);
  EXPECT_EQ(mip.bound, -kInfinity);
}

TEST_P(SolverConformance, Cutoff) {
  if (!proves()) GTEST_SKIP() << "files have no cutoff";
  Model model = knapsack();
  model.cost_constant = 1000;  // the optimum is 780
  MipOptions cut = options();
  cut.cutoff = 779;
  EXPECT_EQ(solve_mip(model, cut).status, Mip::infeasible);
  cut.cutoff = 781;
  const MipResult mip = solve_mip(model, cut);
  EXPECT_EQ(mip.status, Mip::optimal);
  EXPECT_NEAR(mip.objective, 780, kTolerance);
}

TEST_P(SolverConformance, Start) {
  if (!proves()) GTEST_SKIP() << "files have no start";
  const Model model = two_sacks(30);
  const MipResult best = solve_mip(model, options());
  ASSERT_EQ(best.status, Mip::optimal);
  MipOptions started = options();
  started.node_limit = 0;
  for (int c = 0; c < model.columns(); ++c)
    started.start.emplace_back(c, best.x[static_cast<std::size_t>(c)] > 0.5 ? 1.0 : 0.0);
  const MipResult mip = solve_mip(model, started);
  EXPECT_NEAR(mip.objective, best.objective, kTolerance);
  EXPECT_LE(mip.bound, best.objective + kTolerance);
  // One that breaks a row does no harm.
  MipOptions broken = options();
  broken.start = {{0, 1}, {1, 1}, {2, 1}};
  EXPECT_NEAR(solve_mip(knapsack(), broken).objective, -220, kTolerance);
}

TEST_P(SolverConformance, EqualCallsHaveEqualResults) {
  const Model model = two_sacks(proves() ? 30 : 12);
  const MipResult once = solve_mip(model, options());
  const MipResult again = solve_mip(model, options());
  ASSERT_FALSE(once.x.empty());
  EXPECT_EQ(once.x, again.x);
  EXPECT_EQ(once.nodes, again.nodes);
  EXPECT_EQ(once.work, again.work);
}

TEST_P(SolverConformance, WorkLimitsEndAtTheSamePlace) {
  if (!proves()) GTEST_SKIP() << "files have no work limit";
  const Model model = market_split();
  const Model sacks = two_sacks(60);
  for (const long limit : {0L, 7L, 300L, 3000L}) {
    SCOPED_TRACE(limit);
    MipOptions limited = options();
    limited.work_limit = limit;
    for (const Model* m : {&model, &sacks}) {
      const MipResult once = solve_mip(*m, limited);
      const MipResult again = solve_mip(*m, limited);
      EXPECT_EQ(once.status, again.status);
      EXPECT_EQ(once.x, again.x);
      EXPECT_EQ(once.bound, again.bound);
      EXPECT_EQ(once.nodes, again.nodes);
      EXPECT_EQ(once.work, again.work);
      EXPECT_FALSE(once.solver_failed);
      EXPECT_NE(once.status, Mip::infeasible);
      if (GetParam().solver == Solver::cbc) {
        EXPECT_LE(once.work, limit + 1);
      }
    }
    const MipResult hard = solve_mip(model, limited);
    EXPECT_EQ(hard.status, Mip::unknown);
    EXPECT_GT(hard.work, limit);
  }
}

// Callbacks see the solver's news in order, so a stop that they decide on is the same however fast it is.
TEST_P(SolverConformance, AStopByTheNewsIsTheSameEachTime) {
  if (!proves()) GTEST_SKIP() << "files have no news";
  const Model model = two_sacks(60);
  const auto stopped = [&] {
    MipOptions until_some = options();
    until_some.keep_going = [](double objective, double) { return objective == kInfinity; };
    return solve_mip(model, until_some);
  };
  const MipResult once = stopped();
  EXPECT_EQ(once.status, Mip::feasible);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(stopped().x, once.x);
}

INSTANTIATE_TEST_SUITE_P(Solvers, SolverConformance, testing::ValuesIn(candidates()),
                         [](const auto& tested) { return tested.param.name; });

TEST(LinearPrograms, WorkLimitsEndAtTheSamePlace) {
  const Model model = two_sacks(200);
  const LpResult whole = solve_lp(model, 10);
  ASSERT_EQ(whole.status, LpStatus::optimal);
  EXPECT_EQ(solve_lp(model, 10).x, whole.x);
  ASSERT_GT(whole.work, 1);
  const LpResult enough = solve_lp(model, 10, {}, whole.work);
  EXPECT_EQ(enough.status, LpStatus::optimal);
  EXPECT_EQ(enough.x, whole.x);
  const LpResult less = solve_lp(model, 10, {}, whole.work - 1);
  EXPECT_EQ(less.status, LpStatus::stopped);
  EXPECT_EQ(less.work, whole.work);
}

}  // namespace
}  // namespace poet
