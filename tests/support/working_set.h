#pragma once

#include "poet/cost/instance.h"
#include "poet/plan/allowance.h"
#include "poet/plan/limits.h"

namespace poet::test {

/// The least RAM in which every op can run: the largest of their operands, results and, in device semantics,
/// workspace, with what is persistent.
[[nodiscard]] inline Bytes largest_working_set(const Instance& instance, Semantics semantics) {
  return ram_floor(instance, semantics).bytes();
}

/// `percent` of the way from there to `keep_all`.
[[nodiscard]] inline Bytes budget_between(const Instance& instance, Semantics semantics, Bytes keep_all,
                                          int percent) {
  const Bytes least = largest_working_set(instance, semantics);
  return least + Bytes((keep_all - least).value() * percent / 100);
}

}  // namespace poet::test
