#pragma once

// Several RAM budgets at once (--ram-budget 100MB,60MB): a plan for each, of the same graph, for a run that
// goes over from one to another.

#include <string>
#include <vector>

#include "apps/cli/solve/solving.h"
#include "poet/plan/file/plan_family.h"

namespace poet::cli {

/// An answer per RAM budget that --ram-budget names, from the largest to the smallest. The graph is split as
/// the smallest budget wants it. A larger budget has at most the energy of a smaller one: the same plan where
/// no better one was found. Throws InputError, also where a budget is there twice.
[[nodiscard]] std::vector<Solved> solve_budgets(const ProblemOptions& options, const Solving& how = {});

/// What answers of the same problem, from the largest budget to the smallest, say about each other: a larger
/// budget takes the plan of a smaller one where its own needs more energy, or where it has none; a smaller
/// one takes the bound of a larger one where that says more.
void carry_between_budgets(std::vector<Solved>& answers);

/// Whether each budget has a plan.
[[nodiscard]] bool all_answered(const std::vector<Solved>& answers);

/// The plan file of the answers, each of which is one.
[[nodiscard]] PlanFamily family_of_answers(const std::vector<Solved>& answers);

}  // namespace poet::cli
