#pragma once

// What may stay in RAM from step to step, and what that is worth: the window relaxation of the problem in
// which every persistent value is loaded, with a column for each that is resident instead.

#include <vector>

#include "poet/base/stop.h"
#include "poet/optimize/outcome.h"
#include "poet/optimize/problem/problem.h"

namespace poet {

struct ResidenceRelaxation {
  double bound = 0;            // joules; no plan needs less that pages one of them at least
  std::vector<char> resident;  // by Problem::residents: in the last relaxation's best answer; empty: none
};

/// Over every choice that pages something; all of them resident is a problem of its own, with bounds of its
/// own. `problem` is that of an instance with loads, has residents, and neither a deadline nor a write limit.
/// Breakpoints are added until the bound is within the gap of `best_joules`, adding them raises it no more,
/// or `stop`; the bound is at least what every op once takes, with everything resident.
[[nodiscard]] ResidenceRelaxation relax_residence(const Problem& problem, const SolveOptions& options,
                                                  double best_joules, const Stop& stop);

}  // namespace poet
