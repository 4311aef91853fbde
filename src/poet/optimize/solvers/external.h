#pragma once

// Solver::file: the tight formulation solved by a program outside poet (docs/solvers.md).

#include <iosfwd>
#include <set>
#include <string>

#include "poet/optimize/milp/formulation.h"
#include "poet/optimize/search/search.h"
#include "poet/optimize/solvers/mps.h"

namespace poet {

/// What must be known to build the model of an MPS file again; written to its head as comments.
struct ExternalModel {
  rows::TransferTiming timing = rows::TransferTiming::relaxed;
  std::set<int> exact_stages;
  std::string fingerprint;  // of the model; empty before it is built
};

/// Raises the bound by the root relaxation (Clp). Then, as search.options().file asks for:
/// - command: writes the model, runs the command, offers its decisions, adds exact RAM rows where the replay
///   overflows, and runs it again until nothing overflows or time is up;
/// - mps alone: writes the model;
/// - mps and solution: reads the answer to the model in mps, offers its decisions, and where the replay
///   overflows writes mps anew with exact rows for those stages.
/// search.next_step says what the user is to do. Only decisions are taken from the answer: they are completed
/// and replayed like any, so that no solver's word is trusted. Bounds that a file states are not read:
/// nothing in it could be checked. Throws InputError for files that are no answer to this problem.
void solve_by_file(Search& search);

/// R_<stage>_<op>, S_<first stage>_<value>, D_..., In_<stage>_<value>, Out_..., Stored_<value>; columns
/// without such a meaning are x<number>. Stages, ops and values by their index in the instance.
[[nodiscard]] ColumnNames meaningful_names(const Problem& problem, const TightModel& tight);

/// The head of an MPS file that solve_by_file has written. Throws InputError, `place` named, for others.
[[nodiscard]] ExternalModel read_head(std::istream& in, const std::string& place);

}  // namespace poet
