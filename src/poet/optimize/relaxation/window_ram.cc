#include "poet/optimize/relaxation/window_ram.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/relaxation/implied_ram.h"
#include "poet/optimize/relaxation/window_decisions.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {
namespace {

constexpr double kRowTolerance = 1e-7;  // relative error of the solver's RAM bound

int largest_working_set(const Problem& p) {
  int largest = 0;
  for (int t = 1; t < p.ops; ++t)
    if (working_set(p, t) > working_set(p, largest)) largest = t;
  return largest;
}

/// Returns the fullest stage with more than `least` bytes that is not a breakpoint, or -1.
int fullest(const std::vector<double>& ram, double least, const std::vector<int>& breakpoints) {
  int most = -1;
  for (int t = 0; t < static_cast<int>(ram.size()); ++t) {
    const bool is_new = std::find(breakpoints.begin(), breakpoints.end(), t) == breakpoints.end();
    if (is_new && ram[at(t)] > least && (most < 0 || ram[at(t)] > ram[at(most)])) most = t;
  }
  return most;
}

}  // namespace

double prove_least_ram(Search& search, long work, const Stop& stop) {
  const Problem& p = search.problem();
  if (stop()) return static_cast<double>(working_set(p, largest_working_set(p)));
  const Gaps gaps(p);
  std::vector<int> breakpoints = search.impossible_windows;
  if (breakpoints.empty()) breakpoints = {largest_working_set(p)};
  auto proven = static_cast<double>(working_set(p, largest_working_set(p)));
  while (proven <= static_cast<double>(p.budget) && work > 0 && !stop()) {
    const StageWindows windows(p, breakpoints);
    const WindowModel model = build_windows(p, windows, false, WindowObjective::ram);
    MipOptions options;
    options.time_limit_seconds = stop.remaining();
    options.work_limit = work;
    options.relative_gap = 1e-9;
    options.solver = embedded(search.options().solver);
    options.keep_going = [&](double, double) { return !stop(); };
    search.used_solver = true;
    const MipResult mip = solve_mip(model.model, options);
    work -= std::max(1L, mip.work);
    // The budget is free, so "infeasible" concerns the other limits, for which there is no second check.
    if (mip.status == MipStatus::infeasible) break;
    proven = std::max(proven, mip.bound * model.ram_unit * (1 - kRowTolerance));
    if (mip.x.empty()) break;
    const double promised = mip.objective * model.ram_unit;
    const WindowDecisions decided = window_decisions(model, mip.x);
    // Adds the stage in which the solution must overflow, or else the fullest one of its decisions taken for
    // each use.
    int next = fullest(ram_implied(p, windows, model, mip.x, gaps), promised * (1 + 1e-6), breakpoints);
    if (next < 0) {
      const Candidate spread = complete(p, gaps.decisions(taken_for_each_use(p, windows, decided, gaps)));
      next = fullest({spread.stage_peak.begin(), spread.stage_peak.end()}, 0, breakpoints);
    }
    if (next < 0) break;
    breakpoints.push_back(next);
  }
  return proven;
}

}  // namespace poet
