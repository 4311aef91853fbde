#pragma once

// Search for plans with synchronous paging from the solutions of relaxations and around the best plan.
//
// The window relaxation has no stages. Its solution is often a synchronous plan already, with no more energy
// than the bound; a local search from there finds plans that one from everything kept misses.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/search/plans_found.h"

namespace poet {

class SynchronousSearch {
 public:
  /// The request's instance must outlive this. `known`: plans found before, by increasing energy.
  SynchronousSearch(const SolveRequest& request, SolveOptions options, Stop stop,
                    std::vector<SynchronousPlan> known)
      : request_(request), options_(std::move(options)), stop_(std::move(stop)), found_(std::move(known)) {}

  /// Returns null if there is none.
  [[nodiscard]] const SynchronousPlan* best() const { return found_.best(); }
  [[nodiscard]] std::vector<SynchronousPlan> take() { return found_.take(); }

  /// Searches from a relaxation's solution, given as decisions and as modes of gaps, by repair and annealing.
  /// Returns whether a better plan was found. `stop` ends the search, not the planning of a candidate.
  bool follow(const Decisions& decided, const std::vector<GapMode>& modes, const std::function<bool()>& stop);
  /// Continues annealing from there, and from the best plan's decisions, 2^`doublings` times as long as at
  /// first. Returns whether a better plan was found.
  bool go_on(int doublings, std::uint64_t seed, const std::function<bool()>& stop);

 private:
  struct Start {
    std::size_t instant;  // index of its problem
    Candidate candidate;
  };

  const std::vector<Problem>& instants();
  bool anneal_starts(int doublings, std::uint64_t seed, const std::function<bool()>& stop);
  bool consider(const Problem& instant, const Candidate& candidate);
  static Candidate annealed(const Problem& instant, const Candidate& start, int doublings, std::uint64_t seed,
                            const std::function<bool()>& stop);

  const SolveRequest request_;
  const SolveOptions options_;
  const Stop stop_;                // for its clock and cancellation
  std::vector<Problem> instants_;  // one per guess of how long compute waits for transfers
  std::vector<Start> starts_;      // per guess, the schedule annealed so far from the last relaxation
  PlansFound found_;
};

}  // namespace poet
