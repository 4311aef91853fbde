#include "poet/best_residence.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/optimize/certificate.h"
#include "poet/optimize/explain.h"
#include "poet/optimize/large.h"
#include "poet/optimize/problem/residence.h"
#include "poet/plan/allowance.h"
#include "poet/quick_least_ram.h"
#include "poet/ranked_sets.h"
#include "poet/residence_proofs.h"

namespace poet {
namespace {

/// Lower bounds, in joules, on the plans of different choices.
struct ChoiceBounds {
  double every_choice = 0;      // from the transfers that every plan needs
  double without_deadline = 0;  // of every choice
  double resident = kInfinity;  // of plans that page nothing; infinite while none fits the RAM budget
  double paging = 0;            // of plans that page something

  [[nodiscard]] double with(double of_resident) const {
    return std::max({every_choice, without_deadline, std::min(of_resident, paging)});
  }
};

class BestResidence {
 public:
  explicit BestResidence(const CompileRequest& request)
      : request_(request),
        stop_(stop_of(request.options)),
        all_(pageable(request.instance)),
        all_paged_(with_paged(request.instance, all_)),
        least_(least_step(request.instance, request.limits.ram_budget)),
        options_(for_every_choice(request.options)) {
    bounds_.every_choice = least_.energy.value();
  }
  BestResidence(const BestResidence&) = delete;  // the options refer to it
  BestResidence& operator=(const BestResidence&) = delete;

  CompileResult run() {
    CompileResult result = search();
    result.outcome.solve_seconds = stop_.elapsed();
    result.outcome.timed_out = timed_out_ || result.outcome.timed_out || stop_.expired();
    return result;
  }

 private:
  CompileResult search() {
    std::vector<PagedSet> sets = paged_sets(request_.instance, request_.limits);
    if (sets.empty()) return below_the_floor();
    if (const auto why = why_no_choice(request_.instance, request_.limits, least_))
      return without_a_plan(*why);
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

  /// Which plans the current search is for.
  enum class Searched { everything_resident, another_choice, without_deadline };

  /// The request's options, with a progress callback that reports what holds for every choice.
  [[nodiscard]] SolveOptions for_every_choice(SolveOptions options) const {
    options.on_progress =
        map_progress(std::move(options.on_progress), [this](Progress& progress) { generalize(progress); });
    return options;
  }

  void generalize(Progress& progress) const {
    const double reported = progress.bound_joules.value_or(0);
    double bound = bounds_.with(searched_ == Searched::everything_resident ? reported : bounds_.resident);
    if (all_.empty() || searched_ == Searched::without_deadline) bound = std::max(bound, reported);
    progress.bound_joules = bound;
    if (!all_.empty() || progress.staged_bound_joules <= bound) progress.staged_bound_joules.reset();
    if (impossible_ || searched_ == Searched::without_deadline) {  // their plans may be late
      progress.plan_joules.reset();
      progress.incumbent_joules.reset();
    }
    if (has_plan()) cap_plan_energy(progress, best_->report.energy);
  }

  [[nodiscard]] bool has_plan() const { return best_ && best_->has_plan(); }

  // Bounds then come from the gap relaxation alone.
  [[nodiscard]] bool is_large() const { return poet::is_large(request_.instance.graph.ops.size()); }

  // With a deadline or a write limit, bounds with every value paged do not hold for other choices.
  [[nodiscard]] bool bounds_hold() const {
    return !request_.limits.deadline && !write_limit(all_paged_.costs, request_.limits);
  }
  [[nodiscard]] Bytes rounding() const { return rounding_of(request_.instance, all_); }
  // On large instances, plan and bound are searched for one after the other. On others, the instance with
  // every value paged may not have been searched yet with the RAM of resident values, which are not aligned.
  [[nodiscard]] bool must_prove_all() const {
    return bounds_hold() && !of_all_ && (is_large() || !has_plan());
  }

  // Infeasible. Part of the time goes to the rest of the explanation, such as the least deadline.
  CompileResult without_a_plan(const std::string& why) {
    constexpr double kForReasons = 0.25;
    impossible_ = true;
    attempt(all_, request_.options.explain ? kForReasons : 0, true);
    if (request_.options.explain && request_.limits.deadline && !stop_()) try_without_deadline(kForReasons);
    CompileResult result = std::move(*best_);
    ensure(!result.has_plan(), "a plan within limits that are proven infeasible");
    explain_lateness(result);
    result.outcome.explanation.reason = why;
    result.certificate = certify_none(Status::infeasible, result.certificate.bounds);
    return result;
  }

  // Plans are easier to find without a deadline. The plan counts if it meets the deadline; its bound holds.
  void try_without_deadline(double share) {
    CompileRequest without = request_;
    without.options = options_;
    without.limits.deadline.reset();
    without.options.time_limit_seconds = time_limit_within(stop_, share);
    without.options.explain = false;
    searched_ = Searched::without_deadline;
    const double began = stop_.elapsed();
    CompileResult result = BestResidence(without).run();
    timed_out_ = timed_out_ || result.outcome.timed_out;
    none_without_deadline_ = result.certificate.status == Status::infeasible;
    bounds_.without_deadline = result.certificate.bounds.every_plan.value();
    if (!result.has_plan()) return;
    if (result.report.runtime <= latest_end(*request_.limits.deadline)) {
      note_first_plan(began, result);
      best_ = std::move(result);
    } else
      late_ = result.report.runtime;
  }

  void explain_lateness(CompileResult& result) const {
    std::optional<Seconds>& least = result.outcome.explanation.least_deadline;
    if (late_ && !result.has_plan()) least = std::min(*late_, least.value_or(*late_));
  }

  // The answer explains that the RAM floor exceeds the budget.
  CompileResult below_the_floor() {
    const bool fits_storage = has_homes(all_paged_);
    const Bytes floor = floor_of_every_choice(request_.instance);
    CompileRequest one = request_;
    one.choose_paged = false;
    one.instance = fits_storage ? all_paged_ : with_paged(request_.instance, {});
    const bool reasons = request_.options.explain && fits_storage;
    const Stop quickly = stop_.at_most(seconds_for_reason(request_.options));
    const std::optional<Bytes> enough =
        reasons ? quick_least_ram(all_paged_, request_.limits, floor, quickly) : std::nullopt;
    timed_out_ = timed_out_ || (reasons && quickly.expired());
    one.options.explain = request_.options.explain && !enough && !is_large();
    CompileResult result = compile(one);
    result.paged = with_rows(fits_storage ? all_ : PagedSet());
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
    return stop_() || (has_plan() && overhead_gap(best_->report.energy.value(), bound(),
                                                  best_->keep_all.energy.value()) <= request_.options.gap);
  }

  [[nodiscard]] double bound() const {
    return std::max(best_->keep_all.energy.value(), bounds_.with(bounds_.resident));
  }

  // Tries the promising sets; the others, too, until there is a plan.
  void try_paged(std::vector<PagedSet> sets) {
    constexpr double kForBound = 0.3;
    constexpr double kForRanking = 0.3;
    constexpr double kIfThereIsNoPlan = 0.3;  // of an attempt's time
    constexpr double kWorthAnAttempt = 1;     // s
    if (!is_large()) {
      const Stop stop = stop_.at_most(kForBound * stop_.remaining());
      const PagedSet paged = relax(stop);
      timed_out_ = timed_out_ || stop.expired();
      if (paged != all_ && is_worth_a_try(paged, sets)) sets.insert(sets.begin(), paged);
    }
    if (done()) return;
    std::size_t promising = sets.size();
    if (!is_large()) {
      const Stop stop = stop_.at_most(kForRanking * stop_.remaining());
      RankedSets ranked = ranked_sets(request_.instance, request_.limits, std::move(sets), stop);
      timed_out_ = timed_out_ || stop.expired();
      sets = std::move(ranked.sets);
      promising = ranked.promising;
    }
    for (std::size_t i = 0; i < sets.size() && !done(); ++i) {
      if (i >= promising && has_plan()) break;
      const double for_proof = !must_prove_all() ? 0 : is_large() ? 1 : kIfThereIsNoPlan;
      const auto left = static_cast<double>((i < promising ? promising : sets.size()) - i);
      const double of_them = std::clamp(stop_.remaining() / kWorthAnAttempt, std::min(left, 2.0), left);
      attempt(sets[i], 1 / (of_them + for_proof), i + 1 == sets.size());
      if (must_prove_all() && is_large() && has_plan() && !stop_()) prove_all();
    }
  }

  void attempt(const PagedSet& paged, double share, bool last) {
    CompileRequest one = request_;
    one.options = options_;
    one.choose_paged = false;
    one.instance = with_paged(request_.instance, paged);
    one.options.time_limit_seconds = time_limit_within(stop_, share);
    one.options.explain = request_.options.explain && last && !has_plan();
    if (!paged.empty() && bounds_hold() && is_large()) one.options.aim = Aim::plan;
    searched_ = paged.empty() ? Searched::everything_resident : Searched::another_choice;
    const double began = stop_.elapsed();
    CompileResult result = compile(one);
    timed_out_ = timed_out_ || result.outcome.timed_out;
    note_first_plan(began, result);
    result.paged = with_rows(paged);
    if (paged.empty()) {
      const bool none = result.certificate.status == Status::infeasible;
      bounds_.resident = none ? kInfinity : result.certificate.bounds.every_plan.value();
    }
    if (paged == all_ && rounding() == Bytes(0) && one.options.aim != Aim::plan) of_all_ = result.certificate;
    const bool better =
        !best_ || (result.has_plan() && (!has_plan() || result.report.energy < best_->report.energy));
    if (better) best_ = std::move(result);
  }

  void note_first_plan(double began, const CompileResult& result) {
    if (result.has_plan() && !first_plan_) first_plan_ = began + result.outcome.seconds_to_incumbent;
  }

  // Rows of tables are always at home on storage.
  [[nodiscard]] PagedSet with_rows(PagedSet paged) const {
    const auto& values = request_.instance.graph.values;
    for (const ValueId v : ids<ValueId>(values.size()))
      if (values[v].rows) paged.push_back(v);
    std::sort(paged.begin(), paged.end());
    return paged;
  }

  // Raises the bound; returns the set paged in the relaxation's solution.
  PagedSet relax(const Stop& stop) {
    const double best = has_plan() ? best_->report.energy.value() : kInfinity;
    RelaxedChoice relaxed = relax_choice(all_paged_, all_, request_.limits.ram_budget, options_, best, stop);
    bounds_.paging = std::max(bounds_.paging, relaxed.bound);
    return std::move(relaxed.paged);
  }

  [[nodiscard]] bool is_worth_a_try(const PagedSet& paged, const std::vector<PagedSet>& sets) const {
    if (paged.empty() || std::find(sets.begin(), sets.end(), paged) != sets.end()) return false;
    const Instance instance = with_paged(request_.instance, paged);
    return ram_floor(instance, Semantics::device).bytes() <= request_.limits.ram_budget;
  }

  // Searches for a bound with every value paged, in the RAM that other choices have.
  void prove_all() {
    CompileRequest one = request_;
    one.options = options_;
    one.choose_paged = one.addresses = one.options.explain = false;
    one.instance = all_paged_;
    one.limits.ram_budget += rounding();
    one.options.time_limit_seconds = time_limit_within(stop_);
    one.options.aim = Aim::bound;
    if (has_plan()) one.options.known_joules = best_->report.energy.value();
    one.options.synchronous = !is_large();
    searched_ = Searched::another_choice;
    const CompileResult result = compile(one);
    timed_out_ = timed_out_ || result.outcome.timed_out;
    of_all_ = result.certificate;
    raise_paging_bound();
  }

  void raise_paging_bound() {
    const Joules saved = most_saved_by_residents(request_.instance, request_.limits.ram_budget);
    bounds_.paging = std::max(bounds_.paging, (of_all_->bounds.every_plan - saved).value());
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
    if (first_plan_) best.outcome.seconds_to_incumbent = *first_plan_;
    const std::string note = best.certificate.note;
    best.certificate = best.has_plan()
                           ? certify(best.report.energy, best.keep_all.energy, bounds, request_.options.gap)
                           : certify_none(none, bounds);
    if (best.certificate.note.empty()) best.certificate.note = note;
    return best;
  }

  const CompileRequest& request_;
  const Stop stop_;
  const PagedSet all_;
  const Instance all_paged_;
  const StepBound least_;
  const SolveOptions options_;
  Searched searched_ = Searched::another_choice;
  bool impossible_ = false;  // no choice has a plan
  bool timed_out_ = false;   // a search of one choice
  std::optional<CompileResult> best_;
  std::optional<double> first_plan_;   // seconds
  std::optional<Certificate> of_all_;  // with every persistent value paged
  ChoiceBounds bounds_;
  std::optional<Seconds> late_;         // runtime of the plan found without the deadline, which it misses
  bool none_without_deadline_ = false;  // infeasible even without the deadline
};

}  // namespace

CompileResult compile_best_residence(const CompileRequest& request) { return BestResidence(request).run(); }

}  // namespace poet
