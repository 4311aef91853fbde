#pragma once

// Solver::file: the tight formulation solved by an external program (docs/solvers.md).

#include "poet/optimize/milp/formulation.h"
#include "poet/optimize/search/search.h"
#include "poet/optimize/solvers/mps.h"
#include "poet/optimize/solvers/solver_choice.h"

namespace poet {

/// Depending on search.options().file:
/// - command: writes the model, runs the command, offers its decisions, adds exact RAM rows where the replay
///   overflows, and runs it again until nothing overflows or time is up;
/// - mps alone: writes the model;
/// - mps and solution: reads the answer to the model in mps, offers its decisions, and where the replay
///   overflows writes mps anew with exact rows for those stages.
/// Raises the bound by the root relaxation (Clp): before a command, in at most half of the time that remains,
/// as the relaxation may take long; after the model is written or the answer is read, in the rest of the
/// time. Sets search.next_step or, with a command, search.external_solver for the user. Takes only decisions
/// from the answer, which are completed and replayed like any others, so the solver is not trusted. Bounds in
/// a file are ignored, as they cannot be checked. Throws InputError for files that do not answer this
/// problem.
void solve_by_file(Search& search);

/// Checks that the files of an answer can be read: the solution, and the model that it solves, which poet has
/// written. Throws InputError. Does nothing without a solution.
void check_answer_files(const FileSolver& files);

/// Sets search.next_step or search.external_solver after a search that ended before the external solver's
/// turn: says why no model was written, no answer was read, or no command was run. `infeasible`: there is no
/// plan.
void say_what_was_skipped(Search& search, bool infeasible);

/// Returns names R_<stage>_<op>, S_<first stage>_<value>, D_..., In_<stage>_<value>, Out_..., Stored_<value>,
/// and x<number> for other columns. Stages, ops and values by their index in the instance.
[[nodiscard]] ColumnNames meaningful_names(const Problem& problem, const TightModel& tight);

}  // namespace poet
