#pragma once

// A first answer, by which a policy compares parts of operators (Splitting::energy).

#include <functional>
#include <optional>

#include "poet/base/units.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet {

/// What a step takes when everything is kept, or of a few streaming passes with addresses, of up to 4,000 ops
/// also of greedy and a short local search, paged values and waiting included: to compare instances of one
/// network. Takes a tenth of a second per 1,000 ops, three times that where greedy is tried.
/// Nothing where that has no plan within the limits. Device semantics.
[[nodiscard]] std::optional<Joules> quick_energy(const Instance& instance, const Limits& limits);

using QuickEnergy = std::function<std::optional<Joules>(const Instance&, const Limits&)>;
/// For a search that has so many seconds: below eight greedy is tried of fewer ops.
[[nodiscard]] QuickEnergy quick_energy_within(double seconds);
/// Ops of the largest graph to compare in half of that: each size of parts takes as long as all coarser ones.
[[nodiscard]] double quick_ops(double seconds);

struct QuickAnswer {
  Joules energy{};
  Bytes ram{};  // that the plan needs, but for gaps between addresses
};
/// The same with its RAM; nothing where it is stopped, either. Greedy and local search, which make better
/// plans of few ops than streams, are for graphs of up to `few_ops`.
[[nodiscard]] std::optional<QuickAnswer> quick_answer(const std::function<bool()>& stop,
                                                      const Instance& instance, const Limits& limits,
                                                      int few_ops = 1'000);

}  // namespace poet
