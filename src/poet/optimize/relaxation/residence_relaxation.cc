#include "poet/optimize/relaxation/residence_relaxation.h"

#include <algorithm>
#include <cmath>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/relaxation/breakpoints.h"
#include "poet/optimize/relaxation/implied_ram.h"
#include "poet/optimize/relaxation/window_decisions.h"
#include "poet/optimize/search/search.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {
namespace {

constexpr long kIterations = 200'000;  // simplex iterations of one relaxation
constexpr int kMostIdle = 4;           // consecutive rounds without a better bound
constexpr double kLeastGain = 1e-4;    // least relative rise of a better bound

class Relaxing {
 public:
  Relaxing(const Problem& problem, const SolveOptions& options, double best_joules, const Stop& stop)
      : p_(problem), options_(options), best_(best_joules), stop_(stop), gaps_(problem) {
    found_.bound = p_.baseline_joules;
    for (const Resident& resident : p_.residents) found_.bound -= resident.joules;
    least_ = found_.bound;
  }

  ResidenceRelaxation run() {
    const std::vector<std::int64_t>& needs = p_.working_sets;
    breakpoints_ = {static_cast<int>(std::max_element(needs.begin(), needs.end()) - needs.begin())};
    for (int idle = 0; idle < kMostIdle && !done();) {
      const double before = found_.bound;
      const StageWindows windows(p_, breakpoints_);
      WindowModel model = build_windows(p_, windows, options_.tightenings.rounding);
      Linear resident;
      for (const int column : model.resident) resident.add(1, Term::of(column));
      model.model.at_most(resident, static_cast<double>(model.resident.size()) - 1);
      if (relax_continuously(windows, model)) continue;  // breakpoints were added
      const std::vector<double> x = relax(model);
      if (x.empty() || done()) break;
      idle = found_.bound > before * (1 + kLeastGain) ? 0 : idle + 1;
      const WindowDecisions decided = window_decisions(model, x);
      const Candidate spread = complete(p_, gaps_.decisions(taken_for_each_use(p_, windows, decided, gaps_)));
      if (!add_overflowing(ram_implied(p_, windows, model, x, gaps_), 1) &&
          !add_overflowing({spread.stage_peak.begin(), spread.stage_peak.end()}, 1))
        break;
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool done() const {
    return stop_() || (best_ < kInfinity && best_ - found_.bound <= options_.gap * (best_ - least_));
  }

  void raise_bound(const WindowModel& model, double objective) {
    if (!std::isfinite(objective)) return;
    const double joules = p_.baseline_joules + (objective - solver_tolerance(objective)) / model.scale;
    found_.bound = std::max(found_.bound, joules);
  }

  bool relax_continuously(const StageWindows& windows, const WindowModel& model) {
    const LpResult lp = solve_lp(
        model.model, stop_.remaining(), [this] { return stop_(); }, kIterations);
    if (lp.status != LpStatus::optimal) return false;
    raise_bound(model, lp.objective);
    return add_overflowing(ram_implied(p_, windows, model, lp.x, gaps_), 1 + windows.count() / 4);
  }

  std::vector<double> relax(const WindowModel& model) {
    MipOptions mip;
    mip.time_limit_seconds = stop_.remaining();
    mip.work_limit = kIterations;
    mip.relative_gap = std::min(1e-4, 0.1 * options_.gap);
    mip.threads = options_.threads;
    mip.solver = embedded(options_.solver);
    mip.keep_going = [this](double, double) { return !stop_(); };
    MipResult result = solve_mip(model.model, mip);
    raise_bound(model, result.bound);
    if (result.x.empty()) return {};
    found_.resident.clear();
    for (const int column : model.resident) found_.resident.push_back(result.x[at(column)] > 0.5 ? 1 : 0);
    return std::move(result.x);
  }

  bool add_overflowing(const std::vector<double>& ram, int at_most) {
    const std::vector<int> added = overflowing(p_, ram, breakpoints_, at_most);
    breakpoints_.insert(breakpoints_.end(), added.begin(), added.end());
    return !added.empty();
  }

  const Problem& p_;
  const SolveOptions& options_;
  const double best_;
  double least_ = 0;  // energy of every op once, with everything resident
  const Stop& stop_;
  const Gaps gaps_;
  std::vector<int> breakpoints_;
  ResidenceRelaxation found_;
};

}  // namespace

ResidenceRelaxation relax_residence(const Problem& problem, const SolveOptions& options, double best_joules,
                                    const Stop& stop) {
  return Relaxing(problem, options, best_joules, stop).run();
}

}  // namespace poet
