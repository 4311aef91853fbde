#include "poet/optimize/relaxation/residence_relaxation.h"

#include <algorithm>
#include <cmath>

#include "poet/base/numbers.h"
#include "poet/optimize/effort.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/relaxation/breakpoints.h"
#include "poet/optimize/relaxation/implied_ram.h"
#include "poet/optimize/relaxation/window_decisions.h"
#include "poet/optimize/search/search.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {
namespace {

// Simplex iterations of one relaxation. Doubled whenever a mixed-integer one is not solved.
constexpr long kFirstIterations = 5'000;
constexpr long kLastIterations = 200'000;
constexpr int kMostIdle = 4;         // consecutive rounds without a better bound
constexpr double kLeastGain = 1e-4;  // least relative rise of a better bound

}  // namespace

ResidenceRelaxation::ResidenceRelaxation(const Problem& problem, const SolveOptions& options)
    : p_(problem), options_(options), gaps_(problem) {
  bound_ = p_.baseline_joules;
  for (const Resident& resident : p_.residents) bound_ -= resident.joules;
  least_ = bound_;
  const std::vector<std::int64_t>& needs = p_.working_sets;
  breakpoints_ = {static_cast<int>(std::max_element(needs.begin(), needs.end()) - needs.begin())};
  iterations_ = kFirstIterations;
}

bool ResidenceRelaxation::go_on(double best_joules, const Stop& stop) {
  const bool proven =
      best_joules < kInfinity && best_joules - bound_ <= options_.gap * (best_joules - least_);
  if (ended_ || idle_ == kMostIdle || proven || stop()) return false;
  const double before = bound_;
  effort_ += effort_per_op(100, p_.ops);
  const StageWindows windows(p_, breakpoints_);
  WindowModel model = build_windows(p_, windows, options_.tightenings.rounding);
  Linear resident;
  for (const int column : model.resident) resident.add(1, Term::of(column));
  model.model.at_most(resident, static_cast<double>(model.resident.size()) - 1);
  if (relax_continuously(windows, model, stop)) return true;  // breakpoints were added
  const auto [closed, x] = relax(model, stop);
  const bool last = closed || iterations_ >= kLastIterations;
  if (!closed) iterations_ = std::min(2 * iterations_, kLastIterations);
  ended_ = x.empty() && last;
  if (x.empty()) return true;
  idle_ = bound_ > before * (1 + kLeastGain) || !last ? 0 : idle_ + 1;
  const WindowDecisions decided = window_decisions(model, x);
  const Candidate spread = complete(p_, gaps_.decisions(taken_for_each_use(p_, windows, decided, gaps_)));
  const bool added = add_overflowing(ram_implied(p_, windows, model, x, gaps_), 1) ||
                     add_overflowing({spread.stage_peak.begin(), spread.stage_peak.end()}, 1);
  ended_ = last && !added;
  return true;
}

void ResidenceRelaxation::raise_bound(const WindowModel& model, double objective) {
  if (!std::isfinite(objective)) return;
  const double joules = p_.baseline_joules + (objective - solver_tolerance(objective)) / model.scale;
  bound_ = std::max(bound_, joules);
}

bool ResidenceRelaxation::relax_continuously(const StageWindows& windows, const WindowModel& model,
                                             const Stop& stop) {
  const LpResult lp = solve_lp(model.model, stop.remaining(), stop, kLastIterations);
  effort_ += effort_of_simplex(lp.work, model.model.rows());
  if (lp.status != LpStatus::optimal) return false;
  raise_bound(model, lp.objective);
  return add_overflowing(ram_implied(p_, windows, model, lp.x, gaps_), 1 + windows.count() / 4);
}

ResidenceRelaxation::Relaxed ResidenceRelaxation::relax(const WindowModel& model, const Stop& stop) {
  MipOptions mip;
  mip.time_limit_seconds = stop.remaining();
  mip.work_limit = iterations_;
  mip.relative_gap = std::min(1e-4, 0.1 * options_.gap);
  mip.solver = embedded(options_.solver);
  mip.keep_going = [&stop](double, double) { return !stop(); };
  MipResult result = solve_mip(model.model, mip);
  effort_ += effort_of_simplex(result.work, model.model.rows());
  raise_bound(model, result.bound);
  const bool closed = result.status == MipStatus::optimal;
  if (result.x.empty()) return {closed, {}};
  resident_.clear();
  for (const int column : model.resident) resident_.push_back(result.x[at(column)] > 0.5 ? 1 : 0);
  return {closed, std::move(result.x)};
}

bool ResidenceRelaxation::add_overflowing(const std::vector<double>& ram, int at_most) {
  const std::vector<int> added = overflowing(p_, ram, breakpoints_, at_most);
  breakpoints_.insert(breakpoints_.end(), added.begin(), added.end());
  return !added.empty();
}

}  // namespace poet
