#pragma once

// The state of one solve: what is known so far, how long it may go on, and who wants to hear of it.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>

#include "poet/optimize/candidate.h"
#include "poet/optimize/outcome.h"
#include "poet/optimize/problem.h"

namespace poet {

/// By how much a relaxation's objective is lowered before it counts as a bound. Where the objective is scaled
/// as usual (baseline 1e4) this is less than the 1e-9 of the baseline below which a gap is none.
[[nodiscard]] inline double solver_tolerance(double objective) {
  return std::min(1e-7 * std::abs(objective), 5e-6);
}

class Search {
 public:
  Search(const Problem& problem, const SolveOptions& options);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const SolveOptions& options() const { return options_; }

  /// Retimes the candidate's transfers (device semantics) and accepts it as incumbent if it is within the
  /// limits and better than the one before.
  bool offer(const Candidate& candidate);
  /// No schedule has less energy than this.
  void raise_bound(double joules);

  [[nodiscard]] bool has_incumbent() const { return incumbent_.has_value(); }
  [[nodiscard]] const Candidate& incumbent() const { return *incumbent_; }
  [[nodiscard]] double bound() const { return bound_; }
  /// (energy - bound) / (energy - baseline) of the incumbent, or of SolveOptions::known_joules where that is
  /// less; 0 when they agree to 1e-9 of the baseline, infinite without either.
  [[nodiscard]] double gap() const;
  [[nodiscard]] bool proven() const { return gap() <= options_.gap; }

  [[nodiscard]] double elapsed() const;
  [[nodiscard]] double remaining() const { return options_.time_limit_seconds - elapsed(); }
  /// The user has had enough.
  [[nodiscard]] bool interrupted() const;
  /// Time is up or the user has interrupted.
  [[nodiscard]] bool must_stop() const;
  [[nodiscard]] bool done() const { return proven() || must_stop(); }

  void enter(const std::string& phase);
  /// Tells the observer; the bound of a tree in progress may be given.
  void report(double bound_joules) const;

  double seconds_to_incumbent = 0;
  long nodes = 0;
  bool used_solver = false;
  std::string next_step;         // see Outcome
  bool root_infeasible = false;  // says the full model's relaxation; believed when a second solve agrees

 private:
  const Problem& problem_;
  const SolveOptions& options_;
  std::chrono::steady_clock::time_point start_;
  std::optional<Candidate> incumbent_;
  double bound_;
  std::string phase_;
};

}  // namespace poet
