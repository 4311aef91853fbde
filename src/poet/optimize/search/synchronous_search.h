#pragma once

// Synchronous plans sought while the bounds rise, from what the relaxations decide and around the best plan.
//
// The window relaxation knows nothing of stages. What it decides is often a synchronous plan as it stands, of
// no more energy than the bound; a search that begins there finds what one from everything kept misses.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/search/instant_transfers.h"

namespace poet {

class SynchronousSearch {
 public:
  /// What the arguments refer to must outlive this; `known`: a plan that counts, if there is one.
  SynchronousSearch(const SolveRequest& request, const SolveOptions& options, const Stop& stop,
                    std::optional<SynchronousPlan> known)
      : request_(request), options_(options), stop_(stop), best_(std::move(known)) {}

  [[nodiscard]] const std::optional<SynchronousPlan>& best() const { return best_; }
  /// The best one, and some that were the best before it, of least energy first: where the addresses of one
  /// do not fit, those of another may.
  [[nodiscard]] std::vector<SynchronousPlan> take();

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
  std::optional<SynchronousPlan> best_;
  std::vector<SynchronousPlan> earlier_;  // the last ones that were the best, falling energy
};

}  // namespace poet
