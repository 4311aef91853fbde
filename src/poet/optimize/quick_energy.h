#pragma once

// Quick estimates of a step's energy, by which sizes of operator parts are compared (Splitting::energy).

#include <functional>
#include <optional>

#include "poet/base/units.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet {

/// Returns the energy of the best quick plan of a step, to compare instances of one network: everything kept
/// if it fits, else a few streaming passes with addresses and, up to 4,000 ops, greedy and a short local
/// search. Transfers and stalls are included. Takes 0.1 s per 1,000 ops, three times that with greedy.
/// Returns nullopt if no quick plan is within the limits. Device semantics.
[[nodiscard]] std::optional<Joules> quick_energy(const Instance& instance, const Limits& limits);

using QuickEnergy = std::function<std::optional<Joules>(const Instance&, const Limits&)>;
/// Returns quick_energy() for a search of `seconds`; below eight, greedy is limited to smaller graphs.
[[nodiscard]] QuickEnergy quick_energy_within(double seconds);
/// Returns the ops of the largest graph that can be compared in half of `seconds`: each size of parts takes
/// as long as all coarser ones together.
[[nodiscard]] double quick_ops(double seconds);

struct QuickAnswer {
  Joules energy{};
  Bytes ram{};  // that the plan needs, without fragmentation
};
/// As quick_energy(), with the plan's RAM; also nullopt when stopped. Greedy and local search, which find
/// better plans than streaming on small graphs, run up to `few_ops` ops.
[[nodiscard]] std::optional<QuickAnswer> quick_answer(const std::function<bool()>& stop,
                                                      const Instance& instance, const Limits& limits,
                                                      int few_ops = 1'000);

}  // namespace poet
