#pragma once

// Bounds on every choice of paged persistent values, and the choice that a relaxation makes.

#include <optional>
#include <string>

#include "poet/base/stop.h"
#include "poet/compile/sources/load_problem.h"
#include "poet/compile/variants/variant.h"
#include "poet/optimize/options.h"
#include "poet/optimize/problem/residence.h"
#include "poet/optimize/relaxation/residence_relaxation.h"
#include "poet/plan/limits.h"

namespace poet {

/// Returns why no choice has a plan, from the compute time and the transfers of updated values that every
/// choice needs; nullopt if these fit the limits.
[[nodiscard]] std::optional<std::string> why_no_choice(const Form& form, const Limits& limits);

/// The relaxation over all choices that page something, within the RAM budget alone, in steps.
class ResidenceBound {
 public:
  /// `all` of the instance's values may be paged. All but the budget must outlive this.
  ResidenceBound(const Instance& instance, const PagedSet& all, Bytes ram_budget,
                 const SolveOptions& options);
  ResidenceBound(const ResidenceBound&) = delete;
  ResidenceBound& operator=(const ResidenceBound&) = delete;

  /// ResidenceRelaxation::go_on().
  bool go_on(double best_joules, const Stop& stop) { return relaxed_ && relaxed_->go_on(best_joules, stop); }
  [[nodiscard]] double bound() const { return relaxed_ ? relaxed_->bound() : 0; }
  /// Of all steps (optimize/effort.h).
  [[nodiscard]] double effort() const { return relaxed_ ? relaxed_->effort() : 0; }
  /// What the last solution pages; nullopt if there is none.
  [[nodiscard]] std::optional<PagedSet> paged() const;

 private:
  const SolveOptions options_;
  const WithLoads loads_;
  Problem problem_;
  std::optional<ResidenceRelaxation> relaxed_;
};

}  // namespace poet
