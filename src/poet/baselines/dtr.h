#pragma once

// Dynamic tensor rematerialisation: Kirisame et al. 2021 (arXiv 2006.09616), an online method. The step runs
// op by op; if an allocation does not fit, the resident value of the lowest score is evicted, and missing
// operands of an op are recomputed recursively. It knows costs and the graph so far, but not the future. Its
// only parameter is the RAM budget, so there is one plan.
//
// Where the paper leaves a choice, its simulator's is made (github.com/uwsampl/dtr-prototype, simrd, runtime
// "V2 eager", which made the paper's figures):
// - c0 is the op's running time, time is the simulated time of the computations so far. A value is accessed
//   when it is first computed and whenever it is requested as an operand; recomputing it is no access.
// - Eager eviction: the framework releases a value when the last first computation that reads it has run, and
//   DTR evicts it at once. It stays recomputable: it may come back to recompute others, and is then evictable
//   like any other.
// - Operands that are resident are locked first, the missing ones are recomputed in order, then room is made.
//   Of equal scores the value that became evictable last goes.
// - An op computes all its results; they are evicted one by one, each at the cost of the whole op. What a
//   repetition computes although it is resident takes no second place, for the verifier knows none (the
//   simulator frees it right after the op).
//
// What the simulator's logs do not have, values that cannot be recomputed: inputs, and results of ops whose
// parameter has been updated since (the simulator copies a mutated parameter; here it changes in place). They
// are not evicted. Once released, such a value is dropped for good as soon as no evicted value needs it, and
// what was computed from it cannot be recomputed either from then on: the paper's banishing,
// where eager eviction cannot be. Just before an update, evicted values that could not be recomputed after it
// and are still to be read are computed once more.

#include <string>
#include <vector>

#include "poet/baselines/dtr_heuristic.h"
#include "poet/baselines/method.h"

namespace poet {

struct DtrRun {
  std::vector<OpId> order;         // all computations, first and repeated
  std::vector<ValueId> evictions;  // for want of RAM, in order
  std::string reason;              // why it ended early; empty when it did not
};

/// Ends early when an op's operands, results and workspace do not fit beside what is locked, when it thrashes
/// (more than 50 times the time of the step without recomputation; the paper gives up at 3 to 5), and when
/// interrupted or out of time. O(evictions * residents * score + ops * (ops + edges)); a score costs O(1)
/// (local), O(neighbours) (components), O(e* and its edges) (full).
[[nodiscard]] DtrRun run_dtr(const MethodRequest& request, DtrHeuristic heuristic);

[[nodiscard]] MethodAnswer dtr(const MethodRequest& request);             // h_DTR
[[nodiscard]] MethodAnswer dtr_components(const MethodRequest& request);  // h_DTR^eq
[[nodiscard]] MethodAnswer dtr_local(const MethodRequest& request);       // h_DTR^local

}  // namespace poet
