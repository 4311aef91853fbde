#pragma once

// What holds for every choice of paged persistent values: infeasibility by counting, and the relaxation over
// all choices.

#include <optional>
#include <string>

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/optimize/options.h"
#include "poet/optimize/problem/residence.h"
#include "poet/optimize/transfer_bound.h"
#include "poet/plan/limits.h"

namespace poet {

/// Returns why no choice has a plan, from the compute time and the transfers of updated values that every
/// choice needs; nullopt if these fit the limits. `least`: least_step() of the instance.
[[nodiscard]] std::optional<std::string> why_no_choice(const Instance& instance, const Limits& limits,
                                                       const StepBound& least);

struct RelaxedChoice {
  double bound = 0;  // joules; of every plan that pages something
  PagedSet paged;    // in the relaxation's solution; every value if there is none
};

/// Relaxes the choice of what is paged, within the RAM budget alone. `all_paged`: the instance with every
/// value of `all` paged; `best_joules`: the energy of the best known plan, or infinity.
[[nodiscard]] RelaxedChoice relax_choice(const Instance& all_paged, const PagedSet& all, Bytes ram_budget,
                                         SolveOptions options, double best_joules, const Stop& stop);

}  // namespace poet
