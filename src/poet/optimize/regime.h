#pragma once

// What the number of ops decides. A pass over ops x live values takes seconds on a large graph, and one
// search as long as many on smaller ones: what takes many of them is left out there.

#include <cstddef>

namespace poet {

/// What is done on graphs of some size.
struct Regime {
  bool overruns;                // passes over ops x live values, although time is up
  bool anneals;                 // strategic oscillation, where transfers take no time
  bool searches_beside_passes;  // greedy and local search, where streaming passes have found a plan
  bool reworks_plans;           // searches near plans and solutions of relaxations; repairs of addresses
  bool takes_turns;             // passes, and part of the time the bound of the request as it is; else plans
                                // first, then the bound
  bool tries_many_sets;         // of paged values: that just fit, beside the best one; else a few by size
  bool relaxes_residence;       // the bound on every choice of paged values also by windows
  bool looks_for_limits;        // that would do, where there is no plan
};

[[nodiscard]] constexpr Regime regime_of(std::size_t ops) {
  const auto by_size = [ops](bool up_to_4000, bool beyond) { return ops <= 4'000 ? up_to_4000 : beyond; };
  return {
      // up to 4,000 ops, beyond; and why
      .overruns = by_size(true, false),                // seconds after the limit are too many
      .anneals = by_size(true, false),                 // each change takes a pass over the timeline
      .searches_beside_passes = by_size(true, false),  // more passes do better in the same time
      .reworks_plans = by_size(true, false),           // each plan takes a search
      .takes_turns = by_size(false, true),             // each takes long, and a bound may end the search
      .tries_many_sets = by_size(true, false),         // each set takes a search
      .relaxes_residence = by_size(true, false),       // the linear programs are too large
      .looks_for_limits = by_size(true, false),        // each limit takes a search
  };
}

}  // namespace poet
