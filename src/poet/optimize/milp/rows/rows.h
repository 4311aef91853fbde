#pragma once

// The constraint families of the tight formulation, one file each under its equation. Notation
// (docs/formulation.md): stage t, op i, value v with producer p(v); R[t,i] compute, S[t,v] in RAM when the
// stage starts, In/Out transfers in stage t, Stored[t,v] on storage when stage t starts, D[t,v] the RAM copy
// came from storage.

#include "poet/optimize/milp/model.h"
#include "poet/optimize/milp/variables.h"
#include "poet/optimize/problem/problem.h"

namespace poet::rows {

/// An op is computed only with its operands in RAM.
void dependencies(Model& model, const Problem& problem, const Variables& vars);

/// A copy in RAM comes from RAM, a computation or storage; with provenance, copies from storage are told
/// apart.
void retention(Model& model, const Problem& problem, const Variables& vars, const Tightenings& tightenings);

/// Page-ins need a stored copy, page-outs a copy in RAM; one page-out per value.
void paging(Model& model, const Problem& problem, const Variables& vars);

/// Nothing is computed, retained or paged in without a use.
void use_it_or_lose_it(Model& model, const Problem& problem, const Variables& vars,
                       bool transfers_may_be_early);

/// The RAM budget of the rows: the problem's, or a column in units of `unit` bytes if the budget is the
/// objective.
struct Budget {
  Term amount;             // in units
  double unit = 1;         // bytes
  std::int64_t bytes = 0;  // when fixed

  [[nodiscard]] bool is_fixed() const { return !amount.is_column(); }
};

/// RAM when a stage starts and while its own op runs: exact where nothing is recomputed, a relaxation
/// elsewhere. With `rounding` and a fixed budget, once more for each large tensor size, rounded.
void ram(Model& model, const Problem& problem, const Variables& vars, const Budget& budget, bool rounding);

/// Exact RAM at every computation of stage t, for stages in which recomputing overflowed. Adds columns.
void exact_ram(Model& model, const Problem& problem, const Variables& vars, const Budget& budget, int stage);

/// How transfer times are modelled.
enum class TransferTiming {
  /// makespan >= compute, >= channel (or their sum when the channel blocks): a relaxation.
  relaxed,
  /// Every stage waits for its own transfers. Except for wake-ups and rewritten results, the replay is never
  /// later.
  conservative,
};

/// Deadline, idle energy, bytes written. Adds columns; `scale` is the objective's.
void limits(Model& model, const Problem& problem, const Variables& vars, TransferTiming timing, double scale);

}  // namespace poet::rows
