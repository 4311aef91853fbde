#include "poet/optimize/gap_bound.h"

#include <algorithm>
#include <cmath>

#include "poet/base/numbers.h"
#include "poet/optimize/effort.h"
#include "poet/optimize/search/search.h"

namespace poet {

GapBound::GapBound(const Problem& problem)
    : p_(problem), gaps_(problem), relaxation_(problem, gaps_), least_(relaxation_.bound()) {}

bool GapBound::go_on(double best_joules, const std::function<bool()>& stop) {
  constexpr int kRounds = 100;
  constexpr double kNearer = 0.7;
  constexpr double kFirst = 1e-3;                 // of the baseline, where no plan is known
  const bool quick = p_.regime.takes_turns;       // as plans wait meanwhile
  const int patience = quick ? 4 : 8;             // consecutive rounds without a rise
  const double least_rise = quick ? 1e-3 : 1e-4;  // relative to the proven overhead
  if (ended_ || rounds_ == kRounds || idle_ == patience) return false;
  ++rounds_;
  const double before = relaxation_.bound();
  const double overhead = std::max(0.0, before - p_.baseline_joules);
  const double to_go =
      best_joules < kInfinity ? best_joules - before : overhead + kFirst * p_.baseline_joules;
  const auto reached = relaxation_.improve(before + farther_ * to_go, stop);
  if (!reached) return !(ended_ = true);
  if (*reached < relaxation_.bound()) farther_ *= kNearer;
  ended_ = relaxation_.bound() <= least_;
  idle_ = relaxation_.bound() > before + least_rise * overhead ? 0 : idle_ + 1;
  return true;
}

double GapBound::bound() const {
  const double proven = relaxation_.bound() - least_;
  return least_ + std::max(0.0, proven - solver_tolerance(proven * p_.objective_scale) / p_.objective_scale);
}

double GapBound::effort_of_round() const {
  constexpr double kManyOps = 10'000;  // from where flows take more for each op
  return effort_per_op(7 * std::sqrt(std::max(1.0, p_.ops / kManyOps)), p_.ops);
}

}  // namespace poet
