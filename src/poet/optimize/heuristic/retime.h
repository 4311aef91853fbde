#pragma once

#include <functional>

#include "poet/optimize/problem/candidate.h"

namespace poet {

/// Device semantics: moves page-ins to earlier stages and page-outs to other ones while that saves energy
/// (stalls cost idle power) or brings the candidate closer to its deadline, on exact incremental replays.
/// Returns the best found; the same candidate elsewhere. 20,000 replays at most.
[[nodiscard]] Candidate retime(const Problem& problem, Candidate candidate,
                               const std::function<bool()>& stop);

}  // namespace poet
