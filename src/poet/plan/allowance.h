#pragma once

// What device and limits allow a plan, and lower bounds on what any plan needs.

#include <optional>

#include "poet/cost/instance.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/limits.h"

namespace poet {

/// The RAM that an op needs while it runs, under any plan.
struct WorkingSet {
  Bytes values{};     // its operands and results; in device semantics one operand less where the first result
                      // may be written over it
  Bytes workspace{};  // in device semantics

  [[nodiscard]] Bytes bytes() const { return values + workspace; }
};
/// `overwritable` are the op's overwritable_operands().
[[nodiscard]] WorkingSet working_set(const CostTable& costs, const Dataflow& flow, OpId op,
                                     const std::vector<ValueId>& overwritable, Semantics semantics);

/// A lower bound on the RAM of any plan: persistent bytes and the largest working set.
struct RamFloor {
  Bytes persistent{};
  WorkingSet largest;
  OpId op;  // the first that has it; invalid when the graph has no ops

  [[nodiscard]] Bytes bytes() const { return persistent + largest.bytes(); }
};

/// O(ops + edges).
[[nodiscard]] RamFloor ram_floor(const Instance& instance, Semantics semantics);

/// Returns the RAM left for transient values and workspace; negative if persistent bytes exceed the budget.
[[nodiscard]] inline Bytes transient_budget(const CostTable& costs, const Limits& limits) {
  return limits.ram_budget - costs.persistent;
}

/// Returns the bytes that a step may write to storage: the lesser of max_bytes_written and the storage's
/// capacity, since every page-out needs a place of its own. Returns nullopt if no plan could exceed the
/// limit, as all values fit together. O(values).
[[nodiscard]] std::optional<Bytes> write_limit(const CostTable& costs, const Limits& limits);

}  // namespace poet
