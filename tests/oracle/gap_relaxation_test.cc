// The gap relaxation against every linear plan there is: whatever its multipliers, it never claims more than
// the least energy. And the packing in it against all subsets and the LP solver.

#include "poet/optimize/relaxation/gap_relaxation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/problem/residence.h"
#include "poet/optimize/relaxation/gap_flow.h"
#include "poet/optimize/solvers/solver.h"
#include "tests/support/effort.h"
#include "tests/support/linear_cases.h"
#include "tests/support/linear_search.h"
#include "tests/support/small_graphs.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::LinearCase;

struct PackingCase {
  std::vector<std::int64_t> capacity;
  std::vector<PackedInterval> intervals;
};

PackingCase random_packing(std::uint64_t seed, bool units) {
  std::mt19937_64 random(seed);
  const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
  PackingCase c;
  const int ops = 1 + below(9);
  for (int t = 0; t < ops; ++t) c.capacity.push_back(below(units ? 4 : 30));
  for (int i = below(10); i > 0; --i) {
    const int first = below(ops);
    c.intervals.push_back({first, first + below(ops - first), units ? 1 : 1 + below(15), 0.25 * below(40)});
  }
  return c;
}

double by_linear_program(const PackingCase& c) {
  if (c.intervals.empty()) return 0;
  Model model;
  std::vector<int> columns;
  for (const PackedInterval& i : c.intervals) columns.push_back(model.add_column(0, 1, -i.joules, false));
  for (int t = 0; t < static_cast<int>(c.capacity.size()); ++t) {
    Linear sum;
    for (std::size_t i = 0; i < c.intervals.size(); ++i)
      if (c.intervals[i].first <= t && t <= c.intervals[i].last)
        sum.add(static_cast<double>(c.intervals[i].bytes), Term::of(columns[i]));
    model.at_most(sum, static_cast<double>(c.capacity[static_cast<std::size_t>(t)]));
  }
  const LpResult lp = solve_lp(model, 60);
  EXPECT_EQ(lp.status, LpStatus::optimal);
  return -lp.objective;
}

double by_all_subsets(const PackingCase& c) {
  double best = 0;
  for (unsigned subset = 0; subset < 1U << c.intervals.size(); ++subset) {
    std::vector<std::int64_t> left = c.capacity;
    double joules = 0;
    for (std::size_t i = 0; i < c.intervals.size(); ++i) {
      if ((subset >> i & 1U) == 0) continue;
      joules += c.intervals[i].joules;
      for (int t = c.intervals[i].first; t <= c.intervals[i].last; ++t)
        left[static_cast<std::size_t>(t)] -= c.intervals[i].bytes;
    }
    if (std::all_of(left.begin(), left.end(), [](std::int64_t bytes) { return bytes >= 0; }))
      best = std::max(best, joules);
  }
  return best;
}

TEST(GapFlow, SavesWhatTheLinearProgramSays) {
  int binding = 0;
  for (int n = 1; n <= test::effort(2'000, 2); ++n) {
    const auto seed = static_cast<std::uint64_t>(n);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const PackingCase c = random_packing(seed, false);
    const GapPacking packing = *pack_intervals(c.capacity, c.intervals);
    const double saved = by_linear_program(c);
    EXPECT_NEAR(packing.saved, saved, 1e-6);
    double kept = 0;
    std::vector<double> used(c.capacity.size(), 0.0);
    for (std::size_t i = 0; i < c.intervals.size(); ++i) {
      kept += packing.kept[i] * c.intervals[i].joules;
      for (int t = c.intervals[i].first; t <= c.intervals[i].last; ++t)
        used[static_cast<std::size_t>(t)] += packing.kept[i] * static_cast<double>(c.intervals[i].bytes);
    }
    EXPECT_NEAR(kept, saved, 1e-6);
    for (std::size_t t = 0; t < used.size(); ++t)
      EXPECT_LE(used[t], static_cast<double>(c.capacity[t]) + 1e-6);
    double all = 0;
    for (const PackedInterval& i : c.intervals) all += i.joules;
    binding += saved < all - 1e-6;
  }
  EXPECT_GT(binding, test::enough(1'000, 2));
}

// Of equal sizes: the matrix is totally unimodular.
TEST(GapFlow, PacksEqualSizesAsWellAsAnySubset) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const PackingCase c = random_packing(seed, true);
    EXPECT_NEAR(pack_intervals(c.capacity, c.intervals)->saved, by_all_subsets(c), 1e-6);
  }
}

// Targets far above the optimum make steps so long that the multipliers go anywhere.
TEST(GapRelaxation, NeverClaimsMoreThanTheLeastEnergy) {
  int compared = 0, raised = 0, closed = 0;
  for (int n = 1; n <= test::effort(4'000, 2); ++n) {
    const auto seed = static_cast<std::uint64_t>(n);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const LinearCase c = test::linear_case(seed, 3, 7);
    test::LinearSearchOptions options;
    options.paging = c.paging;
    options.rematerialization = c.rematerialization;
    options.most_states = 50'000;
    const test::LinearSearchResult best =
        test::search_linear_plans(c.instance, c.semantics, c.limits, options);
    if (!best.finished || !best.best) continue;
    ++compared;
    SolveOptions solve;
    solve.paging = c.paging;
    solve.rematerialization = c.rematerialization;
    const Problem problem = make_problem({c.instance, c.limits, c.semantics}, solve);
    const Gaps gaps(problem);
    const double least = best.best->joules;
    const double overhead = least - problem.baseline_joules;
    double bound = 0;
    for (const double beyond : {0.0, 0.1, 1.0, 10.0}) {
      GapRelaxation relaxation(problem, gaps);
      for (int i = 0; i < 12; ++i) relaxation.improve(least + beyond * (overhead + 0.1));
      bound = std::max(bound, relaxation.bound());
    }
    ASSERT_LE(bound, least + 1e-9);
    raised += bound > problem.baseline_joules + 1e-9;
    closed += overhead > 1e-9 && bound > least - 1e-6;
  }
  EXPECT_GT(compared, test::enough(2'000, 2));
  EXPECT_GT(raised, test::enough(500, 2));
  EXPECT_GT(closed, test::enough(100, 2));
  RecordProperty("compared", compared);
  RecordProperty("raised", raised);
  RecordProperty("closed", closed);
}

// f0 makes y of w0, which nothing updates, f1 makes a of w1, g reads both. With w0 resident, w1 paged and f0
// done again before g there is a plan in 1,150 B of two runs of f0, one of f1 and g, and a load of w1: while
// f1 runs w0 is in RAM, on whose account y's gap must not count.
TEST(GapRelaxation, AResidentValueThatNothingUpdatesMakesOthersAgain) {
  for (const double joules : {1.0, 5.0, 9.0, 20.0}) {
    Graph graph;
    const ValueId w0 = test::add_persistent(graph, "w0", 100);
    const ValueId w1 = test::add_persistent(graph, "w1", 500);
    const ValueId y = test::add_node(graph, "f0", {w0}, 1000);
    const ValueId a = test::add_node(graph, "f1", {w1}, 50);
    test::add_node(graph, "g", {y, a}, 0);
    Instance instance = test::instance_of(std::move(graph));
    CostTable& costs = instance.costs;
    costs.alignment = Bytes(1);
    const auto cost = [&](ValueId v, double in, double out) {
      costs.values[v].bytes = instance.graph.values[v].bytes;
      costs.values[v].page_in = {Seconds(0), Joules(in)};
      costs.values[v].page_out = {Seconds(0), Joules(out)};
    };
    cost(w0, 10, 10);
    cost(w1, 0.1, 0.1);
    cost(y, 100, 100);
    cost(a, 100, 100);
    costs.timing.idle = Watts(0);
    for (const OpId op : ids<OpId>(3)) costs.ops[op].energy = Joules(op.index == 0 ? joules : 1);
    costs.ops[OpId(1)].workspace = Bytes(500);
    const Instance all_paged = with_paged(instance, pageable(instance));
    const WithLoads loads = with_loads(all_paged);
    Problem problem = make_problem({loads.instance, test::ram(1150), Semantics::device}, {});
    problem.residents = residents_of(all_paged, loads);
    ASSERT_EQ(problem.residents.size(), 2);
    const Gaps gaps(problem);
    GapRelaxation relaxation(problem, gaps);
    const double energy = 2 * joules + 2 + 0.1;
    for (int i = 0; i < 12; ++i) relaxation.improve(2 * energy + 20);
    EXPECT_LE(relaxation.bound(), energy + 1e-9);
  }
}

// Of all choices of paged values that page something; the bound of each alone would be higher.
TEST(GapRelaxation, NeverClaimsMoreThanTheBestChoiceNeeds) {
  int compared = 0, raised = 0, closed = 0;
  for (int n = 1; n <= test::effort(400, 2); ++n) {
    const auto seed = static_cast<std::uint64_t>(n);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const LinearCase c = test::paged_case(seed, 4, 7).problem;
    const std::vector<ValueId> all = pageable(c.instance);
    test::LinearSearchOptions options;
    options.paging = c.paging;
    options.rematerialization = c.rematerialization;
    options.most_states = 50'000;
    double least = kInfinity;
    bool finished = true;
    for (unsigned set = 1; set < 1U << all.size(); ++set) {
      std::vector<ValueId> paged;
      for (std::size_t k = 0; k < all.size(); ++k)
        if ((set >> k & 1U) != 0) paged.push_back(all[k]);
      const test::LinearSearchResult best =
          test::search_linear_plans(with_paged(c.instance, paged), c.semantics, c.limits, options);
      finished = finished && best.finished;
      if (best.best) least = std::min(least, best.best->joules);
    }
    const Instance all_paged = with_paged(c.instance, all);
    const WithLoads loads = with_loads(all_paged);
    SolveOptions solve;
    solve.paging = c.paging;
    Limits ram;
    ram.ram_budget = c.limits.ram_budget;
    Problem problem = make_problem({loads.instance, ram, Semantics::device}, solve);
    problem.residents = residents_of(all_paged, loads);
    if (!finished || least == kInfinity || problem.budget < 0 || problem.residents.empty()) continue;
    ++compared;
    const Gaps gaps(problem);
    const double first = GapRelaxation(problem, gaps).bound();
    double bound = first;
    for (const double beyond : {0.0, 0.1, 1.0, 10.0}) {
      GapRelaxation relaxation(problem, gaps);
      for (int i = 0; i < 12; ++i) relaxation.improve(least + beyond * (least - first + 0.1));
      bound = std::max(bound, relaxation.bound());
    }
    ASSERT_LE(bound, least + 1e-9);
    raised += bound > first + 1e-9;
    closed += bound > least - 1e-6;
  }
  EXPECT_GT(compared, test::enough(200, 2));
  EXPECT_GT(raised, test::enough(100, 2));
  EXPECT_GT(closed, test::enough(10, 2));
  RecordProperty("compared", compared);
  RecordProperty("raised", raised);
  RecordProperty("closed", closed);
}

}  // namespace
}  // namespace poet
