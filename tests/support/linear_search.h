#pragma once

// The plan of least energy of a small instance among all lists of steps that the rules of a plan allow: the
// oracle of statements about every plan in the given order of ops. Shares nothing with optimiser, planner and
// verifier; what is in RAM, on storage and in flight, and the clock, are written out once more.
//
// "Every plan" is every sequence of page-outs, page-ins, waits, computations and frees, in which ops are
// computed for the first time in index order:
// - device: the channel is a FIFO queue beside compute, or blocks it; RAM counts from the issue of a page-in
//   to a free after the value's last transfer has ended, workspace while its op runs; the energy has idle
//   power over the makespan and waking up;
// - published: a transfer is done when it is issued and takes no time; no workspace;
// - staged: a transfer takes no time and lasts until the next first computation has ended.
// A persistent value at home on storage (Value::paged) is there when the step begins, in RAM as long as the
// plan keeps it, and is paged out once after its update.

#include <cstddef>
#include <optional>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet::test {

struct LinearSearchOptions {
  bool paging = true;  // of transient values; persistent ones that live on storage move in any case
  bool rematerialization = true;
  double at_most_joules = 1e300;  // only plans of at most so much energy are of interest: prunes
  bool any_plan = false;          // the first plan within the limits will do: much faster
  std::size_t most_states = 500'000;
  bool reductions = true;  // false: step by step, as the rules say, at most three transfers in flight; slow
};

struct LinearPlan {
  Plan plan;
  double joules = 0;   // any_plan: not counted
  double seconds = 0;  // any_plan: not counted
};

struct LinearSearchResult {
  bool finished = false;           // false: given up after most_states, nothing is known
  std::optional<LinearPlan> best;  // absent: there is none
  std::size_t states = 0;
};

/// At most 31 values. Exponential in ops and values: milliseconds for 6 ops, up to seconds for 10.
[[nodiscard]] LinearSearchResult search_linear_plans(const Instance& instance, Semantics semantics,
                                                     const Limits& limits,
                                                     const LinearSearchOptions& options = {});

}  // namespace poet::test
