#include "poet/optimize/gap_bound.h"

#include <algorithm>

namespace poet {

GapBound::GapBound(Search& search)
    : search_(search), gaps_(search.problem()), relaxation_(search.problem(), gaps_) {}

bool GapBound::go_on() {
  constexpr int kRounds = 100;
  constexpr double kNearer = 0.7;
  const Problem& p = search_.problem();
  const bool quick = p.regime.takes_turns;        // as plans wait meanwhile
  const int patience = quick ? 4 : 8;             // consecutive rounds without a rise
  const double least_rise = quick ? 1e-3 : 1e-4;  // relative to the proven overhead
  if (ended_ || rounds_ == kRounds || idle_ == patience || search_.bound_done()) return false;
  ++rounds_;
  const double before = relaxation_.bound() - p.baseline_joules;
  const double target = relaxation_.bound() + farther_ * before + 1e-3 * p.baseline_joules;
  const auto reached =
      relaxation_.improve(std::min(search_.best_joules(), target), [this] { return search_.must_stop(); });
  if (!reached) return !(ended_ = true);
  if (*reached < relaxation_.bound()) farther_ *= kNearer;
  const double overhead = relaxation_.bound() - p.baseline_joules;
  const double tolerance = solver_tolerance(overhead * p.objective_scale) / p.objective_scale;
  search_.raise_bound(p.baseline_joules + std::max(0.0, overhead - tolerance));
  ended_ = overhead <= 0;
  idle_ = overhead > before * (1 + least_rise) ? 0 : idle_ + 1;
  return true;
}

}  // namespace poet
