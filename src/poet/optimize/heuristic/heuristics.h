#pragma once

// Search without a solver: local search with repair after each change, which is good at paging
// (local_search.h), and annealing through overflow, which is good at rematerialization (oscillation.h). The
// latter needs the whole timeline after each change, so it is not used if transfers take time.

#include <optional>

#include "poet/optimize/heuristic/oscillation.h"
#include "poet/optimize/search/search.h"

namespace poet {

/// Returns the number of schedules that local search tries in the first round.
[[nodiscard]] long evaluations_of_local_search(const Problem& problem);

class Heuristics {
 public:
  /// `search` must outlive this.
  explicit Heuristics(Search& search);

  /// Returns whether local search is used: without paging, annealing does better.
  [[nodiscard]] bool mends() const { return problem_.paging || !oscillation_; }
  /// If local search is not used: anneals until there is an incumbent, or up to the effort that a graph of
  /// this size usually takes. Call it first.
  void begin();
  /// Runs another round of each, with 2^`doublings` times the first one's effort.
  void go_on(int doublings, unsigned seed);

 private:
  void oscillate(Oscillation& oscillation, long changes);

  Search& search_;
  const Problem& problem_;
  std::optional<Oscillation> oscillation_;
};

}  // namespace poet
