#pragma once

// POET's published mixed-integer program, as a baseline and as an oracle for the tight formulation.

#include "poet/optimize/search/search.h"

namespace poet {

/// Algorithm 1 of the paper with Checkmate's memory rows (binary Free with big-M hazards, a RAM variable per
/// op and stage), on CBC. Bytes and times are divided by their limits (raw, CBC calls feasible instances
/// infeasible); nothing else is changed. Published semantics, ops with one result each (InputError
/// otherwise). O(ops^2) columns, O(ops * edges) rows.
void solve_published(Search& search);

}  // namespace poet
