#include "poet/optimize/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/optimize/branch.h"
#include "poet/optimize/columns.h"
#include "poet/optimize/explain.h"
#include "poet/optimize/external.h"
#include "poet/optimize/gap_relaxation.h"
#include "poet/optimize/greedy.h"
#include "poet/optimize/neighbourhoods.h"
#include "poet/optimize/published.h"
#include "poet/optimize/search.h"
#include "poet/optimize/window_search.h"

namespace poet {
namespace {

// Beyond this many columns the full model's root relaxation takes minutes and gigabytes.
constexpr long kMostFullColumns = 250'000;

// Of the time limit; the rest is for the root relaxation and the proof.
constexpr double kShareOfEachWidth = 0.1;
constexpr double kShareOfNeighbourhoods = 0.25;

// Decisions near the uses of values, from the best schedule so far. `support` adds what a relaxation points
// to.
void search_around_uses(Search& search, int width, const Decisions& support, std::set<int>& exact_stages) {
  if (search.done()) return;
  Columns columns = just_in_time_columns(search.problem(), 1 + width, width);
  if (search.problem().transfers_take_time()) {  // hiding a transfer may take an early start
    constexpr int kEarly = 4;
    merge(columns, just_in_time_columns(search.problem(), 0, width + kEarly).allowed);
  }
  merge(columns, support);
  if (search.has_incumbent()) merge(columns, search.incumbent().decisions);
  search.enter(fmt::format("search, width {}", width));
  search_restricted(search, columns, exact_stages, kShareOfEachWidth * search.options().time_limit_seconds);
}

// The MIP with every decision: its relaxation bounds, guides the search, and is finally closed.
void solve_full_model(Search& search, const Columns& full, std::set<int>& exact_stages) {
  search.enter("root relaxation");
  const Root root = solve_root(search, full);
  search.root_infeasible = root.lp.status == LpResult::Status::infeasible;
  if (search.root_infeasible && !search.has_incumbent()) return;
  for (int width : {0, 1}) search_around_uses(search, width, root.support, exact_stages);
  if (!search.done()) {
    search.enter("neighbourhoods");
    search_neighbourhoods(search, 2, exact_stages,
                          kShareOfNeighbourhoods * search.options().time_limit_seconds);
  }
  search.enter("proof");
  if (!search.done()) prove(search, full, root, exact_stages);
}

void run(Search& search) {
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
  const auto stop = [&] { return search.must_stop(); };
  if (const auto first = greedy(p, stop)) search.offer(*first);
  if (!search.has_incumbent()) search.offer(lean_schedule(p, stop));
  if (search.done()) return;
  if (search.options().tightenings.gap_relaxation) {
    search.enter("gap relaxation");
    const GapRelaxation relaxed = gap_relaxation(search);
    search.raise_bound(relaxed.bound);
    if (!relaxed.modes.empty())
      if (const auto guided = greedy_from(p, relaxed.modes, stop)) search.offer(*guided);
  }
  if (search.options().solver == Solver::file) {
    if (!search.done()) solve_by_file(search);
    return;
  }
  std::set<int> exact_stages;
  search_windows(search, exact_stages);
  if (search.done()) return;
  search_around_uses(search, 0, no_decisions(p), exact_stages);
  if (search.done()) return;

  Columns full = full_columns(p);
  if (p.transfers_take_ram() && estimated_columns(p, full) > kMostFullColumns / 4)
    full.page_out_anytime = true;
  if (estimated_columns(p, full) > kMostFullColumns) {
    search_around_uses(search, 1, no_decisions(p), exact_stages);
    if (!search.done()) {
      search.enter("neighbourhoods");
      search_neighbourhoods(search, 2, exact_stages, search.remaining());
    }
  } else {
    solve_full_model(search, full, exact_stages);
  }
}

}  // namespace

Outcome solve(const SolveRequest& request, const SolveOptions& options) {
  if (options.formulation == Formulation::published && request.semantics != Semantics::published)
    throw InputError("--formulation published",
                     "is the paper's model of the published semantics; use --semantics published");
  if (!has_solver(options.solver)) throw InputError("--solver highs", no_highs());
  const Problem problem = make_problem(request, options);
  Search search(problem, options);
  Outcome outcome;
  outcome.explanation = floor_of(problem);
  if (explain_impossible(problem, outcome.explanation)) {
    outcome.status = Status::infeasible;
  } else {
    run(search);
  }
  if (!search.has_incumbent()) explain_no_answer(search, outcome);  // may come across a schedule after all
  if (search.has_incumbent()) {
    outcome.status = search.proven() ? Status::optimal : Status::feasible;
    outcome.schedule = to_schedule(problem, request.instance, search.incumbent());
  }
  outcome.bound = Joules(search.bound());
  outcome.seconds_to_incumbent = search.seconds_to_incumbent;
  outcome.solve_seconds = search.elapsed();
  outcome.nodes = search.nodes;
  outcome.next_step = search.next_step;
  outcome.solver = search.used_solver ? solver_version(options.solver) : "none needed";
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
