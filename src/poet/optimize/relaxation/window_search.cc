#include "poet/optimize/relaxation/window_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "poet/base/numbers.h"
#include "poet/optimize/effort.h"
#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/local_search.h"
#include "poet/optimize/heuristic/oscillation.h"
#include "poet/optimize/milp/branch.h"
#include "poet/optimize/relaxation/merged_windows.h"
#include "poet/optimize/relaxation/recomputation_ram.h"
#include "poet/optimize/solvers/presolve.h"

namespace poet {
namespace {

constexpr int kIdleRounds = 3;             // consecutive breakpoints without a better bound
constexpr int kIdleLinearRounds = 2;       // likewise, with linear relaxations only
constexpr double kLeastRise = 1e-3;        // of a better bound, relative to the proven overhead
constexpr double kLeastLinearRise = 5e-3;  // likewise; justifies a larger tree
constexpr long kEvaluationsPerAnswer = 20'000;
constexpr long kChangesPerAnswer = 5'000;
constexpr long kChangesForPrices = 20'000;
constexpr std::uint64_t kSeedOfPrices = 1;
constexpr double kLeastExcess = 0.01;  // relative to the budget, in a linear relaxation
constexpr double kPartOfGap = 0.95;    // relaxations are cut off within this part of the gap
constexpr long kRows = 40'000;         // a presolved model with fewer rows gets more iterations
constexpr long kMostIterations = 8;    // upper limit of that factor

}  // namespace

WindowSearch::WindowSearch(Search& search)
    : search_(search), p_(search.problem()), gaps_(p_), breakpoints_(p_, gaps_), found_(no_decisions(p_)) {}

bool WindowSearch::run(long work, std::set<int>& exact_stages) {
  const Ended ended = run_to_the_end(work, exact_stages);
  if (ended == Ended::out_of_work && !search_.bound_done()) relax_further(work);
  return ended != Ended::nothing_left;
}

void WindowSearch::relax_at_first(long work) {
  bool added = true;
  while (added && !search_.bound_done()) {
    const StageWindows windows(p_, breakpoints_.stages());
    WindowModel model = build_windows(p_, windows, search_.options().tightenings.rounding);
    search_.enter(fmt::format("relaxation of {} windows", windows.count()));
    added = relax_continuously(windows, model, work);
  }
}

// Solves integer relaxations with more and more breakpoints.
WindowSearch::Ended WindowSearch::run_to_the_end(long work, std::set<int>& exact_stages) {
  for (int idle = 0; !search_.bound_done() && idle < kIdleRounds;) {
    const double before = search_.bound();
    const StageWindows windows(p_, breakpoints_.stages());
    WindowModel model = build_windows(p_, windows, search_.options().tightenings.rounding);
    search_.enter(fmt::format("relaxation of {} windows", windows.count()));
    if (relax_continuously(windows, model, work)) continue;
    Relaxed relaxed = relax_with_ram(windows, model, work);
    // Infeasible although a schedule is known would be numerical noise.
    if (relaxed.closed && relaxed.x.empty() && search_.best_joules() == kInfinity) {
      // The second solve (explain.h) omits the added cuts.
      relaxed = relax(build_windows(p_, windows, search_.options().tightenings.rounding), work);
      if (relaxed.closed && relaxed.x.empty()) search_.impossible_windows = breakpoints_.stages();
    }
    if (search_.bound_done() || (relaxed.closed && relaxed.x.empty()))
      return relaxed.closed ? Ended::nothing_left : Ended::out_of_work;
    if (!search_.done() && !relaxed.x.empty())
      look_for_schedules(windows, window_decisions(model, relaxed.x), work, exact_stages);
    if (search_.bound_done() || !relaxed.closed) return Ended::out_of_work;
    idle = has_risen(before, kLeastRise) ? 0 : idle + 1;
    if (!add_where_answer_fails(windows, model, relaxed.x)) return Ended::nothing_left;
  }
  return Ended::idle;
}

// Runs linear relaxations only. Keeps the breakpoints up to the last one that raised the bound, since others
// only enlarge the tree.
void WindowSearch::relax_further(long work) {
  std::vector<int> worthwhile = breakpoints_.stages();
  // The first relaxation repeats a known one to find where it fails, hence the additional round.
  for (int idle = -1; !search_.bound_done() && idle < kIdleLinearRounds;) {
    const double before = search_.bound();
    const std::vector<int> tried = breakpoints_.stages();
    const StageWindows windows(p_, breakpoints_.stages());
    WindowModel model = build_windows(p_, windows, search_.options().tightenings.rounding);
    search_.enter(fmt::format("relaxation of {} windows", windows.count()));
    const bool added = relax_continuously(windows, model, work);
    if (has_risen(before, kLeastLinearRise)) {
      worthwhile = tried;
      idle = 0;
    } else {
      ++idle;
    }
    if (!added && !add_where_relaxation_fails(windows, model)) break;
  }
  breakpoints_.reset(worthwhile);
}

bool WindowSearch::add_where_answer_fails(const StageWindows& windows, const WindowModel& model,
                                          const std::vector<double>& x) {
  return breakpoints_.add_where_answer_fails(windows, model, x) ||
         (search_.has_incumbent() && breakpoints_.add_where_compute_waits(search_.incumbent().decisions));
}

// Adds breakpoints where the rounded linear relaxation fails. Only if transfers take no time, as such
// relaxations are nearly integral. Returns whether it added some.
bool WindowSearch::add_where_relaxation_fails(const StageWindows& windows, const WindowModel& model) {
  if (p_.transfers_take_time()) return false;
  const int at_most = 1 + windows.count() / 4;
  if (relaxation_.status == LpStatus::optimal &&
      breakpoints_.add_where_pressed(windows, window_decisions(model, relaxation_.x), at_most))
    return true;
  if (prices_of_ram_.empty()) {
    search_.enter("RAM multipliers");
    Oscillation oscillation(p_, kSeedOfPrices);
    const bool found = oscillation.run(kChangesForPrices, [this] { return search_.must_stop(); });
    if (found) search_.offer(*oscillation.best());
    prices_of_ram_ = oscillation.prices();
  }
  return breakpoints_.add_where_costliest(prices_of_ram_, at_most);
}

// Returns whether the bound has risen by more than `part` of the proven overhead.
bool WindowSearch::has_risen(double before, double part) const {
  return search_.bound() - before > part * (search_.bound() - p_.baseline_joules);
}

// Adds breakpoints where the linear relaxation overflows, which is cheaper than an integer solve. Returns
// whether it added some. Adds the cuts that it finds to the model.
bool WindowSearch::relax_continuously(const StageWindows& windows, WindowModel& model, long work) {
  LpOptions options;
  options.time_limit_seconds = search_.remaining();
  options.work_limit = work;
  options.stop = [&] { return search_.must_stop(); };
  options.cuts = [&](const std::vector<double>& x) {
    std::vector<Linear> cuts = merged_window_cuts(p_, windows, model, x);
    std::vector<Linear> more = recomputation_ram_cuts(p_, windows, model, x, kLeastExcess);
    std::move(more.begin(), more.end(), std::back_inserter(cuts));
    return cuts;
  };
  relaxation_ = solve_lp(model.model, options);
  search_.effort += effort_of_simplex(relaxation_.work, model.model.rows());
  search_.used_solver = true;
  if (relaxation_.status != LpStatus::optimal) return false;
  raise_bound(model, relaxation_.objective);
  for (const Linear& cut : relaxation_.cuts) model.model.at_least(cut, 1);
  return breakpoints_.add_where_implied(windows, model, relaxation_.x, 1 + windows.count() / 4);
}

// Solves the relaxation, and repeats with cuts while the solution exceeds RAM during a recomputation.
WindowSearch::Relaxed WindowSearch::relax_with_ram(const StageWindows& windows, WindowModel& model,
                                                   long work) {
  constexpr int kRounds = 20;
  Relaxed relaxed = relax(model, work);
  for (int round = 0; round < kRounds && relaxed.closed && !relaxed.x.empty() && !search_.bound_done();
       ++round) {
    const std::vector<Linear> cuts = recomputation_ram_cuts(p_, windows, model, relaxed.x, 1e-6);
    if (cuts.empty()) break;
    for (const Linear& cut : cuts) model.model.at_least(cut, 1);
    relaxed = relax(model, work);
  }
  return relaxed;
}

WindowSearch::Relaxed WindowSearch::relax(const WindowModel& model, long work) {
  MipOptions options;
  options.time_limit_seconds = search_.remaining();
  options.work_limit = work;
  options.relative_gap = std::min(1e-4, 0.1 * search_.options().gap);
  options.solver = embedded(search_.options().solver);
  options.heuristics = search_.best_joules() == kInfinity;
  options.keep_going = [this](double, double) { return !search_.must_stop(); };
  // It suffices to prove that no plan is better than the best known by more than the requested gap.
  const double best = search_.best_joules();
  if (best < kInfinity) {
    const double target =
        p_.baseline_joules + (best - p_.baseline_joules) * (1 - kPartOfGap * search_.options().gap);
    if (target < best) options.cutoff = (target - p_.baseline_joules) * model.scale;
  }
  Model decided = model.model;
  if (search_.options().tightenings.reduced_cost_fixing &&
      fix_by_reduced_costs(decided, relaxation_, options.cutoff)) {
    const long rows = std::max(1, presolve(decided).model.rows());
    options.work_limit = work * std::clamp(kRows / rows, 1L, kMostIterations);
  }
  MipResult mip = solve_mip(decided, options);
  search_.effort += effort_of_simplex(mip.work, decided.rows());
  search_.nodes += mip.nodes;
  const bool nothing_below = mip.status == MipStatus::infeasible && options.cutoff < kInfinity;
  raise_bound(model, nothing_below ? options.cutoff : std::min(mip.bound, options.cutoff));
  const bool closed = mip.status == MipStatus::optimal || mip.status == MipStatus::infeasible;
  return {closed, std::move(mip.x)};
}

void WindowSearch::raise_bound(const WindowModel& model, double objective) {
  if (!std::isfinite(objective)) return;
  search_.raise_bound(p_.baseline_joules +
                      std::max(0.0, objective - solver_tolerance(objective)) / model.scale);
}

// Tries the relaxation's decisions as schedules: taken for each use, once per window, or for some uses.
void WindowSearch::look_for_schedules(const StageWindows& windows, const WindowDecisions& decided, long work,
                                      std::set<int>& exact_stages) {
  const auto stop = [this] { return search_.must_stop(); };
  if (stop()) return;
  const std::vector<GapMode> modes = taken_for_each_use(p_, windows, decided, gaps_);
  const Decisions once = taken_once(p_, windows, decided);
  search_.follow_synchronously(once, modes);
  search_.offer(complete(p_, once));
  if (!p_.paging) {
    Oscillation oscillation(p_, 1);
    oscillation.start_from(once);
    if (oscillation.run(kChangesPerAnswer, [this] { return search_.done(); }))
      search_.offer(*oscillation.best());
  } else if (const auto mended = greedy_from(p_, modes, stop)) {
    search_.offer(*mended);
    if (!search_.done()) search_.offer(anneal(p_, *mended, {.evaluations = kEvaluationsPerAnswer}, stop));
  }
  // More breakpoints and the plans of their solutions are worth more than the time of this MIP.
  if (search_.done() || (search_.searches_synchronously() && search_.best_joules() < kInfinity)) return;
  search_.enter("restricted MIP");
  Columns columns{found_};
  merge(columns, gaps_.decisions(modes));
  merge(columns, once);
  found_ = columns.allowed;
  if (search_.has_incumbent()) merge(columns, search_.incumbent().decisions);
  columns.page_out_anytime = p_.semantics == Semantics::published;
  search_restricted(search_, columns, exact_stages, work);
}

}  // namespace poet
