#pragma once

// Bounds on every choice of paged persistent values, and the choice that a relaxation makes.

#include <optional>
#include <string>

#include "poet/base/stop.h"
#include "poet/compile/sources/load_problem.h"
#include "poet/compile/variants/variant.h"
#include "poet/optimize/gap_bound.h"
#include "poet/optimize/options.h"
#include "poet/optimize/problem/residence.h"
#include "poet/optimize/relaxation/residence_relaxation.h"
#include "poet/plan/limits.h"

namespace poet {

/// Returns why no choice has a plan, from the compute time and the transfers of updated values that every
/// choice needs; nullopt if these fit the limits.
[[nodiscard]] std::optional<std::string> why_no_choice(const Form& form, const Limits& limits);

/// Relaxations over all choices that page something, within the RAM budget alone, in steps: gaps first, then,
/// unless there are too many ops, windows.
class ResidenceBound {
 public:
  /// `all` of the instance's values may be paged. All but the budget must outlive this.
  ResidenceBound(const Instance& instance, const PagedSet& all, Bytes ram_budget,
                 const SolveOptions& options);
  ResidenceBound(const ResidenceBound&) = delete;
  ResidenceBound& operator=(const ResidenceBound&) = delete;

  /// Runs a step of one relaxation. `best_joules`: the energy of a plan, or infinity. Returns false, without
  /// a step, if the bound rises no further, or `stop`.
  bool go_on(double best_joules, const Stop& stop);
  [[nodiscard]] double bound() const;
  /// Of all steps (optimize/effort.h).
  [[nodiscard]] double effort() const;
  /// What the last solution pages; nullopt if there is none.
  [[nodiscard]] std::optional<PagedSet> paged() const;

 private:
  const SolveOptions options_;
  const WithLoads loads_;
  Problem problem_;
  std::optional<GapBound> gaps_;
  double spent_on_gaps_ = 0;
  std::optional<ResidenceRelaxation> relaxed_;
};

}  // namespace poet
