#pragma once

// Synchronous plans sought while the bounds rise, from what the relaxations decide and around the best plan.
//
// The window relaxation knows nothing of stages. What it decides is often a synchronous plan as it stands, of
// no more energy than the bound; a search that begins there finds what one from everything kept misses.

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
  /// What the arguments refer to must outlive this; `known`: plans that count, of least energy first.
  SynchronousSearch(const SolveRequest& request, const SolveOptions& options, const Stop& stop,
                    std::vector<SynchronousPlan> known)
      : request_(request), options_(options), stop_(stop), found_(std::move(known)) {}

  /// None: null.
  [[nodiscard]] const SynchronousPlan* best() const { return found_.best(); }
  [[nodiscard]] std::vector<SynchronousPlan> take() { return found_.take(); }

  /// What a relaxation decides, as decisions and as modes of gaps, and what annealing makes of the better of
  /// the two. Whether something better than before was found. `stop` ends the search, not what is being
  /// planned.
  bool follow(const Decisions& decided, const std::vector<GapMode>& modes, const std::function<bool()>& stop);
  /// Annealing goes on from there, and from the best plan's decisions, 2^`doublings` times as long as at
  /// first. Whether something better was found.
  bool go_on(int doublings, std::uint64_t seed, const std::function<bool()>& stop);

 private:
  struct Start {
    std::size_t instant;  // whose problem
    Candidate candidate;
  };

  const std::vector<Problem>& instants();
  bool anneal_starts(int doublings, std::uint64_t seed, const std::function<bool()>& stop);
  bool consider(const Problem& instant, const Candidate& candidate);
  static Candidate annealed(const Problem& instant, const Candidate& start, int doublings, std::uint64_t seed,
                            const std::function<bool()>& stop);

  const SolveRequest& request_;
  const SolveOptions& options_;
  const Stop& stop_;               // for its clock and cancellation
  std::vector<Problem> instants_;  // for several guesses of how long compute waits
  std::vector<Start> starts_;      // what has become of the last answer, for each guess
  PlansFound found_;
};

}  // namespace poet
