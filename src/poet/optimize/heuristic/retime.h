#pragma once

#include <functional>

#include "poet/optimize/problem/candidate.h"

namespace poet {

/// Device semantics: moves page-ins to earlier stages and page-outs to other stages while that saves energy
/// (stalls cost idle power) or reduces lateness, by exact incremental replays. Returns the best candidate
/// found; in other semantics the same candidate. At most 20,000 replays.
[[nodiscard]] Candidate retime(const Problem& problem, Candidate candidate,
                               const std::function<bool()>& stop);

}  // namespace poet
