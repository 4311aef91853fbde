#pragma once

#include "poet/optimize/outcome.h"

namespace poet {

/// Searches for the staged schedule of least energy within the limits (staged_search.h); returns the
/// incumbent and proven bounds. Every incumbent has been replayed exactly. Ends at the requested gap, within
/// half a second of `stop`, or when nothing is left to try. Throws InputError as StagedSearch.
[[nodiscard]] Outcome solve(const SolveRequest& request, const SolveOptions& options, const Stop& stop);
/// The time limit begins now.
[[nodiscard]] inline Outcome solve(const SolveRequest& request, const SolveOptions& options = {}) {
  return solve(request, options, stop_of(options));
}

}  // namespace poet
