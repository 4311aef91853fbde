#pragma once

// What an answer to the clauses of a window relaxation means.

#include <optional>
#include <vector>

#include "poet/optimize/clauses/window_clauses.h"

namespace poet {

struct WindowAnswer {
  /// Clauses that hold of every plan, but not of the answer: within a window of one stage its recomputations
  /// have no order in which RAM suffices.
  std::vector<Clause> broken;
  /// Per window: its recomputations, in such an order. None: not known, or a window of several stages.
  std::vector<std::optional<std::vector<int>>> orders;
  std::int64_t states = 0;  // visited in search of them
};

[[nodiscard]] WindowAnswer check_answer(const Problem& problem, const StageWindows& windows,
                                        const WindowClauses& model);

/// Returns the answer as a sequence of ops: recomputations in `orders`, elsewhere right before they are
/// needed.
[[nodiscard]] std::vector<int> ops_of_answer(const Problem& problem, const StageWindows& windows,
                                             const WindowClauses& model, const WindowAnswer& answer);

}  // namespace poet
