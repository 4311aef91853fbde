#pragma once

// Paged persistent values as a problem that the search knows: bringing one into RAM is an op.
//
// A load has no operands, costs what the page-in costs and can be done again, so that whether a parameter
// stays or comes again is the question whether a value is kept or recomputed. The page-out after an update is
// part of the update's cost. Where transfers run beside compute they take no time here, which is right for
// bounds; what a search finds is judged by the plan that follows from it, which is timed as it is (LoadsOf).

#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

/// An instance in which every paged value is at home in its own entry, which takes no RAM, and is brought by
/// a load right before its first reader. Loads can be redone until the value is updated, as can its readers.
/// Energies of its plans are those of the original's, and every plan of the original with its page-ins as
/// late as they may be is one of its plans: bounds carry over.
struct WithLoads {
  Instance instance;
  IdVector<OpId, OpId> original;        // of each op; invalid: a load
  IdVector<OpId, ValueId> loads;        // of a load: the paged value
  IdVector<ValueId, ValueId> value_of;  // of each value: the original's
  Bytes written_home{};                 // by the updates
};

/// Without paged values, the instance as it is. Not verified: loads are of a kind that no schema has. O(ops +
/// values + edges).
[[nodiscard]] WithLoads with_loads(const Instance& instance);

/// Where nothing may be recomputed, which does not mean loads.
void redo_only_loads(WithLoads& loads);

/// What an instance with loads stands for: its plans are timed as what becomes of them, in which compute may
/// wait for loads. Refers to all three.
struct LoadsOf {
  const Instance& original;
  const WithLoads& loads;
  const Limits& limits;  // of the original
};

/// The limits that are left for the instance with loads.
[[nodiscard]] Limits limits_with_loads(const WithLoads& loads, Limits limits);

/// Of a plan of the instance with loads: the steps of the original, and which of its computations and
/// page-ins, in their order, are left out: page-ins that nothing reads before the value goes or comes again.
struct WithoutLoads {
  Plan plan;
  std::vector<char> left_out;
};

/// Page-ins in place of loads, page-outs right after updates; waits and frees as they stand, so that some are
/// missing. O(steps).
[[nodiscard]] WithoutLoads without_loads(const WithLoads& loads, const Instance& original, const Plan& plan);

}  // namespace poet
