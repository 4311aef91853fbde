#pragma once

// What an answer claims, and about which plans. Computed here and nowhere else.
//
// Two classes of plans are spoken of:
//   every plan          any list of steps that the verifier accepts: first computations in the order of the
//                       ops; recomputations and transfers whenever they are possible
//   staged schedules    those that can be told as one set of retained, paged and computed values per op
//                       (Checkmate's form, docs/formulation.md, section 1)
// Bounds on the latter may be tighter and speak of fewer plans.

#include <optional>

#include "poet/base/units.h"

namespace poet {

enum class Status {
  optimal,     // no plan saves more than the gap asked for
  feasible,    // a plan, not proven that good
  infeasible,  // no plan is within the limits
  unknown,     // no plan found, none proven impossible
};

[[nodiscard]] const char* to_string(Status status);

/// What is proven of a problem, with or without a plan for it.
struct Bounds {
  Joules every_plan{};           // no plan needs less energy
  std::optional<Joules> staged;  // no staged schedule needs less, where that says more

  [[nodiscard]] Joules of_staged() const { return staged.value_or(every_plan); }
};

struct Certificate {
  Status status = Status::unknown;
  Joules energy{};  // of the plan, from the verifier; nothing without one
  Bounds bounds;
  double gap = 0;         // of energy to bounds.every_plan, on the overhead; see overhead_gap()
  double energy_gap = 0;  // (energy - bound) / energy
  double staged_gap = 0;  // of energy to bounds.of_staged(); 0 where the plan beats all staged schedules, too
};

/// The part of the overhead, which is what energy is above the baseline's (every op computed once, nothing
/// else), that better plans could save: (energy - bound) / (energy - baseline). A relative gap on the
/// overhead and not a MIP solver's, which is relative to the objective: the baseline cannot be saved. 0 where
/// energy - bound <= 1e-9 baseline.
[[nodiscard]] double overhead_gap(double energy, double bound, double baseline);

/// Of a plan that the verifier accepts. `optimal` when the gap is at most `wanted_gap`. A bound on every plan
/// that is above the plan's energy by more than solvers' tolerances is an InternalError: one of the two is
/// wrong.
[[nodiscard]] Certificate certify(Joules energy, Joules baseline, const Bounds& bounds, double wanted_gap);

/// Without a plan: infeasible or unknown.
[[nodiscard]] Certificate certify_none(Status status, const Bounds& bounds);

}  // namespace poet
