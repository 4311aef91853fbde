#pragma once

// Whether recomputations between the first computations of two ops that follow one another can be put in an
// order in which RAM suffices.

#include <cstdint>
#include <optional>
#include <vector>

#include "poet/optimize/problem/problem.h"

namespace poet {

/// Between the first computations of ops `stage` - 1 and `stage`. All sets increase.
struct StageTransition {
  int stage = 0;
  std::vector<int> before;      // values in RAM while op `stage` - 1 runs, and after it
  std::vector<int> recomputed;  // ops that may be recomputed, each once,
  std::vector<int> repeated;    // or, of these, any number of times
  std::vector<int> after;       // values in RAM when op `stage` begins; its operands among them
};

/// A part of a transition that is impossible by itself.
struct Obstacle {
  std::vector<int> needed;    // of `after`: they cannot all be there,
  std::vector<int> absent;    // unless one of these values is in RAM before,
  std::vector<int> not_done;  // or one of these ops is recomputed as well,
                              // or one of those that may be recomputed once is recomputed twice
};

struct TransitionAnswer {
  /// Recomputations in an order in which RAM suffices. None: it is impossible, or that is not known.
  std::optional<std::vector<int>> order;
  /// Why it is impossible, if it is.
  std::optional<Obstacle> obstacle;
  std::int64_t states = 0;  // visited
};

/// Looks at every order, with every part of the ops that are not needed. Gives up, with neither an order nor
/// an obstacle, where least_order() does. As long as that for each value that is needed.
[[nodiscard]] TransitionAnswer find_order(const Problem& problem, const StageTransition& transition);

}  // namespace poet
