#include "poet/optimize/solve.h"

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/optimize/branch.h"
#include "poet/optimize/columns.h"
#include "poet/optimize/explain.h"
#include "poet/optimize/gap_relaxation.h"
#include "poet/optimize/greedy.h"
#include "poet/optimize/published.h"
#include "poet/optimize/search.h"

namespace poet {
namespace {

// Beyond this many columns the full model's root relaxation takes minutes and gigabytes.
constexpr long kMostFullColumns = 700'000;

// Wider and wider sets of decisions around the uses of values, each started from the best schedule so far.
void search_around_uses(Search& search, const Decisions& support, std::set<int>& exact_stages) {
  constexpr int kWidths[] = {0, 1, 3};
  for (int width : kWidths) {
    if (search.done()) return;
    Columns columns = just_in_time_columns(search.problem(), 1 + width, width);
    if (search.problem().transfers_take_time()) {  // hiding a transfer may take an early start
      constexpr int kEarly = 4;
      const Columns early = just_in_time_columns(search.problem(), 0, width + kEarly);
      merge(columns, early.allowed);
    }
    merge(columns, support);
    if (search.has_incumbent()) merge(columns, search.incumbent().decisions);
    search.enter(width == 0 ? "search" : "wider search");
    search_restricted(search, columns, exact_stages, 0.2 * search.options().time_limit_seconds);
  }
}

// The MIP with every decision: its relaxation bounds, guides the search, and is finally closed.
// False when it shows that no schedule exists.
bool solve_full_model(Search& search, const Columns& full) {
  search.enter("bound");
  const Root root = solve_root(search, full);
  if (root.lp.status == LpResult::Status::infeasible && !search.has_incumbent()) return false;
  std::set<int> exact_stages;
  if (root.lp.status == LpResult::Status::optimal) search_around_uses(search, root.support, exact_stages);
  if (search.done()) return true;
  search.enter("proof");
  prove(search, full, root, exact_stages);
  return true;
}

// Too large for the full model: a bound from what must leave RAM in any case, and schedules from decisions
// near uses.
void solve_large(Search& search) {
  search.enter("bound");
  search.raise_bound(gap_relaxation(search));
  std::set<int> exact_stages;
  search_around_uses(search, no_decisions(search.problem()), exact_stages);
}

void run(Search& search, Outcome& outcome) {
  const Problem& p = search.problem();
  search.enter("keep all");
  search.offer(complete(p, no_decisions(p)));
  if (search.done()) return;
  if (search.options().formulation == Formulation::published) {
    search.enter("published formulation");
    solve_published(search);
    return;
  }
  search.enter("greedy");
  if (const GreedyResult first = greedy(p, [&] { return search.must_stop(); }); first.within)
    search.offer(*first.within);
  if (search.done()) return;
  Columns full = full_columns(p);
  if (p.transfers_take_ram() && estimated_columns(p, full) > kMostFullColumns / 4)
    full.page_out_anytime = true;
  if (estimated_columns(p, full) > kMostFullColumns) {
    solve_large(search);
  } else if (!solve_full_model(search, full)) {
    outcome.status = Status::infeasible;
  }
}

}  // namespace

Outcome solve(const SolveRequest& request, const SolveOptions& options) {
  if (options.formulation == Formulation::published && request.semantics != Semantics::published)
    throw InputError("--formulation published",
                     "is the paper's model of the published semantics; use --semantics published");
  const Problem problem = make_problem(request, options);
  Search search(problem, options);
  Outcome outcome;
  outcome.explanation = floor_of(problem);
  if (explain_impossible(problem, outcome.explanation)) {
    outcome.status = Status::infeasible;
  } else {
    run(search, outcome);
  }
  if (search.has_incumbent()) {
    outcome.status = search.proven() ? Status::optimal : Status::feasible;
    outcome.schedule = to_schedule(problem, request.instance, search.incumbent());
  } else {
    explain_no_answer(search, outcome);
  }
  outcome.bound = Joules(search.bound());
  outcome.seconds_to_incumbent = search.seconds_to_incumbent;
  outcome.solve_seconds = search.elapsed();
  outcome.nodes = search.nodes;
  outcome.solver = search.used_solver ? cbc_version() : "none needed";
  return outcome;
}

const char* to_string(Status status) {
  switch (status) {
    case Status::optimal:
      return "optimal";
    case Status::feasible:
      return "feasible";
    case Status::infeasible:
      return "infeasible";
    case Status::unknown:
      return "unknown";
  }
  return "?";
}

}  // namespace poet
