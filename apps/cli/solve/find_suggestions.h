#pragma once

// Search for suggestions if there is no plan: each is tested by solving the changed problem.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/cli/solve/solving.h"
#include "poet/base/stop.h"

namespace poet::cli {

/// A change of options that may help, as the user types it, and the changed problem. If `pose` throws
/// InputError, the change is no suggestion.
struct SuggestedChange {
  std::string change;
  std::function<Solved()> pose;
};

struct SuggestedBatch {
  std::int64_t batch_size = 0;
  std::function<Solved()> pose;
};

/// The variations of the problem that find_suggestions() may try.
struct SuggestionCandidates {
  std::vector<SuggestedChange> changes;
  std::vector<SuggestedBatch> batches;  // the largest first; the first with a plan is taken
  std::function<Solved()> any_written;  // without --max-bytes-written; empty where it was not given
  /// The problem as it is posed within other limits; empty where they do not change the graph.
  std::function<Solved(const Limits&)> within;
};

/// Rounds a deadline up to the digits that are printed.
[[nodiscard]] Seconds rounded_up(Seconds time);

/// Returns suggestions for `solved`, which has no answer: each has a plan found within `stop` (other limits
/// are tried for a moment each even later). More RAM and later deadlines are as little as the explanation
/// knows or, where no plan is found there, more.
[[nodiscard]] Suggestions find_suggestions(const Solved& solved, const SuggestionCandidates& candidates,
                                           const Stop& stop);

}  // namespace poet::cli
