#include "poet/optimize/relaxation/window_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/incremental.h"
#include "poet/optimize/heuristic/local_search.h"
#include "poet/optimize/heuristic/oscillation.h"
#include "poet/optimize/milp/branch.h"
#include "poet/optimize/relaxation/merged_windows.h"
#include "poet/optimize/relaxation/recomputation_ram.h"
#include "poet/optimize/relaxation/window_pressure.h"

namespace poet {
namespace {

constexpr int kIdleRounds = 3;       // breakpoints tried in a row without a better bound
constexpr double kLeastRise = 1e-3;  // of the overhead that is proven; less is not a better bound
constexpr long kEvaluationsPerAnswer = 20'000;
constexpr long kChangesPerAnswer = 5'000;
constexpr long kChangesForPrices = 20'000;
constexpr std::uint64_t kSeedOfPrices = 1;
constexpr double kLeastExcess = 0.01;  // of the budget, in a linear relaxation
constexpr int kMostOpsOfDenseRows = 200;
constexpr double kPartOfGap = 0.95;  // within which a relaxation need not be solved
constexpr int kFewColumns = 1'000;   // columns; solved to the end in a moment
constexpr int kWaitReach = 4;        // stages before a wait in which its cause is sought

/// Per stage: RAM with everything that could be of use later.
std::vector<std::int64_t> most_kept(const Problem& p) {
  std::vector<std::int64_t> change(at(p.ops) + 1, 0);
  for (int v = 0; v < p.values; ++v) {
    if (!p.active[at(v)] || p.horizon[at(v)] <= p.producer[at(v)]) continue;
    change[at(p.producer[at(v)]) + 1] += p.bytes[at(v)];
    change[at(p.horizon[at(v)])] -= p.bytes[at(v)];
  }
  std::vector<std::int64_t> bytes(at(p.ops));
  std::int64_t kept = 0;
  for (int t = 0; t < p.ops; ++t) {
    kept += change[at(t)];
    bytes[at(t)] = kept + working_set(p, t);
    if (!p.overwritable[at(t)].empty()) bytes[at(t)] += p.bytes[at(p.first_result[at(t)])];
  }
  for (const Resident& one : p.residents)
    for (std::int64_t& at_stage : bytes) at_stage += one.bytes;
  return bytes;
}

}  // namespace

WindowSearch::WindowSearch(Search& search)
    : search_(search), p_(search.problem()), gaps_(p_), found_(no_decisions(p_)) {
  const Candidate keep_all = complete(p_, no_decisions(p_));
  const auto& peak = keep_all.stage_peak;
  breakpoints_ = {static_cast<int>(std::max_element(peak.begin(), peak.end()) - peak.begin())};
  most_kept_ = most_kept(p_);
}

bool WindowSearch::run(long work, std::set<int>& exact_stages) {
  bool closes = true;  // within so much work; beyond, linear relaxations go on
  // With what to try again when there is more work: breakpoints that raise nothing make it harder.
  std::vector<int> worthwhile;
  double worth = 0;
  for (int idle = 0; !search_.bound_done() && idle < kIdleRounds;) {
    const double before = search_.bound();
    const StageWindows windows(p_, breakpoints_);
    WindowModel model = build_windows(p_, windows, search_.options().tightenings.rounding);
    search_.enter(fmt::format("{} windows", windows.count()));
    const bool added = relax_continuously(windows, model, work);
    if (!closes && search_.bound() - before <= kLeastRise * (search_.bound() - p_.baseline_joules)) ++idle;
    if (added) continue;
    if (closes) {
      Relaxed relaxed = relax_with_ram(windows, model, work);
      // Beside a schedule that would be the solver's noise.
      if (relaxed.closed && relaxed.x.empty() && search_.best_joules() == kInfinity) {
        // The second opinion (explain.h) is without the rows that were added.
        relaxed = relax(build_windows(p_, windows, search_.options().tightenings.rounding), work);
        if (relaxed.closed && relaxed.x.empty()) search_.impossible_windows = breakpoints_;
      }
      if (search_.bound_done() || (relaxed.closed && relaxed.x.empty())) return !relaxed.closed;
      if (!search_.done() && !relaxed.x.empty())
        look_for_schedules(windows, window_decisions(model, relaxed.x), work, exact_stages);
      if (search_.bound_done()) return true;
      closes = relaxed.closed;
      if (closes) {
        const double rise = search_.bound() - before;
        idle = rise > kLeastRise * (search_.bound() - p_.baseline_joules) ? 0 : idle + 1;
        if (!add_where_answer_fails(windows, model, relaxed)) return false;
        continue;
      }
      worthwhile = breakpoints_;
      worth = search_.bound();
    }
    if (!add_where_ram_is_dearest()) break;
  }
  if (!closes && search_.bound() - worth <= kLeastRise * (search_.bound() - p_.baseline_joules))
    breakpoints_ = worthwhile;
  return true;
}

bool WindowSearch::is_breakpoint(int stage) const {
  return std::find(breakpoints_.begin(), breakpoints_.end(), stage) != breakpoints_.end();
}

// False when none overflows. A breakpoint at which everything could be kept would say nothing.
bool WindowSearch::add_overflowing(std::vector<double> ram, int at_most) {
  for (int t = 0; t < p_.ops; ++t)
    if (most_kept_[at(t)] <= p_.budget) ram[at(t)] = 0;
  const std::vector<int> added = overflowing(p_, ram, breakpoints_, at_most);
  breakpoints_.insert(breakpoints_.end(), added.begin(), added.end());
  return !added.empty();
}

bool WindowSearch::add_where_answer_fails(const StageWindows& windows, const WindowModel& model,
                                          const Relaxed& relaxed) {
  if (add_overflowing(ram_implied(p_, windows, model, relaxed.x, gaps_), 1)) return true;
  const WindowDecisions decided = window_decisions(model, relaxed.x);
  if (p_.transfers_take_time()) {
    const std::vector<std::int64_t> peaks = complete(p_, taken_once(p_, windows, decided)).stage_peak;
    if (add_overflowing({peaks.begin(), peaks.end()}, 1)) return true;
  }
  std::vector<double> ram = pressure(p_, windows, decided);
  for (double& bytes : ram)
    if (bytes > 0) bytes += static_cast<double>(p_.budget);
  if (add_overflowing(ram, 1)) return true;
  const Candidate spread = complete(p_, gaps_.decisions(taken_for_each_use(p_, windows, decided, gaps_)));
  return add_overflowing({spread.stage_peak.begin(), spread.stage_peak.end()}, 1) ||
         add_where_recomputed_twice(windows, spread) || add_where_compute_waits();
}

// Device semantics: what the relaxation takes to happen beside compute, and what in the best schedule does
// not. The last stage before the longest wait that is no breakpoint yet: RAM that is full there, or transfers
// that end there, are what it had to wait for.
bool WindowSearch::add_where_compute_waits() {
  if (!p_.transfers_take_time() || !search_.has_incumbent()) return false;
  IncrementalReplay replay(p_);
  replay.load(search_.incumbent().decisions);
  const std::vector<double> waits = replay.waits();
  std::vector<int> order;
  for (int t = 1; t < p_.ops; ++t)
    if (waits[at(t)] > 0) order.push_back(t);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return waits[at(a)] > waits[at(b)]; });
  for (int t : order)
    for (int before = t - 1; before >= std::max(0, t - kWaitReach); --before)
      if (!is_breakpoint(before)) {
        breakpoints_.push_back(before);
        return true;
      }
  return false;
}

// The relaxation computes an op once in a window where a schedule that fits does so more often, or keeps the
// result: a breakpoint in between decides which. Most joules first, at stages that are nearly full.
bool WindowSearch::add_where_recomputed_twice(const StageWindows& windows, const Candidate& spread) {
  std::vector<double> doubled(at(p_.ops), 0.0);
  std::vector<int> last(at(p_.ops), -1);
  for (int t = 0; t < p_.ops; ++t)
    for (int op : spread.decisions.recompute[at(t)]) {
      if (last[at(op)] >= 0 && windows.of(last[at(op)]) == windows.of(t))
        for (int s = last[at(op)]; s < t; ++s) doubled[at(s)] += p_.joules[at(op)];
      last[at(op)] = t;
    }
  int best = -1;
  double most = 0;
  for (int t = 0; t < p_.ops; ++t) {
    const double full = static_cast<double>(spread.stage_peak[at(t)]) / static_cast<double>(p_.budget);
    const double score = doubled[at(t)] * std::pow(full, 4);
    if (score > most && !is_breakpoint(t)) {
      most = score;
      best = t;
    }
  }
  if (best >= 0) breakpoints_.push_back(best);
  return best >= 0;
}

// Breakpoints that the linear relaxation already asks for are cheaper to find with it. True when it has added
// some. The rows that it has broken on the way become the model's.
bool WindowSearch::relax_continuously(const StageWindows& windows, WindowModel& model, long work) {
  LpOptions options;
  options.time_limit_seconds = search_.remaining();
  options.work_limit = work;
  options.stop = [&] { return search_.must_stop(); };
  options.cuts = [&](const std::vector<double>& x) {
    std::vector<Linear> cuts = merged_window_cuts(p_, windows, model, x);
    if (p_.ops > kMostOpsOfDenseRows) return cuts;
    std::vector<Linear> more = recomputation_ram_cuts(p_, windows, model, x, kLeastExcess);
    std::move(more.begin(), more.end(), std::back_inserter(cuts));
    return cuts;
  };
  const LpResult lp = solve_lp(model.model, options);
  search_.used_solver = true;
  if (lp.status != LpStatus::optimal) return false;
  raise_bound(model, lp.objective);
  for (const Linear& cut : lp.cuts) model.model.at_least(cut, 1);
  return add_overflowing(ram_implied(p_, windows, model, lp.x, gaps_), 1 + windows.count() / 4);
}

// Where annealing from all kept meets most overflow.
bool WindowSearch::add_where_ram_is_dearest() {
  if (p_.transfers_take_time()) return false;
  if (prices_of_ram_.empty()) {
    search_.enter("prices of RAM");
    Oscillation oscillation(p_, kSeedOfPrices);
    const bool found = oscillation.run(kChangesForPrices, [this] { return search_.must_stop(); });
    if (found) search_.offer(*oscillation.best());
    prices_of_ram_ = oscillation.prices();
  }
  double most = 0;
  for (const double price : prices_of_ram_) most = std::max(most, price);
  if (most <= 0) return false;
  std::vector<double> ram(at(p_.ops));
  for (std::size_t t = 0; t < ram.size(); ++t)
    ram[t] = static_cast<double>(p_.budget) * (1 + prices_of_ram_[t] / most);
  return add_overflowing(ram, 1 + static_cast<int>(breakpoints_.size()) / 4);
}

// Again while its answer takes more RAM than there is when something is recomputed.
WindowSearch::Relaxed WindowSearch::relax_with_ram(const StageWindows& windows, WindowModel& model,
                                                   long work) {
  const int rounds = p_.ops > kMostOpsOfDenseRows ? 2 : 20;
  Relaxed relaxed = relax(model, work);
  for (int round = 0; round < rounds && relaxed.closed && !relaxed.x.empty() && !search_.bound_done();
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
  options.threads = search_.options().threads;
  options.solver = embedded(search_.options().solver);
  options.heuristics = search_.best_joules() == kInfinity;
  options.keep_going = [this](double, double) { return !search_.must_stop(); };
  // What is left to show is that nothing beats what is known by more than the gap that was asked for.
  const double best = search_.best_joules();
  const double target =
      p_.baseline_joules + (best - p_.baseline_joules) * (1 - kPartOfGap * search_.options().gap);
  if (target < best && model.model.columns() > kFewColumns)
    options.cutoff = (target - p_.baseline_joules) * model.scale;
  MipResult mip = solve_mip(model.model, options);
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

// The relaxation's decisions as schedules, and everything in between: for each use, or once in the window, or
// for some uses.
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
  // Whichever plan leads: in the time of this MIP more breakpoints and the plans of their answers bring more.
  if (search_.done() || (search_.searches_synchronously() && search_.best_joules() < kInfinity)) return;
  search_.enter("restricted");
  Columns columns{found_};
  merge(columns, gaps_.decisions(modes));
  merge(columns, once);
  found_ = columns.allowed;
  if (search_.has_incumbent()) merge(columns, search_.incumbent().decisions);
  columns.page_out_anytime = p_.semantics == Semantics::published;
  search_restricted(search_, columns, exact_stages, work);
}

}  // namespace poet
