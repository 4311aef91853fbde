// The window relaxation against every schedule there is: it never claims more than the least energy, whatever
// the breakpoints. And what it says of small graphs, worked out by hand.

#include "poet/optimize/relaxation/breakpoints.h"
#include "poet/optimize/relaxation/implied_ram.h"
#include "poet/optimize/relaxation/window_decisions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "poet/optimize/explain.h"
#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/local_search.h"
#include "poet/optimize/relaxation/merged_windows.h"
#include "poet/optimize/relaxation/recomputation_ram.h"
#include "poet/optimize/relaxation/window_pressure.h"
#include "poet/optimize/relaxation/window_search.h"
#include "poet/optimize/solvers/solver.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/exhaustive.h"
#include "tests/support/ladder.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_training_graph.h"

namespace poet {
namespace {

using test::Rng;
using Sets = std::vector<std::vector<int>>;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// By hand.

constexpr int kA = 0, kB = 1, kC = 2, kD = 3, kE = 4;  // ops and values of ladder()

Problem problem_of(const Instance& instance, std::int64_t bytes, Semantics semantics = Semantics::published,
                   const Limits& more = {}) {
  Limits limits = more;
  limits.ram_budget = Bytes(bytes);
  return make_problem({instance, limits, semantics}, {});
}

// The relaxation's least energy; absent where it has no point.
std::optional<double> least(const Problem& problem, const std::vector<int>& breakpoints,
                            bool rounding = true) {
  const WindowModel model = build_windows(problem, StageWindows(problem, breakpoints), rounding);
  const MipResult mip = solve_mip(model.model, {});
  if (mip.status == MipStatus::infeasible) return std::nullopt;
  EXPECT_EQ(mip.status, MipStatus::optimal);
  EXPECT_LE(violation(model.model, mip.x), 1e-6);
  return problem.baseline_joules + mip.objective / model.scale;
}

TEST(Windows, EachEndsWithItsBreakpoint) {
  const Problem problem = problem_of(test::ladder(), 65);
  const StageWindows windows(problem, {3, 1});  // in any order
  EXPECT_EQ(windows.count(), 3);
  EXPECT_EQ(windows.breakpoints(), (std::vector<int>{1, 3}));
  // Stages 0 and 1, then 2 and 3, then 4.
  const std::vector<int> of = {0, 0, 1, 1, 2};
  for (int t = 0; t < problem.ops; ++t) EXPECT_EQ(windows.of(t), of[at(t)]) << t;
  const std::vector<int> first = {0, 2, 4};
  const std::vector<int> last = {1, 3, 4};
  for (int k = 0; k < windows.count(); ++k) {
    EXPECT_EQ(windows.first_stage(k), first[at(k)]) << k;
    EXPECT_EQ(windows.last_stage(k), last[at(k)]) << k;
  }
}

TEST(Windows, BreakpointAtTheFirstOrLastOp) {
  const Problem problem = problem_of(test::ladder(), 65);
  const StageWindows first(problem, {0});
  EXPECT_EQ(first.last_stage(0), 0);
  EXPECT_EQ(first.first_stage(1), 1);
  EXPECT_EQ(first.of(0), 0);
  EXPECT_EQ(first.of(1), 1);
  // The window after the last op holds no stage.
  const StageWindows last(problem, {4});
  EXPECT_EQ(last.count(), 2);
  EXPECT_EQ(last.of(4), 0);
  EXPECT_GT(last.first_stage(1), last.last_stage(1));
}

TEST(WindowModel, HasColumnsWhereSomethingIsToBeDecided) {
  const Problem problem = problem_of(test::ladder(), 65);
  const StageWindows windows(problem, {kC});  // a, b, c | d, e
  const WindowModel model = build_windows(problem, windows, true);
  const auto present = [](const std::vector<int>& columns) {
    std::vector<int> ids;
    for (std::size_t id = 0; id < columns.size(); ++id)
      if (columns[id] >= 0) ids.push_back(static_cast<int>(id));
    return ids;
  };
  // a, b and c are made before the breakpoint and can be read after it. Nothing is kept beyond the end, nor
  // made again in the window that first makes it.
  EXPECT_EQ(present(model.kept[0]), (std::vector<int>{kA, kB, kC}));
  EXPECT_EQ(present(model.kept[1]), std::vector<int>{});
  EXPECT_EQ(present(model.recompute[0]), std::vector<int>{});
  EXPECT_EQ(present(model.recompute[1]), (std::vector<int>{kA, kB, kC}));
  EXPECT_EQ(present(model.page_in[0]), std::vector<int>{});
  EXPECT_EQ(present(model.page_in[1]), (std::vector<int>{kA, kB, kC}));
}

TEST(WindowModel, BoundsOfTheLadder) {
  const Instance ladder = test::ladder();
  // Everything fits in 65 B: 10 J, wherever RAM is counted.
  for (int t = 0; t < 5; ++t) EXPECT_NEAR(*least(problem_of(ladder, 65), {t}), 10, 1e-9) << t;
  // 55 B. While c runs, b and c take 50 and a's 10 have no room: a returns for e, 2 J by computing. While d
  // runs, c and d take 35, and of a and b (30) one has room: b returns (a is there). 2 J as well.
  const Problem at55 = problem_of(ladder, 55);
  EXPECT_NEAR(*least(at55, {kC}), 12, 1e-6);
  EXPECT_NEAR(*least(at55, {kD}), 12, 1e-6);
  EXPECT_NEAR(*least(at55, {kC, kD}), 12, 1e-6);
  // 50 B. Each breakpoint alone is content with one: RAM at c (50) has no room for a, at d (15 left) none for
  // b. Together: a is gone at c; at d there is room for a, not for b; e wants both: 4 J.
  const Problem at50 = problem_of(ladder, 50);
  EXPECT_NEAR(*least(at50, {kC}), 12, 1e-6);
  EXPECT_NEAR(*least(at50, {kD}), 12, 1e-6);
  EXPECT_NEAR(*least(at50, {kC, kD}), 14, 1e-6);
  EXPECT_NEAR(*least(at50, {kA, kB, kC, kD, kE}), 14, 1e-6);
  // Below 50 B c itself has no room; that shows where it is a breakpoint.
  const Problem at49 = problem_of(ladder, 49);
  EXPECT_FALSE(least(at49, {kC}).has_value());
  EXPECT_TRUE(least(at49, {kD}).has_value());
}

TEST(WindowModel, RecomputingNeedsOperands) {
  // e reads b and d. 50 B, counted at d: 15 B beside c and d, so b (20) is gone there, and comes back through
  // a, kept: 12 J. Counted at c too: a is gone there, and computed again first: 14 J.
  const Problem problem = problem_of(test::ladder_without_rail(), 50);
  EXPECT_NEAR(*least(problem, {kD}), 12, 1e-6);
  EXPECT_NEAR(*least(problem, {kC, kD}), 14, 1e-6);
}

TEST(WindowModel, PagingCostsBothWays) {
  const Instance ladder = test::ladder();
  SolveOptions only_paging;
  only_paging.rematerialization = false;
  // 55 B: one of a and b is written (3 J) and read (4 J). 50 B: both, 14 J.
  const Problem at55 = make_problem({ladder, test::ram(55), Semantics::published}, only_paging);
  EXPECT_NEAR(*least(at55, {kC, kD}), 17, 1e-6);
  const Problem at50 = make_problem({ladder, test::ram(50), Semantics::published}, only_paging);
  EXPECT_NEAR(*least(at50, {kC, kD}), 24, 1e-6);
  // Where 9 B may be written at most, neither may.
  Limits little;
  little.ram_budget = Bytes(55);
  little.max_bytes_written = Bytes(9);
  const Problem unwritten = make_problem({ladder, little, Semantics::published}, only_paging);
  EXPECT_FALSE(least(unwritten, {kC, kD}).has_value());
}

TEST(WindowModel, TimeCountsComputationsAndOnDevicesTransfers) {
  const Instance ladder = test::ladder();
  Limits limits;
  limits.deadline = Seconds(5);
  // 5 s are for computing everything once: a is paged, 7 J. In device semantics the channel's 2 s fit beside.
  for (const Semantics semantics : {Semantics::published, Semantics::device})
    EXPECT_NEAR(*least(problem_of(ladder, 55, semantics, limits), {kC}), 17, 1e-6) << to_string(semantics);
  // A channel that blocks adds 2 s; at 7 s there is time for that, at 6 s for computing a again.
  Instance blocking = ladder;
  blocking.costs.timing.concurrent = false;
  EXPECT_FALSE(least(problem_of(blocking, 55, Semantics::device, limits), {kC}).has_value());
  SolveOptions only_paging;
  only_paging.rematerialization = false;
  limits.ram_budget = Bytes(55);
  limits.deadline = Seconds(6.9);
  EXPECT_FALSE(least(make_problem({blocking, limits, Semantics::device}, only_paging), {kC}).has_value());
  limits.deadline = Seconds(7);
  EXPECT_NEAR(*least(make_problem({blocking, limits, Semantics::device}, only_paging), {kC}), 17, 1e-6);
  limits.deadline = Seconds(6);
  EXPECT_NEAR(*least(make_problem({blocking, limits, Semantics::device}, {}), {kC}), 12, 1e-6);
  // At 3 W idle the 5 s baseline is 25 J; one more second costs 2 J of computing and 3 J of waiting.
  Instance idling = ladder;
  idling.costs.timing.idle = Watts(3);
  EXPECT_NEAR(*least(problem_of(idling, 55, Semantics::device), {kC}), 30, 1e-6);
}

TEST(WindowModel, RoundingCountsLargeTensors) {
  // Six values of 10 B, each made by an op of its own and read by the last one, z.
  Graph graph;
  std::vector<ValueId> made;
  for (int i = 0; i < 5; ++i) made.push_back(test::add_node(graph, fmt::format("x{}", i), {}, 10));
  const ValueId y = test::add_node(graph, "y", {}, 10);
  made.push_back(y);
  test::add_node(graph, "z", made, 1);
  const Instance instance = test::instance_of(std::move(graph));
  // y takes 10 of 39 B, so at y there is room for 2.9 of the others in bytes, 2 in numbers. What leaves is
  // computed again, 2 J each; all 7 once are 14 J. (That z takes 61 B shows at z only.)
  const Problem problem = problem_of(instance, 39);
  EXPECT_NEAR(*least(problem, {5}, false), 14 + 6, 1e-6);  // 3 of 5 leave: whole values in both
  EXPECT_NEAR(*least(problem, {5}, true), 14 + 6, 1e-6);
  const StageWindows windows(problem, {5});
  const LpResult coarse = solve_lp(build_windows(problem, windows, false).model, 10);
  const LpResult rounded = solve_lp(build_windows(problem, windows, true).model, 10);
  const double scale = build_windows(problem, windows, true).scale;
  EXPECT_NEAR(coarse.objective / scale, 2 * 2.1, 1e-6);  // 5 - 2.9 leave
  EXPECT_NEAR(rounded.objective / scale, 2 * 3, 1e-6);   // 5 - 2
}

TEST(TakenOnce, WhereItIsFirstNeededInItsWindow) {
  const Problem problem = problem_of(test::ladder(), 65);
  const StageWindows windows(problem, {kB});  // a, b | c, d, e
  const auto taken = [&](std::vector<int> recompute, std::vector<int> page_in) {
    return taken_once(problem, windows, {{{}, std::move(recompute)}, {{}, std::move(page_in)}});
  };
  // a is next read by e, b by c.
  EXPECT_EQ(taken({kA}, {}).recompute, (Sets{{}, {}, {}, {}, {kA}}));
  EXPECT_EQ(taken({kB}, {}).recompute, (Sets{{}, {}, {kB}, {}, {}}));
  // For b, a is needed in c's stage.
  EXPECT_EQ(taken({kA, kB}, {}).recompute, (Sets{{}, {}, {kA, kB}, {}, {}}));
  // Page-ins in the stage before; b, paged out in stage 2 at the earliest, would not be back for c.
  EXPECT_EQ(taken({}, {kA}).page_in, (Sets{{}, {}, {}, {kA}, {}}));
  EXPECT_EQ(taken({}, {kB}).page_in, (Sets{{}, {}, {}, {}, {}}));
  // b from a, and a from storage: in time for c there is no time for that, either.
  EXPECT_EQ(taken({kB}, {kA}).recompute, (Sets{{}, {}, {kB}, {}, {}}));
  EXPECT_EQ(taken({kB}, {kA}).page_in, (Sets{{}, {}, {}, {}, {}}));
  EXPECT_EQ(taken({kA}, {}).page_out, Sets(5));
}

// a (10 B) is read by b, d and f; c reads b, d also c, e reads d, f also e.
Instance three_readers() {
  Graph graph;
  const ValueId a = test::add_node(graph, "a", {}, 10);
  const ValueId b = test::add_node(graph, "b", {a}, 1);
  const ValueId c = test::add_node(graph, "c", {b}, 1);
  const ValueId d = test::add_node(graph, "d", {a, c}, 1);
  const ValueId e = test::add_node(graph, "e", {d}, 1);
  test::add_node(graph, "f", {a, e}, 1);
  return test::instance_of(std::move(graph));
}

TEST(TakenForEachUse, EveryGapThatTouchesTheWindow) {
  const Problem problem = problem_of(three_readers(), 100);
  const Gaps gaps(problem);
  // From a's production: b, d, f; then the end.
  const std::vector<std::size_t>& of_a = gaps.of(0);
  const auto modes_of_a = [&](const StageWindows& windows, const WindowDecisions& decided) {
    const std::vector<GapMode> modes = taken_for_each_use(problem, windows, decided, gaps);
    EXPECT_EQ(modes.size(), gaps.all().size());
    for (std::size_t g = 0; g < modes.size(); ++g)
      if (gaps.all()[g].value != 0) {
        EXPECT_EQ(modes[g], gaps.keep_all()[g]) << g;
      }
    return std::vector<GapMode>{modes[of_a[0]], modes[of_a[1]], modes[of_a[2]]};
  };
  const GapMode keep = GapMode::keep, page = GapMode::page, again = GapMode::recompute;
  // One window for d and f: recomputed for each of them; once would be for d.
  const StageWindows one(problem, {1});
  EXPECT_EQ(modes_of_a(one, {{{}, {0}}, {{}, {}}}), (std::vector<GapMode>{keep, again, again}));
  EXPECT_EQ(modes_of_a(one, {{{}, {}}, {{}, {0}}}), (std::vector<GapMode>{keep, page, page}));
  EXPECT_EQ(taken_once(problem, one, {{{}, {0}}, {{}, {}}}).recompute, (Sets{{}, {}, {}, {0}, {}, {}}));
  // Where both are decided, computing it is.
  EXPECT_EQ(modes_of_a(one, {{{}, {0}}, {{}, {0}}}), (std::vector<GapMode>{keep, again, again}));
  // A breakpoint at d: what returns in the window before is for d, in the one after for f.
  const StageWindows two(problem, {1, 3});
  EXPECT_EQ(modes_of_a(two, {{{}, {}, {0}}, {{}, {}, {}}}), (std::vector<GapMode>{keep, keep, again}));
  EXPECT_EQ(modes_of_a(two, {{{}, {0}, {}}, {{}, {}, {}}}), (std::vector<GapMode>{keep, again, again}));
}

TEST(RamImplied, GrowsByWhatDoesNotReturn) {
  const Problem problem = problem_of(test::ladder(), 55);
  const Gaps gaps(problem);
  const StageWindows windows(problem, {kC});
  const WindowModel model = build_windows(problem, windows, true);
  using Point = std::vector<std::pair<int, double>>;
  const auto ram = [&](const Point& point) {
    std::vector<double> x(at(model.model.columns()), 0.0);
    for (const auto& [column, value] : point) x[at(column)] = value;
    return ram_implied(problem, windows, model, x, gaps);
  };
  // Working sets 10, 30, 50, 35, 36; a is held while c and d run, b while d runs.
  EXPECT_EQ(ram({}), (std::vector<double>{10, 30, 60, 65, 36}));
  const int a = model.recompute[1][kA], b = model.recompute[1][kB];
  EXPECT_EQ(ram({{a, 1}}), (std::vector<double>{10, 30, 50, 55, 36}));
  EXPECT_EQ(ram({{a, 0.5}}), (std::vector<double>{10, 30, 55, 60, 36}));
  EXPECT_EQ(ram({{b, 1}}), (std::vector<double>{10, 30, 60, 45, 36}));
  EXPECT_EQ(ram({{model.page_in[1][kA], 1}, {b, 1}}), (std::vector<double>{10, 30, 50, 35, 36}));
  // Twice is not less than nothing.
  EXPECT_EQ(ram({{model.page_in[1][kA], 1}, {a, 1}}), (std::vector<double>{10, 30, 50, 55, 36}));
}

// a, b and c each read the one before; x and y are read by nothing but z, which reads c as well.
Instance rungs() {
  Graph graph;
  const ValueId a = test::add_node(graph, "a", {}, 10);
  const ValueId b = test::add_node(graph, "b", {a}, 10);
  const ValueId c = test::add_node(graph, "c", {b}, 10);
  const ValueId x = test::add_node(graph, "x", {}, 10);
  const ValueId y = test::add_node(graph, "y", {}, 10);
  test::add_node(graph, "z", {c, x, y}, 10);
  return test::instance_of(std::move(graph));
}

TEST(MergedWindows, AHalfInEachOfTwoWindowsIsNotAWhole) {
  const Problem problem = problem_of(rungs(), 100);
  const StageWindows windows(problem, {kD, kE});  // ... x | y | z
  const WindowModel model = build_windows(problem, windows, true);
  std::vector<double> x(at(model.model.columns()), 0.0);
  const auto cuts = [&] { return merged_window_cuts(problem, windows, model, x); };
  const auto sum = [&](const Linear& cut) {
    double total = cut.constant();
    for (const auto& [column, coefficient] : cut.terms()) total += coefficient * x[at(column)];
    return total;
  };
  x[at(model.kept[0][kD])] = 1;
  // c comes back by halves, each from the half of b that is kept: the model's own rows allow it.
  for (const int k : {1, 2}) x[at(model.recompute[at(k)][kC])] = 0.5;
  x[at(model.kept[0][kB])] = x[at(model.kept[1][kB])] = 0.5;
  ASSERT_EQ(cuts().size(), 1);
  const Linear cut = cuts().front();
  // All of c kept, or all of b, or all of b computed again.
  EXPECT_NEAR(sum(cut), 0.5, 1e-9);
  x[at(model.kept[0][kC])] = 0.5;
  EXPECT_NEAR(sum(cut), 1, 1e-9);
  EXPECT_TRUE(cuts().empty());
  x[at(model.kept[0][kC])] = 0;
  x[at(model.page_in[2][kB])] = 0.5;
  EXPECT_NEAR(sum(cut), 1, 1e-9);
  EXPECT_TRUE(cuts().empty());
  x[at(model.page_in[2][kB])] = 0;
  x[at(model.recompute[1][kB])] = 0.5;
  EXPECT_NEAR(sum(cut), 1, 1e-9);
  // Which in turn needs a.
  ASSERT_EQ(cuts().size(), 1);
  EXPECT_NEAR(sum(cuts().front()), 0.5, 1e-9);
  x[at(model.recompute[2][kA])] = 0.5;
  EXPECT_TRUE(cuts().empty());
}

TEST(Pressure, IsWhereNoChoiceOfStagesFits) {
  // a, needed by e, is computed again in the window c, d, e: right before e nothing overflows 55 B but d,
  // where b, c and d take all.
  const Problem problem = problem_of(test::ladder(), 54);
  const StageWindows windows(problem, {kB});
  const auto of = [&](std::vector<int> recompute) {
    return pressure(problem, windows, {{{}, std::move(recompute)}, {{}, {}}});
  };
  EXPECT_EQ(of({kA, kB}), std::vector<double>(5, 0.0));  // 50 B
  const std::vector<double> a = of({kA});
  for (int t : {kA, kB, kC, kE}) EXPECT_EQ(a[at(t)], 0) << t;
  EXPECT_NEAR(a[kD], 1, 1e-9);
  // Without any, a stays as well: 60 and 65 B.
  const std::vector<double> none = of({});
  EXPECT_NEAR(none[kC], 6, 1e-9);
  EXPECT_NEAR(none[kD], 11, 1e-9);
}

TEST(WindowDecisions, AreTheColumnsAtOne) {
  const Problem problem = problem_of(test::ladder(), 55);
  const StageWindows windows(problem, {kC});
  const WindowModel model = build_windows(problem, windows, true);
  std::vector<double> x(at(model.model.columns()), 0.0);
  x[at(model.recompute[1][kC])] = 1;
  x[at(model.recompute[1][kA])] = 1 - 1e-7;
  x[at(model.page_in[1][kB])] = 1;
  x[at(model.page_in[1][kC])] = 1e-7;
  x[at(model.kept[0][kB])] = 1;
  const WindowDecisions decided = window_decisions(model, x);
  EXPECT_EQ(decided.recompute, (Sets{{}, {kA, kC}}));
  EXPECT_EQ(decided.page_in, (Sets{{}, {kB}}));
}

// Against every schedule.

struct WindowCase {
  Instance instance;
  Limits limits;
  Semantics semantics;
};

// Graphs of 3 to 5 ops at budgets below what keeping everything takes; time is free on devices, as the oracle
// does not know the timeline.
WindowCase random_case(Rng& rng, Semantics semantics) {
  for (;;) {
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 3, 5);
    options.in_place = test::chance(rng, 0.5);
    options.multi_output = test::chance(rng, 0.5);
    options.updates = test::chance(rng, 0.3);
    options.inputs = test::chance(rng, 0.3);
    options.storage = test::chance(rng, 0.8);
    options.device = semantics == Semantics::device;
    WindowCase c{test::random_instance(rng, options), {}, semantics};
    c.instance.costs.timing = {};
    const Report all = replay_keep_all(c.instance, semantics);
    const int floor =
        static_cast<int>(ram_floor(make_problem({c.instance, c.limits, semantics}, {})).floor_ram->value());
    const int most = static_cast<int>(all.peak_ram.value());
    if (most <= floor) continue;
    c.limits.ram_budget = Bytes(test::pick(rng, floor, most - 1));
    if (semantics != Semantics::device && test::chance(rng, 0.5))
      c.limits.deadline = Seconds(all.runtime.value() + 0.125 * test::pick(rng, 0, 24));
    if (test::chance(rng, 0.25)) c.limits.max_bytes_written = Bytes(test::pick(rng, 0, floor));
    return c;
  }
}

std::vector<int> shuffled_ops(Rng& rng, int ops) {
  std::vector<int> order(at(ops));
  std::iota(order.begin(), order.end(), 0);
  for (int i = ops - 1; i > 0; --i) std::swap(order[at(i)], order[at(test::pick(rng, 0, i))]);
  return order;
}

class WindowRelaxation : public testing::TestWithParam<Semantics> {};

// Single breakpoints, and growing sets of them up to all ops: below the optimum, and rising.
TEST_P(WindowRelaxation, IsBelowTheOptimumAndRisesWithBreakpoints) {
  Rng rng(41);
  int answered = 0;
  int reached = 0;   // with all breakpoints: the optimum itself
  int informed = 0;  // more than the baseline
  for (int i = 0; i < test::effort(60, 6); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    const WindowCase c = random_case(rng, GetParam());
    const Problem problem = make_problem({c.instance, c.limits, c.semantics}, {});
    const std::optional<double> best = test::least_energy(c.instance, c.semantics, c.limits);
    const bool rounding = test::chance(rng, 0.7);
    const double overhead = best ? *best - problem.baseline_joules : 0;
    const auto expect_below = [&](const std::optional<double>& relaxed) {
      if (!best) return;
      ASSERT_TRUE(relaxed.has_value());
      EXPECT_LE(*relaxed, *best + 1e-6 * overhead + 1e-9 * *best);
    };
    for (int t = 0; t < problem.ops; ++t) {
      SCOPED_TRACE(fmt::format("breakpoint {}", t));
      expect_below(least(problem, {t}, rounding));
    }
    const std::vector<int> order = shuffled_ops(rng, problem.ops);
    std::optional<double> fewer = problem.baseline_joules;
    for (int n = 1; n <= problem.ops; ++n) {
      const std::vector<int> breakpoints(order.begin(), order.begin() + n);
      SCOPED_TRACE(fmt::format("breakpoints {}", fmt::join(breakpoints, " ")));
      const std::optional<double> more = least(problem, breakpoints, rounding);
      expect_below(more);
      if (!fewer) {
        EXPECT_FALSE(more.has_value());
      } else if (more) {
        EXPECT_GE(*more, *fewer - 1e-6 * (*fewer - problem.baseline_joules) - 1e-9 * *fewer);
      }
      fewer = more;
    }
    answered += best.has_value();
    informed += best && *fewer > problem.baseline_joules + 1e-6;
    reached += best && *fewer > *best - 1e-6 * (1 + overhead);
    if (HasFailure()) return;
  }
  EXPECT_GT(answered, test::enough(20, 6));
  EXPECT_GT(informed, test::enough(15, 6));
  EXPECT_GT(reached, test::enough(10, 6));
}

// The continuous bound too, and everything that is found on the way.
TEST_P(WindowRelaxation, SearchIsBetweenItsBoundAndItsSchedules) {
  Rng rng(42);
  int answered = 0;
  int proven = 0;
  for (int i = 0; i < test::effort(40, 5); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    const WindowCase c = random_case(rng, GetParam());
    SolveOptions options;
    options.gap = 1e-5;  // bounds are lowered by 1e-7 for the solvers' tolerances
    const Problem problem = make_problem({c.instance, c.limits, c.semantics}, options);
    const std::optional<double> best = test::least_energy(c.instance, c.semantics, c.limits);
    Search search(problem, options);
    WindowSearch windows(search);
    std::set<int> exact_stages;
    for (int round = 0; round < 2 * problem.ops && !search.done(); ++round)
      if (!windows.run(20'000, exact_stages)) break;
    answered += best.has_value();
    if (!best) {
      EXPECT_FALSE(search.has_incumbent());
      continue;
    }
    const double slack = 1e-6 * (*best - problem.baseline_joules) + 1e-9 * *best;
    EXPECT_LE(search.bound(), *best + slack);
    if (search.has_incumbent()) {
      EXPECT_GE(search.incumbent().joules, *best - slack);
    }
    proven += search.has_incumbent() && search.proven();
    if (HasFailure()) return;
  }
  EXPECT_GT(answered, test::enough(15, 5));
  EXPECT_GT(proven, test::enough(5, 5));
}

struct Found {
  int decisions = 0;
  int cuts = 0;    // rows of merged windows, and of
  int of_ram = 0;  // RAM while recomputing
};

// At random breakpoints the model, with all rows of merged windows that its relaxation breaks, has a point
// that does what the schedule does, at no more energy.
void expect_point(Rng& rng, const Problem& problem, const Schedule& schedule, const Report& report,
                  Found& found) {
  std::vector<int> breakpoints = shuffled_ops(rng, problem.ops);
  breakpoints.resize(at(test::chance(rng, 0.3) ? problem.ops : test::pick(rng, 1, problem.ops)));
  const StageWindows windows(problem, breakpoints);
  WindowModel windowed = build_windows(problem, windows, true);
  Model& model = windowed.model;
  LpOptions relaxed;
  relaxed.cuts = [&](const std::vector<double>& x) {
    return merged_window_cuts(problem, windows, windowed, x);
  };
  const LpResult lp = solve_lp(model, relaxed);
  std::vector<Linear> cuts = lp.cuts;
  // Of RAM while recomputing: at the relaxation's point, and where most is kept and little made again.
  std::vector<std::vector<double>> points;
  if (!lp.x.empty()) points.push_back(lp.x);
  for (int i = 0; i < 6; ++i) {
    std::vector<double>& x = points.emplace_back(at(model.columns()), 0.0);
    for (int k = 0; k < windows.count(); ++k) {
      for (const int column : windowed.kept[at(k)])
        if (column >= 0) x[at(column)] = test::chance(rng, 0.9) ? 1 : 0.5;
      for (const int column : windowed.recompute[at(k)])
        if (column >= 0 && test::chance(rng, 0.15)) x[at(column)] = 1;
    }
  }
  for (const std::vector<double>& x : points)
    for (Linear& cut : recomputation_ram_cuts(problem, windows, windowed, x, 0)) {
      cuts.push_back(std::move(cut));
      ++found.of_ram;
    }
  for (const Linear& cut : cuts) model.at_least(cut, 1);
  found.cuts += static_cast<int>(cuts.size());
  // All to 0, then what the schedule does back to 1.
  for (const auto* columns : {&windowed.kept, &windowed.recompute, &windowed.page_in})
    for (const auto& window : *columns)
      for (int column : window)
        if (column >= 0) model.upper[at(column)] = 0;
  const auto take = [&](const Sets& columns, int k, std::int32_t id) {
    const int column = columns[at(k)][at(id)];
    if (column < 0) return;
    model.lower[at(column)] = model.upper[at(column)] = 1;
    ++found.decisions;
  };
  for (int t = 0; t < problem.ops; ++t) {
    const Stage& stage = schedule.stages[at(t)];
    for (const OpId op : stage.compute)
      if (op.index != t) take(windowed.recompute, windows.of(t), op.index);
    if (t + 1 == problem.ops) continue;
    for (const ValueId v : stage.page_in)
      take(windowed.page_in, windows.of(problem.transfers_take_ram() ? t : t + 1), v.index);
    if (windows.of(t + 1) == windows.of(t)) continue;
    for (const ValueId v : schedule.stages[at(t) + 1].retain)
      if (problem.transfers_take_ram() || !std::binary_search(stage.page_in.begin(), stage.page_in.end(), v))
        take(windowed.kept, windows.of(t), v.index);
    if (problem.transfers_take_ram())
      for (const ValueId v : stage.page_out) take(windowed.kept, windows.of(t), v.index);
  }
  const MipResult mip = solve_mip(model, {});
  EXPECT_EQ(mip.status, MipStatus::optimal) << fmt::format("breakpoints {}", fmt::join(breakpoints, " "));
  EXPECT_LE(problem.baseline_joules + mip.objective / windowed.scale, report.energy.value() * (1 + 1e-9));
}

// Whatever a schedule of a larger graph does, there is a point of the model that says so, at no more energy:
// at a budget of its own peak, a deadline of its own duration, and so on.
TEST_P(WindowRelaxation, HasAPointForEverySchedule) {
  Rng rng(43);
  Found found;
  for (int i = 0; i < test::effort(150, 8); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 6, 24);
    options.in_place = test::chance(rng, 0.5);
    options.multi_output = test::chance(rng, 0.5);
    options.updates = test::chance(rng, 0.3);
    options.inputs = test::chance(rng, 0.3);
    options.device = GetParam() == Semantics::device;
    const Instance instance = test::random_instance(rng, options);
    const Schedule schedule = test::random_schedule(rng, instance);
    Limits limits;
    limits.ram_budget = Bytes(std::int64_t{1} << 40);
    Report report = replay(instance, schedule, GetParam(), limits);
    ASSERT_TRUE(report.valid) << report.violation;
    limits.ram_budget = report.peak_ram;
    limits.deadline = report.runtime;
    limits.max_bytes_written = report.bytes_written;
    const Problem problem = make_problem({instance, limits, GetParam()}, {});

    expect_point(rng, problem, schedule, report, found);
    if (HasFailure()) return;
  }
  EXPECT_GT(found.decisions, test::enough(1000, 8));
  EXPECT_GT(found.cuts, test::enough(20, 8));
  EXPECT_GT(found.of_ram, test::enough(100, 8));
}

// Schedules with hardly a wait in them leave the timeline's rows no slack: those that the search finds
// without the relaxation, with a channel that is about as busy as compute.
TEST(WindowTimeline, HasAPointForSchedulesOnTime) {
  Rng rng(44);
  int paged = 0;
  Found counted;
  for (int i = 0; i < test::effort(150, 8); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    test::RandomTrainingGraphOptions graph;
    graph.ops = test::pick(rng, 16, 32);
    Instance instance = test::random_training_graph(static_cast<std::uint64_t>(i) + 1, graph);
    const Report all = replay_keep_all(instance, Semantics::device);
    double moving = 0;
    for (const ValueCost& value : instance.costs.values)
      moving += value.page_in.seconds.value() + value.page_out.seconds.value();
    const double faster = all.runtime.value() / moving * std::exp2(test::pick(rng, 0, 8));
    for (ValueCost& value : instance.costs.values)
      for (TransferCost* transfer : {&value.page_in, &value.page_out})
        transfer->seconds = Seconds(transfer->seconds.value() * faster);
    SolveOptions options;
    options.rematerialization = test::chance(rng, 0.5);
    Limits limits;
    const Bytes least = *ram_floor(make_problem({instance, limits, Semantics::device}, options)).floor_ram;
    limits.ram_budget = least + Bytes((all.peak_ram - least).value() * test::pick(rng, 0, 19) / 20);
    const Problem constrained = make_problem({instance, limits, Semantics::device}, options);
    const auto never = [] { return false; };
    const auto first = greedy(constrained, never);
    if (!first) continue;
    const Candidate found = anneal(constrained, *first, {.evaluations = 3'000}, never);
    const Schedule schedule = to_schedule(constrained, instance, found);
    const Report report = replay(instance, schedule, Semantics::device, limits);
    ASSERT_TRUE(report.valid) << report.violation;
    limits.ram_budget = report.peak_ram;
    limits.deadline = report.runtime;
    const Problem problem = make_problem({instance, limits, Semantics::device}, {});
    for (int n = 0; n < 4; ++n) expect_point(rng, problem, schedule, report, counted);
    paged += report.bytes_written.value() > 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(paged, test::enough(75, 8));
}

INSTANTIATE_TEST_SUITE_P(Oracle, WindowRelaxation,
                         testing::Values(Semantics::published, Semantics::staged, Semantics::device),
                         [](const auto& semantics) { return std::string(to_string(semantics.param)); });

}  // namespace
}  // namespace poet
