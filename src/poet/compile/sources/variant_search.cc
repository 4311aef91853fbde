#include "poet/compile/sources/variant_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "poet/compile/refit_with_reserve.h"
#include "poet/optimize/explain.h"
#include "poet/optimize/search/every_plan.h"
#include "poet/optimize/search/prefetch_in_place.h"
#include "poet/plan/allowance.h"
#include "poet/plan/canonical.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/plan/schedule/stages_of.h"
#include "poet/plan/timing/timeline.h"
#include "poet/verify/replay.h"

namespace poet {
namespace {

/// Returns whether plans with synchronous paging, which are not staged schedules, are searched for.
bool searches_synchronous(const CompileRequest& request) {
  const SolveOptions& options = request.options;
  return request.semantics == Semantics::device && options.synchronous && options.paging &&
         request.instance.costs.has_storage && options.solver != Solver::file;
}

/// Progress goes through the ledger, which knows more.
SolveOptions reporting_to(Ledger* const& ledger, const Variant& variant, bool with_loads,
                          const CompileRequest& request) {
  SolveOptions options = request.options;
  const bool is_relaxed = request.limits.deadline && !variant.limits.deadline;
  options.on_progress = [&ledger, &variant, with_loads, is_relaxed](const Progress& progress) {
    if (progress.bound_joules) ledger->raise(variant, *progress.bound_joules, progress.staged_bound_joules);
    // With loads, staged schedules do not wait for these, so that their energy is too low.
    const bool counts = !with_loads && !is_relaxed;
    ledger->report(progress.phase, counts ? progress.incumbent_joules : std::nullopt);
  };
  return options;
}

}  // namespace

VariantSearch::VariantSearch(Variant variant, const CompileRequest& request, Clock& clock, Ledger& ledger)
    : variant_(std::move(variant)),
      request_(request),
      clock_(clock),
      ledger_(&ledger),
      problem_{*variant_.searched, variant_.limits, request.semantics} {
  const bool with_loads = has_paged(*variant_.searched);
  options_ = reporting_to(ledger_, variant_, with_loads, request);
  if (with_loads) {
    loads_.emplace(*variant_.searched, variant_.limits, options_.rematerialization);
    options_.rematerialization = true;
    const Bytes written = loads_->loads().written_home;
    const std::optional<Bytes> most = variant_.limits.max_bytes_written;
    if (most && *most < written) {
      impossible_ = fmt::format("a step writes {} bytes home to storage, over the limit of {}",
                                written.value(), most->value());
      ended_ = true;
    }
  }
  if (searches_synchronous(request) && !ended_)
    scratch_.emplace(loads_ ? loads_->request(request.semantics) : problem_, options_, clock_.limit());
}

bool VariantSearch::is_quick() const { return !ended_ && scratch_ && scratch_->is_quick(); }

// In large graphs the quick steps find plans about as good as all others do.
bool VariantSearch::is_settled() const {
  if (ended_ || staged_ || !scratch_) return true;
  return variant_.form->regime.takes_turns && !scratch_->is_quick();
}

bool VariantSearch::go_on(Ledger& record) {
  Ledger* const common = std::exchange(ledger_, &record);
  const bool went = one_step();
  ledger_ = common;
  return went;
}

bool VariantSearch::one_step() {
  if (ended_) return false;
  if (!std::exchange(decided_, true) && decide()) return true;
  const bool quick = is_quick();
  const Stop& limit = clock_.limit();
  const bool is_up = quick && !limit.cancelled() ? end_of_step()() : limit();
  if (is_up || !next_step()) {
    ended_ = !clock_.limit()();
    return false;
  }
  if (!quick) spent_ += step_effort_;
  collect();
  if (!quick) {
    place_again();
    repair();
  }
  if (quick || quick_joules_ == kInfinity) quick_joules_ = joules();
  return true;
}

// Whether plans that only compute, in any order, are answers.
bool VariantSearch::takes_sequences() const {
  const bool is_of_model = options_.formulation == Formulation::published || options_.solver == Solver::file;
  return !loads_ && options_.synchronous && !is_of_model;
}

void VariantSearch::consider(const std::vector<int>& computations) {
  Proposal made;
  for (const int op : computations)
    made.plan.steps.push_back({StepKind::compute, OpId(static_cast<std::size_t>(op)), ValueId()});
  made.plan = canonicalize(problem_.instance, made.plan, request_.semantics);
  made.synchronous = true;
  consider(std::move(made));
}

// Where nothing can be paged, every plan of a few ops takes a moment. Returns whether that was the case.
bool VariantSearch::decide() {
  if (!takes_sequences() || !has_few_ops(problem_.instance)) return false;
  const Problem problem = make_problem(problem_, options_);
  if (!has_few_plans(problem)) return false;
  const EveryPlan every = search_every_plan(problem, clock_.limit());
  has_no_plan_ = every.bound == kInfinity;
  if (has_no_plan_) ledger_->close(variant_);
  ledger_->raise(variant_, every.bound, std::nullopt);
  if (!every.computations.empty()) consider(every.computations);
  return true;
}

// The quick steps may have found what is good enough.
bool VariantSearch::first_bound_is_due() {
  const bool comes_last = !variant_.form->regime.takes_turns && variant_.scope != Scope::nothing;
  if (!comes_last || staged_ || !scratch_ || scratch_->is_quick() || !ledger_->has_plan()) return false;
  return !std::exchange(bounded_, true);
}

void VariantSearch::bound_at_first() {
  const SolveRequest problem = loads_ ? loads_->request(request_.semantics) : problem_;
  StagedSearch search(problem, options_, clock_.limit(), nullptr, Aim::first_bound);
  search.know(ledger_->joules() + variant_.saved.value());
  while (search.go_on()) {
  }
}

// Where plans and a bound of the request do not take turns, plans come first but for a first bound: if one is
// good enough, a bound shows that soon.
bool VariantSearch::next_step() {
  if (first_bound_is_due()) {  // whose effort does not count: what is searched next is the same
    bound_at_first();
    step_effort_ = 0;
    if (!ledger_->may_save(*variant_.form)) return true;
  }
  constexpr double kForBounds = 0.3;  // of all effort, where they take turns
  const bool has_bounds = variant_.form->regime.takes_turns && variant_.scope != Scope::nothing;
  const bool takes_turns = has_bounds && scratch_ && !scratch_->is_quick();
  if (takes_turns && !staged_) start_staged();
  const bool bounds_turn = takes_turns && staged_->effort() <= kForBounds * spent_;
  const auto go_on_with_stages = [this] {
    if (!staged_) start_staged();
    if (ledger_->has_plan()) staged_->know(ledger_->joules() + variant_.saved.value());
    const double before = staged_->effort();
    const bool went = staged_->go_on();
    step_effort_ = staged_->effort() - before;
    return went;
  };
  if (bounds_turn && go_on_with_stages()) return true;
  if (scratch_ && scratch_->go_on(!ledger_->has_plan())) {
    step_effort_ = scratch_->effort_of_last();
    return true;
  }
  return go_on_with_stages();
}

void VariantSearch::start_staged() {
  const SolveRequest problem = loads_ ? loads_->request(request_.semantics) : problem_;
  if (scratch_ && variant_.form->regime.reworks_plans)
    near_.emplace(problem, options_, clock_.limit(), scratch_->take());
  const Aim aim = variant_.scope == Scope::nothing ? Aim::plans : Aim::plans_and_bound;
  staged_.emplace(problem, options_, clock_.limit(), near_ ? &*near_ : nullptr, aim);
  if (takes_sequences()) staged_->accept_sequences();
  if (staged_->is_impossible()) ledger_->close(variant_);
  ledger_->raise(variant_, staged_->search().bound(), staged_->search().staged_bound());
}

// Turning a plan of a large graph into an answer takes long.
bool VariantSearch::is_too_late(Joules energy) const {
  return ledger_->has_plan() && energy.value() >= ledger_->joules() && clock_.limit()();
}

const SynchronousPlan* VariantSearch::best_synchronous() const {
  if (near_) return near_->best();
  return scratch_ ? scratch_->best() : nullptr;
}

// Takes over what the step has found. Plans with addresses first: they are answers as they stand.
void VariantSearch::collect() {
  if (staged_) {
    const Search& search = staged_->search();
    ledger_->raise(variant_, search.bound(), search.staged_bound());
    ledger_->count(search.nodes - nodes_, search.used_solver);
    nodes_ = search.nodes;
  }
  const bool has_better =
      scratch_ && scratch_->placed() && scratch_->placed()->energy.value() < placed_joules_;
  if (has_better && !is_too_late(scratch_->placed()->energy)) {
    placed_joules_ = scratch_->placed()->energy.value();
    if (auto placed = placed_proposal()) consider(std::move(*placed));
  }
  if (const SynchronousPlan* best = best_synchronous();
      best != nullptr && best->energy.value() < synchronous_joules_ && !is_too_late(best->energy)) {
    synchronous_joules_ = best->energy.value();
    consider(proposal_of(*best));
  }
  if (staged_ && staged_->search().sequence() && staged_->search().sequence()->joules < sequence_joules_) {
    sequence_joules_ = staged_->search().sequence()->joules;
    consider(staged_->search().sequence()->ops);
  }
  if (staged_ && staged_->search().has_incumbent())
    if (auto staged = staged_proposal()) consider(std::move(*staged));
}

// Without planned transfers a plan may miss the deadline.
Stop VariantSearch::time_to_plan() const {
  return variant_.form->regime.overruns ? clock_.limit().when_cancelled() : clock_.limit();
}

Proposal VariantSearch::proposal_of(const SynchronousPlan& plan) const {
  Proposal made;
  made.synchronous = true;
  made.decided = plan.decided;
  if (loads_) {
    made.plan = planned_without_loads(loads_->of(), plan.plan, time_to_plan());
  } else {
    made.plan = plan.plan;
    made.schedule = plan.schedule;
  }
  return made;
}

/// Absent where the plan, converted from the instance with loads, breaks a limit.
std::optional<Proposal> VariantSearch::placed_proposal() const {
  const PlacedPlan& found = *scratch_->placed();
  const PlacedPlan made = prefetched_in_place(
      *variant_.judged, loads_ ? placed_without_loads(*variant_.judged, loads_->loads(), found) : found);
  const Limits limits{variant_.limits.ram_budget, std::nullopt, variant_.limits.max_bytes_written};
  if (!replay(*variant_.judged, made.plan, request_.semantics, limits).valid) return std::nullopt;
  return Proposal{made.plan, made.energy, {}, {}, true, made.layout};
}

std::optional<Proposal> VariantSearch::staged_proposal() {
  // Planning the transfers of large graphs takes long.
  const double joules = staged_->search().best_staged_joules();
  if (joules >= staged_joules_) return std::nullopt;
  std::optional<PlannedSchedule> found = staged_->best();
  staged_joules_ = std::min(joules, staged_->search().best_staged_joules());
  if (!found) return std::nullopt;
  Proposal made;
  made.decided = decisions_of(found->schedule);
  if (loads_) {
    made.plan = planned_without_loads(loads_->of(), found->plan, time_to_plan());
    made.synchronous = true;
  } else {
    made.plan = std::move(found->plan);
    made.schedule = std::move(found->schedule);
  }
  return made;
}

// Judges a plan by its timeline on the device.
void VariantSearch::consider(Proposal proposal) {
  const Instance& instance = *variant_.judged;
  if (!request_.addresses) proposal.layout.reset();
  if (request_.semantics == Semantics::device) {
    const Timeline line = timeline_of(instance, proposal.plan);
    proposal.energy = energy_of(instance, proposal.plan, line);
    if (request_.limits.deadline && line.makespan > latest_end(request_.limits.deadline->value())) {
      if (proposal.energy.value() < joules_) late_ = Seconds(line.makespan) - *request_.limits.deadline;
      ledger_->note_late(Seconds(line.makespan));
      return;
    }
  } else {
    proposal.energy = replay(instance, proposal.plan, request_.semantics, request_.limits).energy;
  }
  if (proposal.energy.value() < joules_) {
    joules_ = proposal.energy.value();
    late_.reset();
  }
  ledger_->note_incumbent(proposal.energy);
  if (proposal.layout && variant_.reserve == Bytes(0))
    fitting_joules_ = std::min(fitting_joules_, proposal.energy.value());
  if (proposal.energy.value() >= ledger_->joules()) return;
  if (proposal.layout && variant_.reserve == Bytes(0))
    ledger_->offer(variant_, std::move(proposal));
  else
    fit(std::move(proposal));
}

std::optional<Bytes> VariantSearch::over() const {
  const bool hopeless = !unfit_.empty() && is_repaired(unfit_.front().energy.value());
  if (!hopeless || !ledger_->is_notable(unfit_.front().energy.value())) return std::nullopt;
  return over_;
}

std::optional<Seconds> VariantSearch::late() const { return late_; }

Outcome VariantSearch::explain() {
  Outcome outcome;
  if (!impossible_.empty()) {
    outcome.explanation.reason = impossible_;
    return outcome;
  }
  if (!staged_) start_staged();
  outcome = staged_->outcome();
  if (outcome.certificate.status == Status::infeasible) ledger_->close(variant_);
  if (has_no_plan_ && !staged_->is_impossible())
    outcome.explanation.reason = "no plan is within the limits: all of these few ops were tried";
  collect();
  if (!loads_) return outcome;
  OpId& binding = outcome.explanation.binding_op;
  const WithLoads& loads = loads_->loads();
  while (binding.valid() && !loads.original[binding].valid()) binding = OpId(binding.index + 1);  // a reader
  if (binding.valid()) binding = loads.original[binding];
  outcome.explanation.least_deadline.reset();  // of a schedule whose loads may end later
  return outcome;
}

}  // namespace poet
