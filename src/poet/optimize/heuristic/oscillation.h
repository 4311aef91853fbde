#pragma once

// Simulated annealing through infeasible schedules (strategic oscillation): RAM beyond the budget has a
// price, which rises in stages that keep overflowing and falls once everything fits. So the search passes
// between schedules that are separated by infeasible ones, and needs no feasible start. local_search()
// repairs each change at once; this is better on graphs in which one recomputation entails many others.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/problem.h"

namespace poet {

class Oscillation {
 public:
  /// Begins with everything kept. `problem` must outlive this.
  Oscillation(const Problem& problem, std::uint64_t seed);
  ~Oscillation();
  Oscillation(const Oscillation&) = delete;
  Oscillation& operator=(const Oscillation&) = delete;

  /// Continues from these decisions, which may violate any limit. Prices are unchanged.
  void start_from(const Decisions& decisions);
  /// Cools down once over `changes` changes; returns whether it found a new best schedule. O(edit + ops) per
  /// change. `stop` is polled.
  bool run(long changes, const std::function<bool()>& stop);
  /// The schedule of least energy within all limits, or nullopt.
  [[nodiscard]] std::optional<Candidate> best() const;
  /// Prices of a byte beyond the budget, per stage: high where schedules keep overflowing.
  [[nodiscard]] const std::vector<double>& prices() const;

 private:
  class Walk;
  std::unique_ptr<Walk> walk_;
};

}  // namespace poet
