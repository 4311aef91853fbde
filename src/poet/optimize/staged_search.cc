#include "poet/optimize/staged_search.h"

#include <algorithm>
#include <utility>

#include "poet/base/error.h"
#include "poet/optimize/effort.h"
#include "poet/optimize/explain.h"
#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/local_search.h"
#include "poet/optimize/heuristic/paging_search.h"
#include "poet/optimize/milp/published.h"
#include "poet/optimize/solvers/external.h"
#include "poet/plan/schedule/linearise.h"

namespace poet {
namespace {

SolveOptions checked(SolveOptions options, Semantics semantics) {
  if (options.formulation == Formulation::published && semantics != Semantics::published)
    throw InputError(Field{"formulation"},
                     "published is the paper's model of its own semantics; it needs `semantics` published");
  if (!has_solver(options.solver)) throw InputError(Field{"solver"}, no_highs());
  if (options.solver == Solver::file) check_answer_files(options.file);
  return options;
}

}  // namespace

StagedSearch::StagedSearch(const SolveRequest& request, const SolveOptions& options, const Stop& stop,
                           SynchronousSearch* synchronous, Aim aim)
    : request_(request),
      options_(checked(options, request.semantics)),
      problem_(make_problem(request, options)),
      search_(problem_, options, stop),
      plans_(request, problem_, stop.when_cancelled()),
      heuristics_(search_),
      explanation_(ram_floor(problem_)) {
  search_.seconds_for_reason = seconds_for_reason(options);
  if (problem_.paging && problem_.transfers_take_time()) search_.plan_transfers_of_incumbents(plans_);
  if (synchronous != nullptr && problem_.regime.reworks_plans) search_.search_synchronously(*synchronous);
  impossible_ = explain_impossible(problem_, explanation_);
  if (!impossible_) left_ = steps(aim);
  std::reverse(left_.begin(), left_.end());
}

std::vector<StagedSearch::Step> StagedSearch::steps(Aim aim) const {
  using S = StagedSearch;
  if (options_.formulation == Formulation::published)
    return {&S::keep_everything, &S::solve_the_published_model};
  if (options_.solver == Solver::file)
    return {&S::keep_everything, &S::anneal_first,  &S::be_greedy,
            &S::search_locally,  &S::bound_by_gaps, &S::solve_with_files};
  // The solvers' rounds are for the bound.
  if (aim == Aim::first_bound) return {&S::bound_by_first_gaps, &S::relax_first_windows};
  if (aim == Aim::plans) return {&S::keep_everything, &S::anneal_first, &S::be_greedy, &S::search_locally};
  if (!problem_.regime.takes_turns)
    return {&S::keep_everything, &S::anneal_first,  &S::be_greedy,
            &S::search_locally,  &S::bound_by_gaps, &S::go_round};
  // The bound comes first, and shows how much greedy and local search could save.
  return {&S::keep_everything, &S::bound_by_gaps, &S::be_greedy, &S::search_locally, &S::go_round};
}

bool StagedSearch::go_on() {
  while (!left_.empty()) {
    const Step step = left_.back();
    // When the best staged schedule is proven, the bound on every plan may still rise.
    const bool for_every_plan = bounds_every_plan(step);
    if (for_every_plan ? search_.bound_done() : search_.done()) {
      left_.clear();
      break;
    }
    search_.effort += effort_per_op(microseconds_of(step), problem_.ops);
    const bool more = (this->*step)();
    if (more) return true;
    left_.pop_back();
    if (!for_every_plan) return true;
  }
  return false;
}

bool StagedSearch::bounds_every_plan(Step step) {
  using S = StagedSearch;
  return step == &S::bound_by_gaps || step == &S::bound_by_first_gaps || step == &S::relax_first_windows ||
         step == &S::go_round;
}

// Per op, but for what the solvers take.
double StagedSearch::microseconds_of(Step step) const {
  constexpr double kRound = 1'000;
  if (step == &StagedSearch::be_greedy) return 150;
  const bool mends = heuristics_.mends();
  if (step == &StagedSearch::anneal_first && !mends) return 1'000;
  if (step == &StagedSearch::search_locally && mends && search_.has_incumbent()) return 1'000;
  if (step == &StagedSearch::go_round) return kRound * static_cast<double>(1L << std::min(rounds(), 20));
  return 1;
}

bool StagedSearch::keep_everything() {
  if (!search_.has_a_moment()) return false;
  search_.enter("everything kept");
  if (keep_all_peak(problem_) <= problem_.budget) search_.offer(complete(problem_, no_decisions(problem_)));
  return false;
}

bool StagedSearch::solve_the_published_model() {
  search_.enter("published formulation");
  solve_published(search_);
  return false;
}

bool StagedSearch::solve_with_files() {
  solve_by_file(search_);
  return false;
}

bool StagedSearch::anneal_first() {
  heuristics_.begin();
  return false;
}

bool StagedSearch::be_greedy() {
  search_.enter("greedy search");
  const auto stop = [this] { return search_.must_stop(); };
  if (!search_.has_incumbent())
    if (auto first = greedy(problem_, stop)) search_.offer(std::move(*first));
  offer_paging_only(search_);
  if (search_.best_joules() == kInfinity && !stop()) search_.offer(lean_schedule(problem_, stop));
  return false;
}

bool StagedSearch::search_locally() {
  if (!heuristics_.mends()) return false;
  search_.enter("local search");
  local_search(search_, {.evaluations = evaluations_of_local_search(problem_) / 4});
  return false;
}

bool StagedSearch::bound_by_gaps() {
  search_.enter("gap packing bound");
  if (!gap_bound_) gap_bound_.emplace(problem_);
  const auto stop = [this] { return search_.must_stop(); };
  while (!search_.bound_done() && gap_bound_->go_on(search_.best_joules(), stop)) {
    search_.raise_bound(gap_bound_->bound());
    search_.effort += gap_bound_->effort_of_round();
    if (problem_.regime.takes_turns) return true;
  }
  return false;
}

bool StagedSearch::bound_by_first_gaps() {
  search_.enter("gap packing bound");
  GapBound gaps(problem_);
  if (!gaps.go_on(search_.best_joules(), [this] { return search_.must_stop(); })) return false;
  search_.raise_bound(gaps.bound());
  search_.effort += gaps.effort_of_round();
  return false;
}

bool StagedSearch::relax_first_windows() {
  constexpr long kWork = 5'000;  // simplex iterations
  if (search_.options().tightenings.windows) WindowSearch(search_).relax_at_first(kWork);
  return false;
}

bool StagedSearch::go_round() {
  if (!rounds_) rounds_.emplace(search_, heuristics_);
  return rounds_->go_on();
}

std::optional<PlannedSchedule> StagedSearch::best() {
  search_.plan_transfers_now();
  if (plans_.best()) return plans_.best();
  if (!search_.has_incumbent()) return std::nullopt;
  PlannedSchedule made{to_schedule(problem_, request_.instance, search_.incumbent()), {}, {}};
  made.plan = linearise(request_.instance, made.schedule, request_.semantics);
  made.energy = Joules(search_.incumbent().joules);
  return made;
}

Outcome StagedSearch::outcome() {
  Outcome outcome;
  outcome.explanation = explanation_;
  bool infeasible = impossible_;
  const bool timed_out = search_.remaining() <= 0;
  if (options_.solver == Solver::file) say_what_was_skipped(search_, infeasible);
  if (search_.best_joules() == kInfinity && options_.explain)  // this may find one
    infeasible = explain_no_answer(search_, outcome.explanation, [](Search& other) {
      Heuristics heuristics(other);
      Rounds rounds(other, heuristics);
      while (rounds.go_on()) {
      }
    });
  Bounds bounds{Joules(search_.bound()), std::nullopt};
  if (search_.staged_bound() > search_.bound()) bounds.staged = Joules(search_.staged_bound());
  if (search_.has_incumbent()) {
    search_.plan_transfers_now();
    outcome.planned = plans_.best();
    outcome.schedule = to_schedule(problem_, request_.instance, search_.incumbent());
    outcome.certificate =
        certify(Joules(search_.incumbent().joules), Joules(problem_.baseline_joules), bounds, options_.gap);
  } else {
    outcome.certificate = certify_none(infeasible ? Status::infeasible : Status::unknown, bounds);
  }
  outcome.seconds_to_incumbent = search_.seconds_to_incumbent;
  outcome.solve_seconds = search_.elapsed();
  outcome.timed_out = timed_out;
  outcome.nodes = search_.nodes;
  outcome.next_step = search_.next_step;
  outcome.external_solver = search_.external_solver;
  outcome.solver = search_.used_solver       ? solver_version(options_.solver)
                   : search_.staged_proven() ? "none needed"
                                             : "not used";
  return outcome;
}

}  // namespace poet
