#include "poet/on_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/cost/reorder.h"
#include "poet/verify/accepted.h"

namespace poet {
namespace {

constexpr int kMostSearches = 5;

void check_on_time(const CompileRequest& request) {
  const Field field{"on_time"};
  if (!(*request.on_time > 0 && *request.on_time < 1)) throw InputError(field, "must be > 0 and < 1");
  if (!request.limits.deadline)
    throw InputError(field, "is the share of steps that meet the deadline, and there is no `deadline`");
  if (request.semantics != Semantics::device)
    throw InputError(field, "is for device semantics: in others times do not vary");
  if (!request.instance.costs.timing.variation)
    throw InputError(field,
                     "needs to know how times vary (p95_over_median), which the device profile does not say; "
                     "poet profile measures it");
  if (request.options.solver == Solver::file)
    throw InputError(field, "may solve several problems; `solver` file solves one");
}

class OnTime {
 public:
  explicit OnTime(const CompileRequest& request)
      : request_(request),
        share_(*request.on_time),
        deadline_(*request.limits.deadline),
        stop_(stop_of(request.options)),
        plain_(request) {
    plain_.on_time.reset();
    // Only the end of a search shows whether its plan is an answer, and all deadlines but the first are
    // earlier.
    plain_.options.on_progress = map_progress(request.options.on_progress, [this](Progress& progress) {
      progress.plan_joules.reset();
      if (!bounds_known_) return;
      progress.bound_joules = bounds_.every_plan.value();
      progress.staged_bound_joules.reset();
    });
  }
  OnTime(const OnTime&) = delete;  // the options refer to it
  OnTime& operator=(const OnTime&) = delete;

  CompileResult run() {
    std::optional<Seconds> impossible;  // the latest deadline tried without finding a plan
    for (int search = 1; search <= kMostSearches; ++search) {
      CompileResult result =
          search == 2 ? compile_for_slow_steps() : compile_within_half(search == kMostSearches);
      if (search == 1) bounds_ = result.certificate.bounds;
      bounds_known_ = true;
      solves_ += result.solves;
      nodes_ += result.outcome.nodes;
      timed_out_ = timed_out_ || result.outcome.timed_out;
      if (search == 1 && !result.has_plan()) return result;
      if (result.has_plan()) {
        if (search > 1) result.of_this_order.reset();  // it holds for an earlier deadline
        if (result.expected->share_within(deadline_) >= share_) return answer(std::move(result));
        take(result);
      } else if (search > 2) {
        impossible = plain_.limits.deadline;
      }
      plain_.options.explain = false;
      if (stop_() || (search > 1 && !set_deadline(impossible))) break;
    }
    return none();
  }

 private:
  CompileResult compile_within_half(bool last) {
    plain_.options.time_limit_seconds = time_limit_within(stop_, last ? 1 : 0.5);
    const double began = stop_.elapsed();
    CompileResult result = compile(plain_);
    result.outcome.seconds_to_incumbent += began;
    return result;
  }

  /// Compiles with the times of slow steps: if transfers are what makes steps late, plans that recompute more
  /// and page less meet the deadline. Energies are unchanged, and no time is shorter than in the request's
  /// cost table, which judges the plan.
  CompileResult compile_for_slow_steps() {
    const CostTable costs = plain_.instance.costs;
    const TimeVariation& varies = *costs.timing.variation;
    for (OpCost& op : plain_.instance.costs.ops) op.runtime = varies.step * op.runtime;
    for (ValueCost& value : plain_.instance.costs.values) {
      value.page_in.seconds = varies.page_in * value.page_in.seconds;
      value.page_out.seconds = varies.page_out * value.page_out.seconds;
    }
    CompileResult result = compile_within_half(false);
    plain_.instance.costs = costs;
    return result.has_plan() ? judged_again(std::move(result)) : result;
  }

  /// Replays the plan with the request's costs.
  [[nodiscard]] CompileResult judged_again(CompileResult result) const {
    Instance instance = result.order.empty() ? request_.instance : reordered(request_.instance, result.order);
    if (request_.choose_paged) instance = with_paged(std::move(instance), result.paged);
    const auto judged = [&](const auto& plan_or_schedule) {
      Report report = replay(instance, plan_or_schedule, request_.semantics, request_.limits);
      ensure_accepted(report, "a plan for slow steps");
      return report;
    };
    result.report = judged(result.plan);
    result.schedule_report = result.synchronous ? result.report : judged(result.outcome.schedule);
    if (request_.addresses)
      result.arena = replay_layout(instance, result.plan, result.layout, request_.semantics, request_.limits);
    result.keep_all = replay_keep_all(request_.instance, request_.semantics);
    if (!result.order.empty()) result.keep_all = replay_keep_all(instance, request_.semantics);
    result.overhead =
        result.keep_all.energy > Joules(0) ? result.report.energy / result.keep_all.energy - 1 : 0;
    result.expected = simulate(instance, result.plan);
    return result;
  }

  /// Remembers a plan of which too few steps meet the deadline.
  void take(CompileResult& result) {
    const SimulatedSteps& expected = *result.expected;
    const Seconds needs = expected.deadline_for(share_);
    if (!least_deadline_ || needs < *least_deadline_) {
      least_deadline_ = needs;
      runtime_ = result.report.runtime;
    }
    const double share = expected.share_within(deadline_);
    if (best_ && share <= best_share_) return;
    best_share_ = share;
    best_ = std::move(result);
  }

  /// Sets the next deadline: the best plan's runtime less the delay at the wanted share of its steps, or half
  /// way to a deadline without a plan. Returns false if there is none left to try.
  bool set_deadline(const std::optional<Seconds>& impossible) {
    constexpr double kLeastPart = 1e-6;  // of a deadline: a smaller change is none
    const Seconds late = *least_deadline_ - deadline_;
    Seconds earlier = std::max(runtime_ - late, best_->keep_all.runtime);
    if (impossible && earlier <= *impossible) earlier = 0.5 * (runtime_ + *impossible);
    const bool is_other = impossible ? earlier > (1 + kLeastPart) * *impossible
                                     : earlier < (1 - kLeastPart) * *plain_.limits.deadline;
    plain_.limits.deadline = earlier;
    return is_other;
  }

  CompileResult answer(CompileResult result) {
    const std::string note = std::move(result.certificate.note);
    result.certificate = certify(result.report.energy, result.keep_all.energy, bounds_, request_.options.gap);
    if (result.certificate.note.empty()) result.certificate.note = note;
    return with_totals(std::move(result));
  }

  CompileResult none() {
    CompileResult result;
    result.keep_all = best_->keep_all;
    result.outcome.solver = best_->outcome.solver;
    result.certificate = certify_none(Status::unknown, bounds_);
    Explanation& explanation = result.outcome.explanation;
    explanation.reason =
        fmt::format("plans meet the deadline at median times, but at most {} of simulated steps do",
                    format_percent(best_share_));
    explanation.on_time = best_share_;
    explanation.least_deadline = least_deadline_;
    return with_totals(std::move(result));
  }

  CompileResult with_totals(CompileResult result) const {
    result.outcome.certificate = result.certificate;
    result.outcome.nodes = nodes_;
    result.outcome.timed_out = timed_out_ || stop_.expired();
    result.outcome.solve_seconds = stop_.elapsed();
    result.solves = solves_;
    return result;
  }

  const CompileRequest& request_;
  const double share_;
  const Seconds deadline_;
  const Stop stop_;
  CompileRequest plain_;
  Bounds bounds_;
  bool bounds_known_ = false;
  int solves_ = 0;
  long nodes_ = 0;
  bool timed_out_ = false;
  std::optional<CompileResult> best_;  // the plan with the largest share, below the one wanted
  double best_share_ = 0;
  std::optional<Seconds> least_deadline_;  // met by the wanted share of steps of a plan that was found
  Seconds runtime_{};                      // of that plan
};

}  // namespace

CompileResult compile_on_time(const CompileRequest& request) {
  check_on_time(request);
  return OnTime(request).run();
}

}  // namespace poet
