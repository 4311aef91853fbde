#include "poet/residence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/optimize/certificate.h"
#include "poet/optimize/explain.h"
#include "poet/optimize/large.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/problem/residence.h"
#include "poet/optimize/relaxation/residence_relaxation.h"
#include "poet/optimize/transfer_bound.h"
#include "poet/plan/allowance.h"
#include "poet/quick_least_ram.h"
#include "poet/ranked_sets.h"

namespace poet {
namespace {

using PagedSet = std::vector<ValueId>;

bool found(const CompileResult& result) { return !result.plan.steps.empty(); }

/// Why no choice has a plan, by what computing and the updates' way home take at least.
std::optional<std::string> impossible(const Instance& instance, const Limits& limits,
                                      const StepBound& least) {
  Seconds computing{};
  for (const OpCost& op : instance.costs.ops) computing += op.runtime;
  if (limits.deadline && latest_end(*limits.deadline) < computing)
    return "the deadline is shorter than computing every op once";
  if (limits.deadline && latest_end(*limits.deadline) < least.runtime)
    return fmt::format(
        "with this RAM a step of these ops takes at least {}, as parameters and optimiser state have to move",
        format_seconds(least.runtime));
  const std::optional<Bytes> most = limits.max_bytes_written;  // homes need no other room on storage
  if (!most) return std::nullopt;
  const Bytes written = least_written_home(instance, limits.ram_budget);
  if (written <= *most) return std::nullopt;
  return fmt::format(
      "in this RAM a step writes at least {} of parameters and optimiser state home to storage, over the "
      "limit of {}",
      format_bytes(written), format_bytes(*most));
}

class BestResidence {
 public:
  explicit BestResidence(const CompileRequest& request)
      : request_(request),
        stop_(stop_of(request.options)),
        all_(pageable(request.instance)),
        all_paged_(with_paged(request.instance, all_)),
        least_(least_step(request.instance, request.limits.ram_budget)),
        options_(telling(request.options)) {}

  CompileResult run() {
    std::vector<PagedSet> sets = paged_sets(request_.instance, request_.limits);
    if (sets.empty()) return below_the_floor();
    if (const auto why = impossible(request_.instance, request_.limits, least_)) return without_a_plan(*why);
    constexpr double kWithoutDeadline = 0.25;
    constexpr double kForResident = 0.5;
    if (request_.limits.deadline) try_without_deadline(kWithoutDeadline);
    const bool may_keep_all = sets.front().empty();
    if (!done() && may_keep_all) attempt({}, sets.size() > 1 ? kForResident : 1, sets.size() == 1);
    if (may_keep_all) sets.erase(sets.begin());
    if (!done() && !sets.empty()) try_paged(std::move(sets));
    if (must_prove_all() && !(best_ && stop_())) prove_all();
    return certified();
  }

 private:
  /// What a search is for: plans of one choice, or of all.
  enum class Searched { everything_resident, another_choice, without_deadline };

  [[nodiscard]] SolveOptions telling(SolveOptions options) const {
    options.on_progress =
        changed(std::move(options.on_progress), [this](Progress& progress) { of_all_choices(progress); });
    return options;
  }

  /// What is known of every choice, from the progress of a search.
  void of_all_choices(Progress& progress) const {
    const double told = progress.bound_joules.value_or(0);
    double bound = bound_of(searched_ == Searched::everything_resident ? told : resident_bound_);
    if (all_.empty() || searched_ == Searched::without_deadline) bound = std::max(bound, told);
    progress.bound_joules = bound;
    if (!all_.empty() || progress.staged_bound_joules <= bound) progress.staged_bound_joules.reset();
    if (impossible_ || searched_ == Searched::without_deadline) {  // whose plans may be late
      progress.plan_joules.reset();
      progress.incumbent_joules.reset();
    }
    if (best_ && found(*best_)) keep_least(progress, best_->report.energy);
  }

  // Then the gap relaxation is what bounds.
  [[nodiscard]] bool is_large() const { return poet::is_large(request_.instance.graph.ops.size()); }

  // What is known of all of them paged says nothing of other choices where time or writing is limited.
  [[nodiscard]] bool bounds_hold() const {
    return !request_.limits.deadline && !write_limit(all_paged_.costs, request_.limits);
  }
  [[nodiscard]] Bytes rounding() const { return rounding_of(request_.instance, all_); }
  // Of large instances plan and bound are sought one after the other. Of others, nothing may have been
  // searched with all of them paged and as much RAM as resident values leave, which are not aligned.
  [[nodiscard]] bool must_prove_all() const {
    return bounds_hold() && !of_all_ && (is_large() || !(best_ && found(*best_)));
  }

  // What else there is to say, the least deadline for one, is found in a part of the time.
  CompileResult without_a_plan(const std::string& why) {
    constexpr double kForReasons = 0.25;
    impossible_ = true;
    attempt(all_, request_.options.explain ? kForReasons : 0, true);
    if (request_.options.explain && request_.limits.deadline && !stop_()) try_without_deadline(kForReasons);
    CompileResult result = std::move(*best_);
    ensure(!found(result), "a plan within limits that none keeps");
    explain_lateness(result);
    result.outcome.explanation.reason = why;
    result.certificate = certify_none(Status::infeasible, result.certificate.bounds);
    return result;
  }

  // Plans are easier to find without a deadline: that plan is one, if it keeps it, and its bound holds.
  void try_without_deadline(double share) {
    CompileRequest without = request_;
    without.options = options_;
    without.limits.deadline.reset();
    without.options.time_limit_seconds = std::max(1e-3, share * stop_.remaining());
    without.options.explain = false;
    searched_ = Searched::without_deadline;
    CompileResult result = BestResidence(without).run();
    none_without_deadline_ = result.certificate.status == Status::infeasible;
    bound_without_deadline_ = result.certificate.bounds.every_plan.value();
    if (!found(result)) return;
    if (result.report.runtime <= latest_end(*request_.limits.deadline))
      best_ = std::move(result);
    else
      late_ = result.report.runtime;
  }

  void explain_lateness(CompileResult& result) const {
    std::optional<Seconds>& least = result.outcome.explanation.least_deadline;
    if (late_ && !found(result)) least = std::min(*late_, least.value_or(*late_));
  }

  CompileResult below_the_floor() {  // which says so
    const bool has_homes = all_paged_.costs.storage_capacity.value_or(Bytes(0)) >= Bytes(0);
    const Bytes floor = floor_of_every_choice(request_.instance);
    CompileRequest one = request_;
    one.choose_paged = false;
    one.instance = has_homes ? all_paged_ : with_paged(request_.instance, {});
    const bool reasons = request_.options.explain && has_homes;
    const Stop quickly = stop_.at_most(seconds_for_reason(request_.options));
    const std::optional<Bytes> enough =
        reasons ? quick_least_ram(all_paged_, request_.limits, floor, quickly) : std::nullopt;
    one.options.explain = request_.options.explain && !enough && !is_large();
    CompileResult result = compile(one);
    result.paged = with_rows(has_homes ? all_ : PagedSet());
    Explanation& explanation = result.outcome.explanation;
    if (floor <= request_.limits.ram_budget && !all_.empty()) {
      result.certificate = certify_none(Status::unknown, {result.keep_all.energy, std::nullopt});
      explanation.reason += "; with other persistent values paged there may be a plan";
    }
    if (explanation.floor_ram) explanation.floor_ram = std::min(floor, *explanation.floor_ram);
    if (enough) explanation.least_ram = enough;
    return result;
  }

  [[nodiscard]] bool done() const {
    if (!best_) return false;
    return stop_() || (found(*best_) && overhead_gap(best_->report.energy.value(), bound(),
                                                     best_->keep_all.energy.value()) <= request_.options.gap);
  }

  // Either everything is resident, or something is paged.
  [[nodiscard]] double bound() const {
    return std::max(best_->keep_all.energy.value(), bound_of(resident_bound_));
  }
  [[nodiscard]] double bound_of(double resident) const {
    return std::max({least_.energy.value(), bound_without_deadline_, std::min(resident, paging_bound_)});
  }

  // Those that are promising, or until there is a plan.
  void try_paged(std::vector<PagedSet> sets) {
    constexpr double kForBound = 0.3;
    constexpr double kForRanking = 0.3;
    constexpr double kIfThereIsNoPlan = 0.3;  // of what an attempt has
    constexpr double kWorthAnAttempt = 1;     // s
    if (!is_large()) {
      const PagedSet paged = relax(stop_.at_most(kForBound * stop_.remaining()));
      if (paged != all_ && is_worth_a_try(paged, sets)) sets.insert(sets.begin(), paged);
    }
    if (done()) return;
    std::size_t promising = sets.size();
    if (!is_large()) {
      const Stop stop = stop_.at_most(kForRanking * stop_.remaining());
      RankedSets ranked = ranked_sets(request_.instance, request_.limits, std::move(sets), stop);
      sets = std::move(ranked.sets);
      promising = ranked.promising;
    }
    for (std::size_t i = 0; i < sets.size() && !done(); ++i) {
      if (i >= promising && best_ && found(*best_)) break;
      const double for_proof = !must_prove_all() ? 0 : is_large() ? 1 : kIfThereIsNoPlan;
      const auto left = static_cast<double>((i < promising ? promising : sets.size()) - i);
      const double of_them = std::clamp(stop_.remaining() / kWorthAnAttempt, std::min(left, 2.0), left);
      attempt(sets[i], 1 / (of_them + for_proof), i + 1 == sets.size());
      if (must_prove_all() && is_large() && found(*best_) && !stop_()) prove_all();
    }
  }

  void attempt(const PagedSet& paged, double share, bool last) {
    CompileRequest one = request_;
    one.options = options_;
    one.choose_paged = false;
    one.instance = with_paged(request_.instance, paged);
    one.options.time_limit_seconds = std::max(1e-3, share * stop_.remaining());
    one.options.explain = request_.options.explain && last && !(best_ && found(*best_));
    if (!paged.empty() && bounds_hold() && is_large()) one.options.aim = Aim::plan;
    searched_ = paged.empty() ? Searched::everything_resident : Searched::another_choice;
    CompileResult result = compile(one);
    result.paged = with_rows(paged);
    if (paged.empty()) {
      const bool none = result.certificate.status == Status::infeasible;
      resident_bound_ = none ? kInfinity : result.certificate.bounds.every_plan.value();
    }
    if (paged == all_ && rounding() == Bytes(0) && one.options.aim != Aim::plan) of_all_ = result.certificate;
    const bool better =
        !best_ || (found(result) && (!found(*best_) || result.report.energy < best_->report.energy));
    if (better) best_ = std::move(result);
  }

  // Rows of tables are at home on storage whatever is chosen.
  [[nodiscard]] PagedSet with_rows(PagedSet paged) const {
    const auto& values = request_.instance.graph.values;
    for (const ValueId v : ids<ValueId>(values.size()))
      if (values[v].rows) paged.push_back(v);
    std::sort(paged.begin(), paged.end());
    return paged;
  }

  // Raises the bound; the set of values that are paged in the relaxation's answer.
  PagedSet relax(const Stop& stop) {
    const WithLoads loads = with_loads(all_paged_);
    SolveOptions options = options_;
    options.rematerialization = true;  // what is not recomputed may still be loaded again
    Limits ram;  // the others are left out: with residents a step is shorter, and writes less
    ram.ram_budget = request_.limits.ram_budget;
    Problem problem = make_problem({loads.instance, ram, Semantics::device}, options);
    problem.max_bytes_written = std::numeric_limits<std::int64_t>::max();
    if (problem.budget < 0 || problem.ops == 0) return all_;
    problem.residents = residents_of(all_paged_, loads);
    if (problem.residents.empty()) return all_;
    const double best = best_ && found(*best_) ? best_->report.energy.value() : kInfinity;
    const ResidenceRelaxation relaxed = relax_residence(problem, options_, best, stop);
    paging_bound_ = std::max(paging_bound_, relaxed.bound);
    PagedSet paged;
    for (std::size_t i = 0; i < relaxed.resident.size(); ++i)
      if (relaxed.resident[i] == 0) paged.push_back(loads.value_of[ValueId(problem.residents[i].value)]);
    std::sort(paged.begin(), paged.end());
    return relaxed.resident.empty() ? all_ : paged;
  }

  [[nodiscard]] bool is_worth_a_try(const PagedSet& paged, const std::vector<PagedSet>& sets) const {
    if (paged.empty() || std::find(sets.begin(), sets.end(), paged) != sets.end()) return false;
    const Instance instance = with_paged(request_.instance, paged);
    return ram_floor(instance, Semantics::device).bytes() <= request_.limits.ram_budget;
  }

  void prove_all() {
    CompileRequest one = request_;
    one.options = options_;
    one.choose_paged = one.addresses = one.options.explain = false;
    one.instance = all_paged_;
    one.limits.ram_budget += rounding();
    one.options.time_limit_seconds = std::max(1e-3, stop_.remaining());
    one.options.aim = Aim::bound;
    if (best_ && found(*best_)) one.options.known_joules = best_->report.energy.value();
    one.options.synchronous = !is_large();
    searched_ = Searched::another_choice;
    of_all_ = compile(one).certificate;
    raise_paging_bound();
  }

  void raise_paging_bound() {
    const Joules saved = most_saved_by_residents(request_.instance, request_.limits.ram_budget);
    paging_bound_ = std::max(paging_bound_, (of_all_->bounds.every_plan - saved).value());
  }

  CompileResult certified() {
    Bounds bounds;
    Status none = none_without_deadline_ ? Status::infeasible : Status::unknown;
    if (of_all_ && bounds_hold()) {
      raise_paging_bound();
      if (of_all_->status == Status::infeasible) none = Status::infeasible;
    }
    bounds.every_plan = Joules(bound());
    CompileResult best = std::move(*best_);
    explain_lateness(best);
    best.outcome.solve_seconds = stop_.elapsed();
    best.certificate = found(best)
                           ? certify(best.report.energy, best.keep_all.energy, bounds, request_.options.gap)
                           : certify_none(none, bounds);
    return best;
  }

  const CompileRequest& request_;
  const Stop stop_;
  const PagedSet all_;
  const Instance all_paged_;
  const StepBound least_;
  const SolveOptions options_;  // the request's, which tell of bounds as they are here
  Searched searched_ = Searched::another_choice;
  bool impossible_ = false;  // no choice has a plan
  std::optional<CompileResult> best_;
  std::optional<Certificate> of_all_;   // with every persistent value paged
  std::optional<Seconds> late_;         // what the plan takes that is found without the deadline
  double bound_without_deadline_ = 0;   // joules
  bool none_without_deadline_ = false;  // no plan is possible then
  double resident_bound_ = kInfinity;   // joules, of plans that page nothing; there are none below its floor
  double paging_bound_ = 0;             // of all others
};

}  // namespace

CompileResult compile_best_residence(const CompileRequest& request) { return BestResidence(request).run(); }

}  // namespace poet
