#include "poet/compile/ledger.h"

#include <algorithm>
#include <utility>

#include "poet/plan/schedule/stages_of.h"
#include "poet/verify/accepted.h"

namespace poet {
namespace {

/// Rows of tables are always at home on storage.
PagedSet with_rows(const Instance& instance, PagedSet paged) {
  const auto& values = instance.graph.values;
  for (const ValueId v : ids<ValueId>(values.size()))
    if (values[v].rows) paged.push_back(v);
  std::sort(paged.begin(), paged.end());
  return paged;
}

void raise_to(double& bound, double joules) { bound = std::max(bound, joules); }

}  // namespace

Ledger::Ledger(const CompileRequest& request, Clock& clock) : request_(request), clock_(clock) {}

Ledger Ledger::branch() const {
  Ledger other = *this;
  other.nodes_ = 0;
  return other;
}

void Ledger::merge(const Ledger& branch) {
  for (const auto& [number, other] : branch.bounds_) {
    ScopedBounds& bounds = bounds_.at(number);
    raise_to(bounds.every_choice, other.every_choice);
    raise_to(bounds.no_paging, other.no_paging);
    raise_to(bounds.paging, other.paging);
    if (other.staged) bounds.staged = std::max(*other.staged, bounds.staged.value_or(*other.staged));
  }
  if (branch.joules() < joules()) {
    best_ = branch.best_;
    variant_ = branch.variant_;
  }
  if (branch.first_plan_) first_plan_ = std::min(*branch.first_plan_, first_plan_.value_or(kInfinity));
  incumbent_ = std::min(incumbent_, branch.incumbent_);
  const Refused& refused = branch.refused_;
  if (refused.least_runtime) note_late(*refused.least_runtime);
  if (refused.share) note_share(refused);
  if (refused.with_addresses) note_over(*refused.over, *refused.with_addresses - request_.limits.ram_budget);
  count(branch.nodes_, branch.used_solver_);
}

void Ledger::open(const Form& form, const ScopedBounds& bounds) {
  const double baseline = form.keep_all.energy.value();
  baseline_ = bounds_.empty() ? baseline : std::min(baseline_, baseline);
  bounds_[form.number] = bounds;
}

bool Ledger::offer(const Variant& variant, Proposal proposal) {
  const Instance& instance = *variant.judged;
  const bool device = request_.semantics == Semantics::device;
  CompileResult made;
  made.plan = std::move(proposal.plan);
  made.synchronous = proposal.synchronous;
  made.report = replay(instance, made.plan, request_.semantics, request_.limits);
  ensure_accepted(made.report, "the plan");
  if (made.report.energy.value() >= joules()) return false;
  made.schedule_report = made.report;
  if (!made.synchronous) {
    made.schedule_report = replay(instance, proposal.schedule, request_.semantics, request_.limits);
    ensure_accepted(made.schedule_report, "the schedule");
  }
  made.outcome.schedule = std::move(proposal.schedule);
  if (made.outcome.schedule.stages.empty() && variant.paged.empty())
    made.outcome.schedule = stages_of(instance, made.plan);
  if (proposal.layout) {
    made.layout = std::move(*proposal.layout);
    made.arena = replay_layout(instance, made.plan, made.layout, request_.semantics, request_.limits);
    ensure_accepted(made.arena, "the addresses");
  }
  if (device && instance.costs.timing.variation) made.expected = simulate(instance, made.plan);
  if (!is_on_time(variant, made)) return false;
  made.keep_all = variant.form->keep_all;
  made.instance = variant.judged;
  made.cut = variant.form->cut;
  made.order = variant.form->order;
  made.given_peak = variant.form->given_peak;
  if (request_.choose_paged) made.paged = with_rows(instance, variant.paged);
  made.reserve = variant.reserve;
  if (!first_plan_) first_plan_ = clock_.limit().elapsed();
  best_ = std::make_shared<const CompileResult>(std::move(made));
  variant_ = variant;
  report(phase_);
  return true;
}

bool Ledger::is_on_time(const Variant& variant, const CompileResult& made) {
  if (!request_.on_time) return true;
  const double share = made.expected->share_within(*request_.limits.deadline);
  if (share >= *request_.on_time) return true;
  Refused other;
  other.share = share;
  other.needs = made.expected->deadline_for(*request_.on_time);
  other.variant = variant;
  other.runtime = made.report.runtime;
  note_share(other);
  return false;
}

void Ledger::note_share(const Refused& other) {
  refused_.share = std::max(*other.share, refused_.share.value_or(*other.share));
  if (refused_.needs && *refused_.needs <= *other.needs) return;
  refused_.needs = other.needs;
  refused_.variant = other.variant;
  refused_.runtime = other.runtime;
}

void Ledger::note_incumbent(Joules energy) { incumbent_ = std::min(incumbent_, energy.value()); }

void Ledger::note_late(Seconds runtime) {
  refused_.least_runtime = std::min(runtime, refused_.least_runtime.value_or(runtime));
}

void Ledger::note_over(const Variant& variant, Bytes over) {
  const Bytes budget = request_.limits.ram_budget + over;
  if (refused_.with_addresses && *refused_.with_addresses <= budget) return;
  refused_.with_addresses = budget;
  refused_.over = variant;
}

void Ledger::raise(const Variant& variant, double joules, std::optional<double> staged) {
  ScopedBounds& bounds = bounds_.at(variant.form->number);
  switch (variant.scope) {
    case Scope::nothing:
      return;
    case Scope::this_form:
      raise_to(bounds.every_choice, joules);
      if (staged) bounds.staged = std::max(*staged, bounds.staged.value_or(*staged));
      return;
    case Scope::no_paging:
      raise_to(bounds.no_paging, joules);
      return;
    case Scope::all_paging:
      raise_to(bounds.paging, joules - variant.saved.value());
      return;
  }
}

void Ledger::raise_paging(const Form& form, double joules) {
  raise_to(bounds_.at(form.number).paging, joules);
}

void Ledger::count(long nodes, bool used_solver) {
  nodes_ += nodes;
  used_solver_ = used_solver_ || used_solver;
}

double Ledger::gap_to(Joules bound) const {
  return overhead_gap(joules(), bound.value(), best_->keep_all.energy.value());
}

bool Ledger::may_save(const Form& form) const {
  const double bound = bounds(form).every_plan();
  if (bound == kInfinity) return false;
  return !has_plan() || gap_to(Joules(bound)) > request_.options.gap;
}

bool Ledger::is_notable(double joules) const {
  return !has_plan() || gap_to(Joules(joules)) > request_.options.gap;
}

bool Ledger::is_notable_beside(double joules) const {
  return overhead_gap(joules, best_->report.energy.value(), best_->keep_all.energy.value()) >
         request_.options.gap;
}

void Ledger::report(const std::string& phase, std::optional<double> incumbent) {
  phase_ = phase;
  if (!request_.options.on_progress || !clock_.is_callers_thread()) return;
  Progress progress;
  progress.phase = phase;
  double every_form = kInfinity;
  for (const auto& [number, bounds] : bounds_) every_form = std::min(every_form, bounds.every_plan());
  if (every_form < kInfinity && !request_.best_order) progress.bound_joules = every_form;
  if (bounds_.size() == 1 && every_form < kInfinity && bounds_.begin()->second.staged > every_form)
    progress.staged_bound_joules = bounds_.begin()->second.staged;
  const double best = std::min({incumbent_, incumbent.value_or(kInfinity), joules()});
  if (best < kInfinity) progress.incumbent_joules = best;
  if (has_plan()) progress.plan_joules = joules();
  progress.elapsed_seconds = clock_.limit().elapsed();
  request_.options.on_progress(progress);
}

Bounds Ledger::bounds_of(const Form& form) const {
  const ScopedBounds& of = bounds(form);
  Bounds bounds{Joules(of.every_plan()), std::nullopt};
  if (of.staged && *of.staged > of.every_plan()) bounds.staged = Joules(*of.staged);
  return bounds;
}

CompileResult Ledger::answer(bool forms_left) {
  CompileResult result;
  const double gap = request_.options.gap;
  if (has_plan()) {
    result = *best_;
    const Joules energy = result.report.energy;
    const Joules baseline = result.keep_all.energy;
    result.certificate = certify(energy, baseline, bounds_of(*variant_->form), gap);
    if (request_.best_order) {
      result.of_this_order = result.certificate;
      result.certificate = certify(energy, baseline, {baseline, std::nullopt}, gap);
      if (result.certificate.note.empty()) result.certificate.note = result.of_this_order->note;
    }
    result.overhead = baseline > Joules(0) ? energy / baseline - 1 : 0;
    result.outcome.seconds_to_incumbent = *first_plan_;
  } else {
    const bool infeasible = !forms_left && std::ranges::all_of(bounds_, [](const auto& of) {
      return of.second.every_plan() == kInfinity;
    });
    result.certificate =
        certify_none(infeasible ? Status::infeasible : Status::unknown, {Joules(baseline_), std::nullopt});
  }
  result.outcome.certificate = result.certificate;
  result.outcome.nodes = nodes_;
  result.outcome.solver = used_solver_ ? solver_version(request_.options.solver)
                          : result.certificate.status == Status::optimal ? "none needed"
                                                                         : "not used";
  return result;
}

}  // namespace poet
