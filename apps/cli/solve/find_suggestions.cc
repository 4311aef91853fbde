#include "apps/cli/solve/find_suggestions.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/base/time_shares.h"
#include "poet/compile.h"

namespace poet::cli {
namespace {

constexpr double kAnyPlan = 1e9;  // of the overhead

class SuggestionSearch {
 public:
  SuggestionSearch(const Solved& solved, const SuggestionCandidates& candidates, const Stop& stop)
      : solved_(solved),
        candidates_(candidates),
        stop_(stop),
        request_(solved.request),
        given_(solved.request.limits),
        late_(solved.result.outcome.solve_seconds - solved.request.options.time_limit_seconds) {}

  Suggestions find() {
    const SuggestionCandidates& candidates = candidates_;
    for (const SuggestedChange& other : candidates.changes)
      if (has_plan(other.pose)) suggestions_.others.push_back(other.change);
    const std::optional<DeviceProfile>& device = solved_.workload.device;
    const bool has_all_ram = device && given_.ram_budget >= device->ram;
    if (has_all_ram) try_batches();  // first, as more RAM is another device
    if (candidates.any_written) try_writing(candidates.any_written);
    if (!deadline_hopeless(solved_)) try_enough_ram();
    if (given_.deadline && !ram_hopeless(solved_)) try_deadline();
    if (!deadline_hopeless(solved_)) try_less_ram();  // for which there may be no time left
    try_on_time();
    if (given_.deadline && !suggestions_.ram && !suggestions_.deadline && !suggestions_.any_deadline)
      try_both();
    if (!has_all_ram) try_batches();
    return std::move(suggestions_);
  }

 private:
  /// Any plan: a smaller gap takes the same steps, and more of them.
  [[nodiscard]] std::optional<CompileResult> plan_of(CompileRequest& request) {
    if (stop_.cancelled() || stop_.remaining() + kShares.suggestions_after_limit < std::max(late_, 0.0))
      return std::nullopt;
    const Stop stop =
        stop_.at_most(kShares.suggestion * stop_.remaining()).at_least(kShares.suggestion_at_least);
    request.options.time_limit_seconds = stop.remaining();
    request.options.interrupted = [stop] { return stop.cancelled(); };
    request.options.on_progress = nullptr;
    request.options.explain = false;
    request.options.gap = kAnyPlan;
    if (!request.limits.deadline) request.on_time.reset();  // of steps that meet it
    const double began = stop_.elapsed();
    CompileResult result = compile(request);
    late_ = std::max(late_, stop_.elapsed() - began - request.options.time_limit_seconds);
    if (result.plan.steps.empty()) return std::nullopt;
    return result;
  }

  [[nodiscard]] std::optional<CompileResult> plan_of(const std::function<Solved()>& pose) {
    if (stop_()) return std::nullopt;  // posing takes time, too
    try {
      Solved posed = pose();
      posed.request.options.synchronous = request_.options.synchronous;
      return plan_of(posed.request);
    } catch (const InputError&) {
      return std::nullopt;  // as of a file whose batch is fixed
    }
  }

  [[nodiscard]] bool has_plan(const std::function<Solved()>& pose) { return plan_of(pose).has_value(); }

  void try_batches() {
    const std::vector<SuggestedBatch>& batches = candidates_.batches;
    const auto batch = std::find_if(batches.begin(), batches.end(),
                                    [&](const SuggestedBatch& other) { return has_plan(other.pose); });
    if (batch != batches.end()) suggestions_.batch_size = batch->batch_size;
  }

  /// What whoever asks with these limits is given.
  [[nodiscard]] std::optional<CompileResult> plan_within(const Limits& limits) {
    if (candidates_.within) return plan_of([&] { return candidates_.within(limits); });
    CompileRequest request = request_;
    request.limits = limits;
    return plan_of(request);
  }

  /// RAM with which everything can be kept, with an address for each value.
  Bytes enough_ram() {
    if (enough_) return *enough_;
    const Bytes peak = candidates_.within
                           ? std::max(solved_.figures.keep_all.peak_ram, solved_.workload.whole_keep_all)
                           : solved_.figures.keep_all.peak_ram;
    Limits limits = given_;
    limits.ram_budget = 2 * peak;
    limits.deadline.reset();
    const auto result = plan_within(limits);
    enough_ = result ? std::max(peak, result->arena.ram) : peak;
    return *enough_;
  }

  bool works_with(Bytes ram) {
    Limits limits = given_;
    limits.ram_budget = ram;
    if (ram <= given_.ram_budget) return false;
    const auto result = plan_within(limits);
    if (!result) return false;
    suggestions_.ram = ram;
    suggestions_.ram_keeps_all = result->report.energy <= result->keep_all.energy;
    return true;
  }

  [[nodiscard]] Bytes least_ram() const {
    const Bytes floor = std::max(given_.ram_budget, solved_.figures.floor.bytes());
    return std::max(floor, solved_.result.outcome.explanation.least_ram.value_or(floor));
  }

  /// Found at once. In other parts keeping everything may take more than in these.
  void try_enough_ram() {
    if (works_with(solved_.figures.keep_all.peak_ram)) return;
    works_with(enough_ram());
    if (least_ram() > enough_ram() && !suggestions_.ram) works_with(least_ram());
  }

  /// The least first.
  void try_less_ram() {
    const Bytes enough = suggestions_.ram ? *suggestions_.ram : enough_ram();
    const Bytes least = least_ram();
    const double ratio = static_cast<double>(enough.value()) / static_cast<double>(least.value());
    for (const double part : {0.0, 0.125, 0.25, 0.5, 0.75}) {  // of the way there, in equal factors
      const Bytes ram(static_cast<std::int64_t>(static_cast<double>(least.value()) * std::pow(ratio, part)));
      if (ram < enough && works_with(ram)) return;
    }
  }

  void try_deadline() {
    Limits limits = given_;
    const auto works = [&](Seconds time) {
      limits.deadline = rounded_up(time);
      if (*limits.deadline <= *given_.deadline || !plan_within(limits)) return false;
      suggestions_.deadline = limits.deadline;
      return true;
    };
    const std::optional<Seconds> least = solved_.result.outcome.explanation.least_deadline;
    if (least && works(*least)) return;
    limits.deadline.reset();
    const auto unhurried = plan_within(limits);
    if (!unhurried) return;
    for (const double times : {1.0, 1.1, 1.25})  // a search for it has less time than there was
      if (works(times * unhurried->report.runtime)) return;
    suggestions_.any_deadline = true;
  }

  /// A share that a plan was found with, to a thousandth.
  void try_on_time() {
    const std::optional<double> found = solved_.result.outcome.explanation.on_time;
    if (!found) return;
    CompileRequest request = request_;
    request.limits = given_;
    request.on_time = std::floor(1000 * *found) / 1000;
    if (*request.on_time > 0 && plan_of(request)) suggestions_.on_time = request.on_time;
  }

  void try_both() {
    Limits limits = given_;
    limits.ram_budget = std::max(given_.ram_budget, enough_ram());
    limits.deadline = std::max(*given_.deadline, rounded_up(solved_.figures.keep_all.runtime));
    if (plan_within(limits)) suggestions_.both = {limits.ram_budget, *limits.deadline};
  }

  void try_writing(const std::function<Solved()>& pose) {
    const auto result = plan_of(pose);
    if (!result) return;
    Limits limits = given_;
    for (const double times : {1.0, 1.1, 1.25}) {  // a search within it may find less than one without
      limits.max_bytes_written =
          Bytes(static_cast<std::int64_t>(times * static_cast<double>(result->report.bytes_written.value())));
      if (*limits.max_bytes_written <= *given_.max_bytes_written || !plan_within(limits)) continue;
      suggestions_.max_bytes_written = limits.max_bytes_written;
      return;
    }
  }

  const Solved& solved_;
  const SuggestionCandidates& candidates_;
  const Stop& stop_;
  CompileRequest request_;
  const Limits given_;
  double late_;  // seconds by which a search ended after its time: a large graph is checked and copied first
  std::optional<Bytes> enough_;
  Suggestions suggestions_;
};

}  // namespace

Seconds rounded_up(Seconds time) {
  const double digits = time.value() < 1e-3 ? 1e9 : 1e6;
  return Seconds(std::ceil(time.value() * digits) / digits);
}

Suggestions find_suggestions(const Solved& solved, const SuggestionCandidates& candidates, const Stop& stop) {
  return SuggestionSearch(solved, candidates, stop).find();
}

}  // namespace poet::cli
