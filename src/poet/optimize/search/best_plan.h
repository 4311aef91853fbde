#pragma once

// The best plan of a search for synchronous plans, from the candidates and streams that it considers.

#include <optional>
#include <vector>

#include "poet/optimize/heuristic/streaming.h"
#include "poet/optimize/outcome.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/search/plans_found.h"

namespace poet {

/// Converts candidates to plans; keeps the best within the limits. The arguments must outlive this.
class BestPlan {
 public:
  BestPlan(const SolveRequest& request, const SolveOptions& options, const Stop& stop)
      : request_(request), options_(options), stop_(stop) {}

  void consider(const Problem& problem, const Candidate& candidate);
  /// Keeps the best stream with addresses beside the best plan.
  void consider(const Problem& problem, const Stream& stream);

  /// Returns null if there is none.
  [[nodiscard]] const SynchronousPlan* best() const { return found_.best(); }
  [[nodiscard]] std::optional<Joules> energy() const;
  /// Returns whether a plan with addresses was found.
  [[nodiscard]] bool has_placed() const { return placed_.has_value(); }
  [[nodiscard]] const std::optional<PlacedPlan>& placed() const { return placed_; }
  /// Returns the plans by increasing energy.
  [[nodiscard]] std::vector<SynchronousPlan> take() { return found_.take(); }

 private:
  [[nodiscard]] Stop stop_of_planning(const Problem& problem) const;
  void consider(const Problem& problem, std::optional<SynchronousPlan> made);
  void consider_placed(const Stream& stream);
  void report(const Problem& problem) const;

  const SolveRequest& request_;
  const SolveOptions& options_;
  const Stop& stop_;
  PlansFound found_;
  std::optional<PlacedPlan> placed_;
};

}  // namespace poet
