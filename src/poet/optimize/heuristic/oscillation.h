#pragma once

// Simulated annealing through schedules that overflow (strategic oscillation): RAM beyond the budget costs
// joules, more and more of them where the search keeps overflowing, less again when all fits. So it crosses
// from one schedule to another where every way between them overflows, and needs none to begin with. Where
// local_search() mends each change at once, this finds schedules of graphs in which one recomputation draws
// many others.

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
  /// Begins with everything kept. `problem` must outlive it.
  Oscillation(const Problem& problem, std::uint64_t seed);
  ~Oscillation();
  Oscillation(const Oscillation&) = delete;
  Oscillation& operator=(const Oscillation&) = delete;

  /// Goes on from these decisions, which may break any limit; prices stay as they are.
  void start_from(const Decisions& decisions);
  /// One cooling down over so many changes; whether it found something better than all before. O(what changes
  /// + ops) a change. `stop` is polled.
  bool run(long changes, const std::function<bool()>& stop);
  /// Of least energy within all limits.
  [[nodiscard]] std::optional<Candidate> best() const;
  /// Per stage, of a byte beyond the budget: high where schedules keep overflowing.
  [[nodiscard]] const std::vector<double>& prices() const;

 private:
  class Walk;
  std::unique_ptr<Walk> walk_;
};

}  // namespace poet
