#include "poet/optimize/window_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "poet/optimize/branch.h"
#include "poet/optimize/gaps.h"
#include "poet/optimize/greedy.h"
#include "poet/optimize/windows.h"

namespace poet {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// What one relaxation says.
struct Relaxed {
  bool closed = false;  // solved to its optimum
  std::vector<double> x;
};

class WindowSearch {
 public:
  WindowSearch(Search& search, std::set<int>& exact_stages)
      : search_(search),
        p_(search.problem()),
        gaps_(p_),
        exact_stages_(exact_stages),
        found_{no_decisions(p_)} {
    found_.page_out_anytime = p_.semantics == Semantics::published;
  }

  void run() {
    const Candidate keep_all = complete(p_, no_decisions(p_));
    const auto& peak = keep_all.stage_peak;
    breakpoints_ = {static_cast<int>(std::max_element(peak.begin(), peak.end()) - peak.begin())};
    int idle_rounds = 0;  // without a better bound
    while (!search_.done() && static_cast<int>(breakpoints_.size()) <= kMostBreakpoints) {
      const double before = search_.bound();
      const Windows windows(p_, breakpoints_);
      const WindowModel model = build_windows(p_, windows, search_.options().tightenings.rounding);
      search_.enter(fmt::format("{} windows", windows.count()));
      if (!relax_continuously(windows, model)) continue;  // has found breakpoints
      const Relaxed relaxed = relax(model);
      if (relaxed.x.empty() || search_.done()) return;
      const WindowDecisions decided = window_decisions(model, relaxed.x);
      const Candidate spread = look_for_schedules(windows, decided);
      if (search_.done()) return;
      idle_rounds =
          search_.bound() > before + 1e-3 * (search_.bound() - p_.baseline_joules) ? 0 : idle_rounds + 1;
      if (idle_rounds > kMostIdleRounds || !relaxed.closed) return;
      if (!add_overflowing(ram_implied(p_, windows, model, relaxed.x, gaps_), 1) &&
          !add_overflowing({spread.stage_peak.begin(), spread.stage_peak.end()}, 1) &&
          !add_where_recomputed_twice(windows, spread))
        return;
    }
  }

 private:
  static constexpr int kMostBreakpoints = 12;
  static constexpr int kMostIdleRounds = 2;

  [[nodiscard]] bool is_breakpoint(int t) const {
    return std::binary_search(breakpoints_.begin(), breakpoints_.end(), t);
  }

  void add_breakpoint(int t) {
    breakpoints_.insert(std::lower_bound(breakpoints_.begin(), breakpoints_.end(), t), t);
  }

  // The stages that overflow most, not beside each other. False when none does.
  bool add_overflowing(const std::vector<double>& ram, int at_most) {
    constexpr int kApart = 2;
    std::vector<int> order;
    for (int t = 0; t < p_.ops; ++t)
      if (ram[at(t)] > static_cast<double>(p_.budget) * (1 + 1e-6) && !is_breakpoint(t)) order.push_back(t);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return ram[at(a)] > ram[at(b)]; });
    std::vector<int> added;
    for (int t : order) {
      if (static_cast<int>(added.size()) >= at_most) break;
      if (std::any_of(added.begin(), added.end(), [&](int s) { return std::abs(s - t) <= kApart; })) continue;
      add_breakpoint(t);
      added.push_back(t);
    }
    return !added.empty();
  }

  // Breakpoints that the linear relaxation already asks for are cheaper to find with it. True when it asks
  // for none.
  bool relax_continuously(const Windows& windows, const WindowModel& model) {
    const LpResult lp = solve_lp(model.model, search_.remaining(), [&] { return search_.must_stop(); });
    search_.used_solver = true;
    if (lp.status != LpResult::Status::optimal) return true;
    raise_bound(model, lp.objective);
    return !add_overflowing(ram_implied(p_, windows, model, lp.x, gaps_), 1 + windows.count() / 4);
  }

  Relaxed relax(const WindowModel& model) {
    MipOptions options;
    options.time_limit_seconds = std::min(0.15 * search_.options().time_limit_seconds, search_.remaining());
    options.relative_gap = std::min(1e-4, 0.1 * search_.options().gap);
    options.keep_going = [this](double, double) { return !search_.must_stop(); };
    MipResult mip = solve_mip(model.model, options);
    search_.nodes += mip.nodes;
    raise_bound(model, mip.bound);
    return {mip.status == MipResult::Status::optimal, std::move(mip.x)};
  }

  void raise_bound(const WindowModel& model, double objective) {
    if (!std::isfinite(objective)) return;
    const double tolerance = 1e-7 * std::abs(objective);
    search_.raise_bound(p_.baseline_joules + std::max(0.0, objective - tolerance) / model.scale);
  }

  // The relaxation's decisions as schedules, and everything in between: for each use, or once in the window,
  // or for some uses. The one for each use is returned.
  Candidate look_for_schedules(const Windows& windows, const WindowDecisions& decided) {
    const std::vector<Mode> modes = taken_for_each_use(p_, windows, decided, gaps_);
    Candidate spread = complete(p_, gaps_.decisions(modes));
    search_.offer(spread);
    const Decisions once = taken_once(p_, windows, decided);
    search_.offer(complete(p_, once));
    if (const auto mended = greedy_from(p_, modes, [&] { return search_.must_stop(); }))
      search_.offer(*mended);
    if (search_.done()) return spread;
    merge(found_, spread.decisions);
    merge(found_, once);
    if (search_.has_incumbent()) merge(found_, search_.incumbent().decisions);
    search_restricted(search_, found_, exact_stages_, 0.1 * search_.options().time_limit_seconds);
    return spread;
  }

  // The relaxation computes an op once in a window where a schedule that fits does so more often, or keeps
  // the result: a breakpoint in between decides which. Most joules first, at stages that are nearly full.
  bool add_where_recomputed_twice(const Windows& windows, const Candidate& spread) {
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
    if (best >= 0) add_breakpoint(best);
    return best >= 0;
  }

  Search& search_;
  const Problem& p_;
  const Gaps gaps_;
  std::set<int>& exact_stages_;
  Columns found_;  // what the relaxations have decided so far
  std::vector<int> breakpoints_;
};

}  // namespace

void search_windows(Search& search, std::set<int>& exact_stages) { WindowSearch(search, exact_stages).run(); }

}  // namespace poet
