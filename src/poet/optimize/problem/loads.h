#pragma once

// Paged persistent values as ops: a load brings one into RAM.
//
// A load has no operands, costs as much as the page-in and can be repeated, so that retaining or reloading a
// parameter is the decision of keeping or recomputing a value. The page-out after an update is part of the
// update's cost. If transfers overlap compute, loads take no time here, which is valid for bounds; plans are
// judged by their conversion to the original instance, with real times (LoadsOf).

#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

/// An instance in which every paged value takes no RAM at home and is brought by a load right before its
/// first reader. Loads and readers can be repeated until the value is updated. Plans need the same energy as
/// in the original, and every plan of the original with its page-ins as late as possible is one of them:
/// bounds carry over.
struct WithLoads {
  Instance instance;
  IdVector<OpId, OpId> original;        // of each op; invalid: a load
  IdVector<OpId, ValueId> loads;        // of a load: the paged value
  IdVector<ValueId, ValueId> value_of;  // of each value: the original's
  Bytes written_home{};                 // by updates
};

/// Returns the instance with loads; without paged values, the instance itself. It does not pass verify(), as
/// loads have a kind without a schema. O(ops + values + edges).
[[nodiscard]] WithLoads with_loads(const Instance& instance);

/// Forbids recomputation except of loads.
void redo_only_loads(WithLoads& loads);

/// The original of an instance with loads: plans are timed after conversion to it, when compute may wait for
/// loads. Refers to all three.
struct LoadsOf {
  const Instance& original;
  const WithLoads& loads;
  const Limits& limits;  // of the original
};

/// Returns the limits for the instance with loads: the write limit less the updates' bytes.
[[nodiscard]] Limits limits_with_loads(const WithLoads& loads, Limits limits);

/// A plan of the instance with loads, converted to the original. `left_out` marks, in order, its computations
/// and page-ins that were dropped: page-ins that nothing reads before the value is freed or paged in again.
struct WithoutLoads {
  Plan plan;
  std::vector<char> left_out;
};

/// Replaces loads by page-ins and adds page-outs right after updates. Waits and frees are unchanged, so some
/// are missing. O(steps).
[[nodiscard]] WithoutLoads without_loads(const WithLoads& loads, const Instance& original, const Plan& plan);

}  // namespace poet
