#pragma once

// Every schedule of a small instance, by brute force: the oracle of the optimiser. Shares nothing with it,
// nor with the verifier; the stage rules are written out once more.

#include <optional>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet::test {

struct ExhaustiveOptions {
  bool paging = true;
  bool rematerialization = true;
  double at_most_joules = 1e300;        // only cheaper or equal schedules are of interest: prunes
  bool transfers_take_no_time = false;  // device: then a deadline is one on the computations, as elsewhere
};

/// The least energy of any schedule within RAM, deadline and write limit; absent when there is none. Device
/// semantics: RAM rules only, for instances whose timeline costs nothing (no idle power; no deadline or
/// transfers that take no time). Up to 6 ops and 12 values.
[[nodiscard]] std::optional<double> least_energy(const Instance& instance, Semantics semantics,
                                                 const Limits& limits, const ExhaustiveOptions& options = {});

}  // namespace poet::test
