#pragma once

// What device and limits together allow a plan, and the least that any plan needs.

#include <optional>

#include "poet/cost/instance.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/limits.h"

namespace poet {

/// RAM that one op needs while it runs, whatever the plan.
struct WorkingSet {
  Bytes values{};     // its operands and results; in device semantics one operand less where the first result
                      // may be written over it
  Bytes workspace{};  // in device semantics

  [[nodiscard]] Bytes bytes() const { return values + workspace; }
};
/// `overwritable`: overwritable_operands() of the op.
[[nodiscard]] WorkingSet working_set(const CostTable& costs, const Dataflow& flow, OpId op,
                                     const std::vector<ValueId>& overwritable, Semantics semantics);

/// No plan needs less RAM: what is persistent and the largest working set.
struct RamFloor {
  Bytes persistent{};
  WorkingSet largest;
  OpId op;  // the first that has it; invalid when the graph has no ops

  [[nodiscard]] Bytes bytes() const { return persistent + largest.bytes(); }
};

/// O(ops + edges).
[[nodiscard]] RamFloor ram_floor(const Instance& instance, Semantics semantics);

/// What the RAM budget leaves for values and workspace; negative where what is persistent exceeds it.
[[nodiscard]] inline Bytes transient_budget(const CostTable& costs, const Limits& limits) {
  return limits.ram_budget - costs.persistent;
}

/// Bytes that a step may write to storage: max_bytes_written, and no more than the storage holds, because a
/// value is paged out at most once and every page-out needs a place of its own. Absent: no limit that could
/// matter, as where all values together fit. O(values).
[[nodiscard]] std::optional<Bytes> write_limit(const CostTable& costs, const Limits& limits);

}  // namespace poet
