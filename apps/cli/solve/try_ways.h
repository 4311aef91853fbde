#pragma once

// Search for suggestions if there is no plan: each is tested by solving the changed problem.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/cli/solve/solving.h"
#include "poet/base/stop.h"

namespace poet::cli {

/// The problem posed in another way, and what the user is to do for it. `pose` may throw InputError: then it
/// is no way.
struct OtherWay {
  std::string way;
  std::function<Solved()> pose;
};

struct OtherBatch {
  std::int64_t batch_size = 0;
  std::function<Solved()> pose;
};

/// The variations of the problem that find_ways_out() may try.
struct Elsewhere {
  std::vector<OtherWay> ways;
  std::vector<OtherBatch> batches;      // the largest first; the first with a plan is taken
  std::function<Solved()> any_written;  // without --max-bytes-written; empty where it was not given
  /// The problem as it is posed within other limits; empty where they do not change the graph.
  std::function<Solved(const Limits&)> within;
};

/// Rounds a deadline up to the digits that are printed.
[[nodiscard]] Seconds rounded_up(Seconds time);

/// Returns suggestions for `solved`, which has no answer: each has a plan found within `stop` (other limits
/// are tried for a moment each even later). More RAM and later deadlines are as little as the explanation
/// knows or, where no plan is found there, more.
[[nodiscard]] WaysOut find_ways_out(const Solved& solved, const Elsewhere& elsewhere, const Stop& stop);

}  // namespace poet::cli
