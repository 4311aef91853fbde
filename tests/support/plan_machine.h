#pragma once

// A device in miniature that carries out a plan with its addresses: the oracle of the verifier. It knows no
// rules of plans, only what memory, compute and a storage channel do, and whether the right thing came out.

#include <string>

#include "poet/cost/instance.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet::test {

struct MachineReport {
  bool trains = false;
  std::string wrong;      // what went wrong first, and at which step
  Bytes ram{};            // the most bytes in use at once, persistent ones included
  Bytes bytes_written{};  // to storage
  double makespan = 0;
};

/// Executes `plan` on an arena of layout.arena bytes; what takes memory is given the layout's next address.
///
/// Memory holds contents. What an op writes is a hash of the op and of what its operands' addresses hold, so
/// that computing again makes the same, and reading what is overwritten, given back or half arrived makes
/// garbage. Scratch memory is full of garbage. An op that can (graph/in_place.h) may write exactly over an
/// operand.
///
/// The channel is an adversary. In device semantics, where it runs beside compute, a transfer may touch its
/// memory at any moment until a wait for it or for a later one; in staged semantics until the next first
/// computation has ended or the value is made again; else at once. Writing or giving back what it may still
/// read, and using what it may still write, makes garbage.
///
/// A persistent value at home on storage has two places there: page-ins read the one that the step before has
/// written, page-outs write the other. An update changes its contents in RAM.
///
/// The plan trains if every op is computed for the first time in order of the graph, with the contents that
/// computing everything once without dropping anything makes, no op twice that cannot be, all persistent
/// values end as they do there (those at home in the place that was written last), and the limits hold: bytes
/// in use, highest address (device semantics), deadline, bytes written. Harmless nonsense, such as freeing
/// what is not there, is not its business. O(steps log steps + edges) where not much of memory is in flight.
[[nodiscard]] MachineReport run_on_machine(const Instance& instance, const Plan& plan, const Layout& layout,
                                           Semantics semantics, const Limits& limits);

}  // namespace poet::test
