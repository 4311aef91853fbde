#pragma once

// A first answer, by which a policy compares parts of operators (Splitting::energy).

#include <functional>
#include <optional>

#include "poet/base/units.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet {

/// What a step takes when everything is kept, or of a few streaming passes with addresses, of up to 1,000 ops
/// also of greedy and a short local search, paged values and waiting included: to compare instances of one
/// network. Takes a tenth of a second per 1,000 ops, up to three tenths where those are few.
/// Nothing where that has no plan within the limits. Device semantics.
[[nodiscard]] std::optional<Joules> quick_energy(const Instance& instance, const Limits& limits);

/// Of so many ops, and of halves of them, that takes half of the time.
[[nodiscard]] double quick_ops(double seconds);

struct QuickAnswer {
  Joules energy{};
  Bytes ram{};  // that the plan needs, but for gaps between addresses
};
/// The same with its RAM; nothing where it is stopped, either.
[[nodiscard]] std::optional<QuickAnswer> quick_answer(const std::function<bool()>& stop,
                                                      const Instance& instance, const Limits& limits);

}  // namespace poet
