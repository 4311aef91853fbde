#pragma once

// Which value DTR gives up next: the heuristics of Kirisame et al. 2021 as their simulator
// computes them (simrd/heuristic/dtr.py, simrd/optimization/eqclass.py).

#include <vector>

#include "poet/baselines/evicted_components.h"
#include "poet/cost/instance.h"
#include "poet/graph/dataflow.h"

namespace poet {

enum class DtrHeuristic {
  full,        // h_DTR: cost of the value and of its evicted neighbourhood e*, over bytes * staleness
  components,  // h_DTR^eq: e* taken as the components of evicted values next to it
  local,       // h_DTR^local: the value's own cost only
};

/// What DTR knows of values. A value is computed once its op has run, resident while it is in RAM, and lost
/// when it is neither and can never be again.
struct DtrValues {
  DtrValues(const Instance& instance, const Dataflow& flow);

  /// Computed, not resident and not lost: its recomputation would be somebody's burden.
  [[nodiscard]] bool evicted(ValueId v) const { return computed[v] && !resident[v] && !lost[v]; }

  const Dataflow& flow;
  IdVector<ValueId, double> cost;  // seconds of the op that computes it
  IdVector<ValueId, double> bytes;
  IdVector<ValueId, double> accessed;  // the clock at its last access
  IdVector<ValueId, char> computed;
  IdVector<ValueId, char> resident;
  IdVector<ValueId, char> lost;
};

/// Scores values of a DtrValues whose changes it is told of. Costs per call of score(): local O(1),
/// components O(neighbours), full O(size of e* and its edges).
class DtrScore {
 public:
  DtrScore(DtrHeuristic heuristic, const DtrValues& values);

  /// The lowest is evicted first; infinite for what was accessed just now.
  [[nodiscard]] double score(ValueId v, double clock);

  void was_evicted(ValueId v);
  /// Back in RAM, or lost: out of the evicted neighbourhoods.
  void is_no_longer_evicted(ValueId v);

 private:
  [[nodiscard]] double reachable(ValueId v, bool ancestors);
  [[nodiscard]] double adjacent_components(ValueId v);
  void evicted_neighbours(ValueId v, bool parents, std::vector<ValueId>& found) const;

  const DtrHeuristic heuristic_;
  const DtrValues& values_;
  EvictedComponents components_;
  IdVector<ValueId, int> seen_;  // stamps of walks
  int walk_ = 0;
  std::vector<ValueId> open_;
};

}  // namespace poet
