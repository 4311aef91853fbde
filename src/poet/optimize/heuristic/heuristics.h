#pragma once

// Schedules without a solver: mended at each change, which finds the best ways of paging (local_search.h), or
// annealed through overflow, which finds those of recomputing (oscillation.h). The latter asks for the whole
// timeline at each change, so where transfers take time it is left out.

#include <optional>

#include "poet/optimize/heuristic/oscillation.h"
#include "poet/optimize/search/search.h"

namespace poet {

/// How many schedules local search tries in the first round.
[[nodiscard]] long evaluations_of_local_search(const Problem& problem);

class Heuristics {
 public:
  /// `search` must outlive this.
  explicit Heuristics(Search& search);

  /// Whether schedules are mended at all: where nothing can be paged, annealing does better.
  [[nodiscard]] bool mends() const { return problem_.paging || !oscillation_; }
  /// Before anything else, where schedules are not mended: annealing until there is an incumbent, or so much
  /// has been tried as a graph of this size mostly takes.
  void begin();
  /// Another round of each, of 2^`doublings` times the first one's effort.
  void go_on(int doublings, unsigned seed);

 private:
  void oscillate(Oscillation& oscillation, long changes);

  Search& search_;
  const Problem& problem_;
  std::optional<Oscillation> oscillation_;
};

}  // namespace poet
