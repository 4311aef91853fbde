#include "poet/optimize/milp/branch.h"

#include <algorithm>

#include "poet/optimize/effort.h"
#include "poet/optimize/solvers/presolve.h"

namespace poet {
namespace {

// Beyond this many columns, a restricted model of a graph of 10,000 ops takes gigabytes, and a minute for its
// root alone (every stage's RAM row has all values retainable across it). Windows and local search do better.
constexpr long kMostRestrictedColumns = 30'000;

// An iteration on a larger model takes longer and counts for several.
constexpr std::size_t kEntriesOfLightModel = 50'000;
constexpr long kLeastWork = 1'000;

double to_joules(const Problem& p, const TightModel& tight, double objective) {
  return p.baseline_joules + objective / tight.scale;
}

double to_objective(const Problem& p, const TightModel& tight, double joules) {
  return (joules - p.baseline_joules) * tight.scale;
}

// Returns options that stop at the requested gap, when time is up, or when cancelled.
MipOptions mip_options(const Search& search, const TightModel& tight, long work) {
  MipOptions options;
  options.time_limit_seconds = search.remaining();
  options.work_limit = work;
  options.relative_gap = std::min(0.5 * search.options().gap, 0.005);
  options.solver = embedded(search.options().solver);
  if (search.has_incumbent()) options.start = tight.vars.start(search.problem(), search.incumbent());
  options.keep_going = [&search, &tight](double objective, double) {
    const Problem& p = search.problem();
    const double joules = to_joules(p, tight, objective);
    search.report();
    if (search.must_stop()) return false;
    // Stops if the incumbent is close enough to the global bound, even if this tree is not finished.
    return joules == kInfinity ||
           !(joules - search.staged_bound() < 0.5 * search.options().gap * (joules - p.baseline_joules));
  };
  return options;
}

bool add_overflowing_stages(const Problem& p, const Candidate& candidate, std::set<int>& exact_stages) {
  bool added = false;
  for (int t = 0; t < p.ops; ++t)
    if (candidate.stage_peak[static_cast<std::size_t>(t)] > p.budget && exact_stages.insert(t).second)
      added = true;
  return added;
}

TightOptions tight_options(const Search& search, const std::set<int>& exact_stages) {
  TightOptions options;
  options.tightenings = search.options().tightenings;
  options.exact_stages = exact_stages;
  return options;
}

}  // namespace

Root solve_root(Search& search, const Columns& full, double seconds) {
  const TightModel tight = build_tight(search.problem(), full, tight_options(search, {}));
  Root root{{}, no_decisions(search.problem())};
  root.lp = solve_lp(tight.model, std::min(seconds, search.remaining()), [&] { return search.must_stop(); });
  search.effort += effort_of_simplex(root.lp.work, tight.model.rows());
  search.used_solver = true;
  if (root.lp.status != LpStatus::optimal) return root;
  search.raise_staged_bound(
      to_joules(search.problem(), tight, root.lp.objective - solver_tolerance(root.lp.objective)));
  root.support = tight.vars.decisions(search.problem(), root.lp.x, 1e-6);
  return root;
}

bool search_restricted(Search& search, const Columns& columns, std::set<int>& exact_stages, long work) {
  const Problem& p = search.problem();
  if (estimated_columns(p, columns) > kMostRestrictedColumns) return false;
  bool improved = false;
  TightOptions options = tight_options(search, exact_stages);
  // If stalls cost energy or time, assume that every stage waits for its own transfers, so that hiding them
  // inside the stage is rewarded. If that is infeasible, try the relaxed timing, which hides all transfers.
  if (p.waiting_costs()) options.timing = rows::TransferTiming::conservative;
  while (!search.done() && work > 0) {
    options.exact_stages = exact_stages;
    const TightModel tight = build_tight(p, columns, options);
    const long heaviness = 1 + static_cast<long>(tight.model.entry_column.size() / kEntriesOfLightModel);
    const MipResult mip =
        solve_mip(tight.model, mip_options(search, tight, std::max(kLeastWork, work / heaviness)));
    search.effort += effort_of_simplex(mip.work, tight.model.rows());
    search.nodes += mip.nodes;
    work -= std::max(1L, mip.work * heaviness);
    if (mip.x.empty()) {
      if (mip.status != MipStatus::infeasible || options.timing == rows::TransferTiming::relaxed) break;
      options.timing = rows::TransferTiming::relaxed;
      continue;
    }
    const Candidate candidate = complete(p, tight.vars.decisions(p, mip.x));
    if (search.offer(candidate)) improved = true;
    if (!add_overflowing_stages(p, candidate, exact_stages)) break;
  }
  return improved;
}

bool prove(Search& search, const Columns& full, const Root& root, std::set<int>& exact_stages, long work) {
  const Problem& p = search.problem();
  while (!search.done() && work > 0) {
    TightModel tight = build_tight(p, full, tight_options(search, exact_stages));
    MipOptions options = mip_options(search, tight, work);
    // It remains to prove that no solution beats the incumbent by more than the requested gap: cut off all
    // others.
    const double best =
        search.has_incumbent() ? to_objective(p, tight, search.incumbent().joules) : kInfinity;
    const double target = best * (1 - 0.95 * search.options().gap);
    const bool cut_off = target < best * (1 - 1e-6);
    const double below = cut_off ? target : best;  // the solutions looked for have a lower objective
    if (cut_off) {
      options.cutoff = below;
      options.start.clear();
    }
    const bool fixed =
        search.options().tightenings.reduced_cost_fixing && fix_by_reduced_costs(tight.model, root.lp, below);
    const MipResult mip = solve_mip(tight.model, options);
    search.effort += effort_of_simplex(mip.work, tight.model.rows());
    search.nodes += mip.nodes;
    work -= mip.work;
    // Without a cutoff, the incumbent is a solution of the model, and "infeasible" is numerical noise.
    const bool nothing_below =
        mip.x.empty() && mip.status == MipStatus::infeasible && (cut_off || fixed || !search.has_incumbent());
    const double bound = nothing_below ? below : std::min(mip.bound, below);
    if (bound < kInfinity) search.raise_staged_bound(to_joules(p, tight, bound));
    if (mip.x.empty()) return nothing_below;
    const Candidate candidate = complete(p, tight.vars.decisions(p, mip.x));
    const bool improved = search.offer(candidate);
    const bool more_exact = add_overflowing_stages(p, candidate, exact_stages);
    // Without a new cutoff or exact rows, the same model would give the same answer.
    if (!(improved && cut_off) && !more_exact) return mip.status == MipStatus::optimal;
  }
  return false;
}

}  // namespace poet
