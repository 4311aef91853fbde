#pragma once

#include "poet/compile/request.h"

namespace poet {

/// Returns the cheapest plan found within the limits, verified, with proven bounds; without a plan, the
/// status and an explanation, which are data, not errors.
///
/// With device semantics the plan's addresses must fit the RAM budget; bound and gap refer to the whole
/// budget (docs/planning.md, "Addresses"). With `choose_paged`, persistent values are resident where that
/// costs less energy. With `best_order`, bounds hold for every order. With `on_time`, a plan counts if that
/// share of its simulated steps (plan/timing/variation.h) meets the deadline; bounds hold for every plan that
/// meets the deadline, and without such a plan the explanation has the largest share found and the least
/// deadline that the wanted share of a known plan's steps meets. Ends within a second of the time limit, or
/// half a second of a cancellation, with the best plan so far; a longer limit takes the same steps, and more
/// of them.
///
/// Throws InputError for an invalid request: an invalid instance (NaN or negative costs...), a RAM budget
/// that is not positive, a deadline that is not positive and finite, a negative limit on bytes written, a gap
/// that is negative or NaN, a time limit that is not positive, fewer than one thread, `on_time` outside (0,
/// 1) or without what it needs (variants/stricter.h), and options that contradict each other
/// (optimize/staged_search.h).
///
/// Threads: up to `options.threads` search at a time, each in one variant or for one bound; of these, one is
/// the calling thread, and the others end with a batch of slices (compile/side_by_side.h). With two or more
/// another one may split the operators for the next form (CompileRequest::cuts). The result does not depend
/// on their number, unless time runs out. Callbacks are called by the calling thread, but for those of the
/// cuts. Any number of threads may call this at once; each gets the result it would get alone, unless time
/// runs out.
///
/// Memory: that of all variants' searches, whatever the number of threads; each thread adds a solver's child
/// process.
///
/// Processes: solvers run in child processes, forked from these threads (rules: base/process/child.h) and
/// gone when this returns or throws; they end with this process. A child runs the solver alone, which shares
/// no lock with the parent except the allocator's and stdio's, and glibc keeps those consistent across a
/// fork: other threads may do anything meanwhile. Nothing else may wait for these children (waitpid(-1)).
/// SIGCHLD reaches this process as for any child.
///
/// Signals: no handler is installed. The calling thread's mask is restored; all signals are blocked only for
/// the moment of a fork, and in threads that are started here. Children ignore SIGINT, SIGTERM and SIGHUP:
/// the caller has to stop at those, through `options.interrupted`.
[[nodiscard]] CompileResult compile(const CompileRequest& request);

}  // namespace poet
