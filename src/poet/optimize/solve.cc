#include "poet/optimize/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "poet/base/error.h"
#include "poet/optimize/explain.h"
#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/heuristics.h"
#include "poet/optimize/heuristic/local_search.h"
#include "poet/optimize/heuristic/paging_search.h"
#include "poet/optimize/milp/branch.h"
#include "poet/optimize/milp/columns.h"
#include "poet/optimize/milp/neighbourhoods.h"
#include "poet/optimize/milp/published.h"
#include "poet/optimize/relaxation/gap_relaxation.h"
#include "poet/optimize/relaxation/window_search.h"
#include "poet/optimize/search/search.h"
#include "poet/optimize/solvers/external.h"

namespace poet {
namespace {

// Effort of the first round, in units independent of the clock; doubled from round to round.
constexpr long kWork = 20'000;  // simplex iterations of one MIP

// Solves the MIP restricted to decisions near the uses of values, the incumbent's, and `support`, those of a
// relaxation.
bool search_around_uses(Search& search, int width, const Decisions& support, std::set<int>& exact_stages,
                        long work) {
  Columns columns = just_in_time_columns(search.problem(), 1 + width, width);
  if (search.problem().transfers_take_time()) {  // hiding a transfer may require an early start
    constexpr int kEarly = 4;
    merge(columns, just_in_time_columns(search.problem(), 0, width + kEarly).allowed);
  }
  merge(columns, support);
  if (search.has_incumbent()) merge(columns, search.incumbent().decisions);
  search.enter(fmt::format("restricted MIP, width {}", width));
  return search_restricted(search, columns, exact_stages, work);
}

// The MIP with every decision: large, and exact except for the timeline of device semantics.
class FullModel {
 public:
  explicit FullModel(Search& search) : search_(search) {
    const Problem& p = search.problem();
    const bool anytime = !p.transfers_take_ram() || estimated_full_columns(p, false) > kMostFullColumns / 4;
    size_ = estimated_full_columns(p, anytime);
    if (size_ > kMostFullColumns) return;
    columns_ = full_columns(p);
    columns_.page_out_anytime = anytime;
  }

  [[nodiscard]] long size() const { return size_; }
  /// Returns whether the tree is closed or infeasible.
  [[nodiscard]] bool is_exhausted() const { return finished_; }

  // Continues branch and cut. Returns false if the model is too large or exhausted.
  bool go_on(long work, std::set<int>& exact_stages) {
    if (finished_ || size_ > kMostFullColumns) return false;
    if (!root_) {
      search_.enter("root relaxation");
      root_ = solve_root(search_, columns_);
      search_.root_infeasible = root_->lp.status == LpStatus::infeasible;
      if (search_.root_infeasible) finished_ = true;
      if (search_.done() || finished_) return !finished_;
      if (root_->lp.status == LpStatus::optimal)
        search_around_uses(search_, 0, root_->support, exact_stages, work);
    }
    search_.enter("branch and cut");
    finished_ = !search_.done() && prove(search_, columns_, *root_, exact_stages, work);
    return !finished_;
  }

 private:
  Search& search_;
  long size_ = 0;
  Columns columns_;  // empty if there are too many
  std::optional<Root> root_;
  bool finished_ = false;
};

// Searches and bounds in rounds of doubling effort. Each round runs every method, as methods stall on
// different problems and help each other. Ends when the search is done or rounds bring no improvement. Once
// the best staged schedule is proven, only the bound on every plan, by windows, and synchronous plans can
// improve.
void improve(Search& search, Heuristics& heuristics) {
  constexpr long kSmallModel = 5'000;  // columns; solved outright
  constexpr int kFruitlessRounds = 3;
  constexpr double kWorthARound = 0.1;  // least improvement, relative to the open gap
  const Problem& p = search.problem();
  std::set<int> exact_stages;
  WindowSearch windows(search);
  FullModel full(search);
  const bool is_small = full.size() <= kSmallModel;
  int fruitless = 0;
  for (int round = 0; !search.bound_done() && fruitless < kFruitlessRounds; ++round) {
    const bool staged_proven = search.staged_proven();
    const double bound = search.bound();
    const double staged_bound = search.staged_bound();
    const double best = search.best_joules();
    const int doublings = std::min(round, 20);
    const long work = kWork << doublings;
    const auto seed = static_cast<unsigned>(round) + 1;
    if (!p.paging) heuristics.go_on(doublings, seed);  // better incumbents make the trees smaller
    const bool more_windows = search.options().tightenings.windows && windows.run(work, exact_stages);
    search.go_on_synchronously(doublings, seed);
    if (staged_proven) {
      const bool rises = search.bound() - bound >= kWorthARound * (search.best_joules() - bound);
      if (search.best_joules() >= best && (!more_windows || !rises)) return;
      continue;
    }
    if (round == 0 && !search.done()) search_paging_only(search, evaluations_of_local_search(p) / 4, work);
    const bool more_model =
        !search.done() && (is_small || (round > 0 && !more_windows)) && full.go_on(5 * work, exact_stages);
    if (search.done()) continue;
    if (!search.synchronous_leads() || !more_windows) {
      if (p.paging) heuristics.go_on(doublings, seed);
      search_around_uses(search, std::min(round, 3), no_decisions(p), exact_stages, work);
      search.enter("large neighbourhood search");
      search_neighbourhoods(search, 2, seed, exact_stages, work / 2);
    }
    if (search.bound() > bound || search.staged_bound() > staged_bound || search.best_joules() < best)
      fruitless = 0;
    else if (full.is_exhausted())
      return;
    else if (!more_windows && !more_model)
      ++fruitless;
  }
}

// Computes the bound without a constraint matrix. It is quick, and on large problems usually the only one.
void bound_by_gaps(Search& search) {
  constexpr int kRounds = 100;
  const bool large = is_large(search.problem());
  const int patience = large ? 4 : 8;             // consecutive rounds without a rise
  const double least_rise = large ? 1e-3 : 1e-4;  // relative to the proven overhead
  const double part_of_time = search.options().aim == Aim::bound ? 1 : 0.5;
  // Limits the target of a step, relative to the best bound so far; reduced when steps lower the bound.
  constexpr double kFarther = 1;
  constexpr double kNearer = 0.7;
  const Problem& p = search.problem();
  search.enter("gap packing bound");
  const Stop stop = search.stop().at_most(part_of_time * search.remaining());
  const Gaps gaps(p);
  GapRelaxation relaxation(p, gaps);
  double farther = kFarther;
  for (int round = 0, idle = 0; round < kRounds && idle < patience && !stop(); ++round) {
    const double before = relaxation.bound() - p.baseline_joules;
    const double target = relaxation.bound() + farther * before + 1e-3 * p.baseline_joules;
    const auto reached = relaxation.improve(std::min(search.best_joules(), target), stop);
    search.phase_ran_out = search.phase_ran_out || stop.expired();
    if (!reached) return;
    if (*reached < relaxation.bound()) farther *= kNearer;
    const double overhead = relaxation.bound() - p.baseline_joules;
    const double tolerance = solver_tolerance(overhead * p.objective_scale) / p.objective_scale;
    search.raise_bound(p.baseline_joules + std::max(0.0, overhead - tolerance));
    if (search.bound_done() || overhead <= 0) return;
    idle = overhead > before * (1 + least_rise) ? 0 : idle + 1;
  }
}

void run(Search& search) {
  const Problem& p = search.problem();
  if (!search.has_a_moment() || (search.options().known_joules && search.must_stop())) return;
  search.enter("everything kept");
  if (!is_large(p) || keep_all_peak(p) <= p.budget) search.offer(complete(p, no_decisions(p)));
  if (search.done()) return;
  if (search.options().formulation == Formulation::published) {
    search.enter("published formulation");
    solve_published(search);
    return;
  }
  // If an answer is known, only part of the time is spent on better ones.
  constexpr double kPartOfLarge = 0.4;
  const bool hurries = is_large(p) && search.options().known_joules;
  const Aim aim = search.options().aim;
  if (is_large(p) && aim != Aim::plan) bound_by_gaps(search);
  if (search.done() || (is_large(p) && aim == Aim::bound)) return;
  if (is_large(p) && aim == Aim::plan && search.options().known_joules) return;
  Heuristics heuristics(search);
  heuristics.begin();
  if (search.done()) return;
  search.enter("greedy search");
  const Stop part = search.stop().at_most(hurries ? kPartOfLarge * search.remaining() : kInfinity);
  const auto stop = [&] { return search.must_stop() || part(); };
  if (!search.has_incumbent())
    if (auto first = greedy(p, stop)) search.offer(std::move(*first));
  if (hurries && !search.has_incumbent()) return;
  search.phase_ran_out = search.phase_ran_out || part.expired();
  offer_paging_only(search);
  if (!search.has_incumbent() && !stop()) search.offer(lean_schedule(p, stop));
  if (search.done()) return;
  if (heuristics.mends()) {
    search.enter("local search");
    local_search(search, {.evaluations = evaluations_of_local_search(p) / 4});
  }
  if (!is_large(p)) bound_by_gaps(search);
  if (search.options().solver != Solver::file)
    improve(search, heuristics);
  else if (!search.done())
    solve_by_file(search);
}

}  // namespace

Outcome solve(const SolveRequest& request, const SolveOptions& options, const Stop& stop,
              SynchronousSearch* synchronous) {
  if (options.formulation == Formulation::published && request.semantics != Semantics::published)
    throw InputError(Field{"formulation"},
                     "published is the paper's model of its own semantics; it needs `semantics` published");
  if (!has_solver(options.solver)) throw InputError(Field{"solver"}, no_highs());
  if (options.solver == Solver::file) check_answer_files(options.file);
  const Problem problem = make_problem(request, options);
  Search search(problem, options, stop);
  search.seconds_for_reason = seconds_for_reason(options);
  PlannedTransfers plans(request, problem, stop.when_cancelled());
  if (problem.paging && problem.transfers_take_time()) search.plan_transfers_of_incumbents(plans);
  if (synchronous != nullptr && !is_large(problem)) search.search_synchronously(*synchronous);
  Outcome outcome;
  outcome.explanation = ram_floor(problem);
  bool infeasible = explain_impossible(problem, outcome.explanation);
  if (!infeasible) run(search);
  const bool timed_out = search.remaining() <= 0 || search.phase_ran_out;
  if (options.solver == Solver::file) say_what_was_skipped(search, infeasible);
  if (search.best_joules() == kInfinity && options.explain)  // this may find one
    infeasible = explain_no_answer(search, outcome.explanation, [](Search& other) {
      Heuristics heuristics(other);
      improve(other, heuristics);
    });
  Bounds bounds{Joules(search.bound()), std::nullopt};
  if (search.staged_bound() > search.bound()) bounds.staged = Joules(search.staged_bound());
  if (search.has_incumbent()) {
    search.plan_transfers_now();
    outcome.planned = plans.best();
    outcome.schedule = to_schedule(problem, request.instance, search.incumbent());
    outcome.certificate =
        certify(Joules(search.incumbent().joules), Joules(problem.baseline_joules), bounds, options.gap);
  } else {
    outcome.certificate = certify_none(infeasible ? Status::infeasible : Status::unknown, bounds);
  }
  outcome.seconds_to_incumbent = search.seconds_to_incumbent;
  outcome.solve_seconds = search.elapsed();
  outcome.timed_out = timed_out;
  outcome.nodes = search.nodes;
  outcome.next_step = search.next_step;
  outcome.external_solver = search.external_solver;
  outcome.solver = search.used_solver       ? solver_version(options.solver)
                   : search.staged_proven() ? "none needed"
                                            : "not used";
  return outcome;
}

}  // namespace poet
