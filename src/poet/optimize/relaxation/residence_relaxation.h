#pragma once

// Relaxes the choice of resident values: the window relaxation of the problem in which every persistent value
// is loaded, with a column per value for residence instead.

#include <vector>

#include "poet/base/stop.h"
#include "poet/optimize/outcome.h"
#include "poet/optimize/problem/problem.h"

namespace poet {

struct ResidenceRelaxation {
  double bound = 0;            // joules; of every plan that pages at least one of them
  std::vector<char> resident;  // by Problem::residents, in the last relaxation's best solution; may be empty
};

/// Covers every choice that pages something; paging nothing is a separate problem. `problem` is that of an
/// instance with loads, has residents, and neither a deadline nor a write limit. Adds breakpoints until the
/// bound is within the gap of `best_joules`, it rises no further, or `stop`. The bound is at least the energy
/// of computing every op once with everything resident.
[[nodiscard]] ResidenceRelaxation relax_residence(const Problem& problem, const SolveOptions& options,
                                                  double best_joules, const Stop& stop);

}  // namespace poet
