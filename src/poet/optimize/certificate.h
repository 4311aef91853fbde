#pragma once

// The claims of an answer: status, lower bounds and gaps. Computed here and nowhere else.
//
// Lower bounds hold for one of two classes of plans:
//   every plan          any list of steps that the verifier accepts: first computations in topological order;
//                       recomputations and transfers at any step
//   staged schedules    plans that can be written as one set of retained, paged and computed values per op
//                       (Checkmate's form, docs/formulation.md, section 1)
// Staged schedules are the smaller class, so their bound may be tighter.

#include <optional>
#include <string>

#include "poet/base/units.h"

namespace poet {

enum class Status {
  optimal,     // a plan within the requested gap
  feasible,    // a plan; its gap is larger than requested
  infeasible,  // proven: no plan is within the limits
  unknown,     // no plan was found, and infeasibility is not proven
};

[[nodiscard]] const char* to_string(Status status);

/// Proven lower bounds on energy, with or without a plan.
struct Bounds {
  Joules every_plan{};           // of every plan
  std::optional<Joules> staged;  // of staged schedules; set only where it is above `every_plan`

  [[nodiscard]] Joules of_staged() const { return staged.value_or(every_plan); }
};

struct Certificate {
  Status status = Status::unknown;
  Joules energy{};  // of the plan, from the verifier; 0 without a plan
  Bounds bounds;
  double gap = 0;         // between energy and bounds.every_plan, on the overhead; see overhead_gap()
  double energy_gap = 0;  // (energy - bound) / energy
  /// The gap between energy and bounds.of_staged(); 0 where the plan beats all staged schedules.
  double staged_gap = 0;
  std::string note;  // one sentence where a bound was dropped; else empty

  [[nodiscard]] bool has_plan() const { return status == Status::optimal || status == Status::feasible; }
};

/// Returns the share of the overhead that better plans could save: (energy - bound) / (energy - baseline).
/// The overhead is the energy above the baseline, which computes every op once and does nothing else. MIP
/// solvers report the gap relative to the objective instead; here the baseline cannot be saved. Returns 0 if
/// energy - bound <= 1e-9 baseline.
[[nodiscard]] double overhead_gap(double energy, double bound, double baseline);

/// Certifies a verified plan: `optimal` if its gap is at most `wanted_gap`, else `feasible`.
///
/// A bound on every plan above the plan's energy, by more than the solvers' tolerances, is wrong, as the plan
/// is verified: MIP solvers have reported such bounds (docs/solvers.md). It is replaced by the baseline, and
/// `note` says so. With the environment variable POET_STRICT_BOUNDS, which the tests set, it is an
/// InternalError.
[[nodiscard]] Certificate certify(Joules energy, Joules baseline, const Bounds& bounds, double wanted_gap);

/// Certifies an answer without a plan; `status` is infeasible or unknown.
[[nodiscard]] Certificate certify_none(Status status, const Bounds& bounds);

}  // namespace poet
