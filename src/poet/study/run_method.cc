#include "poet/study/run_method.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <compare>
#include <utility>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/optimize/certificate.h"
#include "poet/plan/allowance.h"
#include "poet/verify/accepted.h"

namespace poet {
namespace {

/// How far a plan is over each limit; 0: not at all.
struct Excess {
  Bytes ram{};
  Seconds time{};
  Bytes written{};

  auto operator<=>(const Excess&) const = default;
};

Excess excess_of(const MethodRequest& request, const Report& report) {
  const Limits& limits = request.limits;
  Excess excess;
  excess.ram = std::max(Bytes(0), report.peak_ram - limits.ram_budget);
  if (limits.deadline && report.runtime > latest_end(*limits.deadline))
    excess.time = report.runtime - *limits.deadline;
  if (const std::optional<Bytes> most = write_limit(request.instance.costs, limits))
    excess.written = std::max(Bytes(0), report.bytes_written - *most);
  return excess;
}

/// "needs 58.94 MB"; where that would read like the limit itself, "needs 12 B too much".
std::string over(const char* verb, const std::string& figure, const std::string& limit,
                 const std::string& too_much) {
  return fmt::format("{} {}", verb, figure == limit ? too_much : figure);
}

/// What is wrong with a plan that breaks no rule but limits: all of them.
std::string reason_of(const Excess& excess, const MethodRequest& request, const Report& report) {
  const Limits& limits = request.limits;
  std::vector<std::string> reasons;
  if (excess.ram > Bytes(0))
    reasons.push_back(over("needs", format_bytes(report.peak_ram), format_bytes(limits.ram_budget),
                           format_bytes(excess.ram) + " too much"));
  if (excess.time > Seconds(0))
    reasons.push_back(over("takes", format_seconds(report.runtime), format_seconds(*limits.deadline),
                           format_seconds(excess.time) + " too long"));
  if (excess.written > Bytes(0))
    reasons.push_back(over("writes", format_bytes(report.bytes_written),
                           format_bytes(*write_limit(request.instance.costs, limits)),
                           format_bytes(excess.written) + " too much"));
  return fmt::format("{}", fmt::join(reasons, ", "));
}

/// With the figures of the whole plan, although a limit is violated on the way, the storage's among them.
Report unlimited_report(const MethodRequest& request, const Plan& plan) {
  Instance endless = request.instance;
  endless.costs.storage_capacity.reset();
  return replay(endless, plan, request.semantics, no_limits());
}

/// What became of persistent values that may live on storage.
std::string residence_note(const Method& method, const MethodRequest& request, const MethodAnswer& answer) {
  const Instance& instance = answer.instance ? *answer.instance : request.instance;
  const std::size_t all = request.choose_paged ? pageable(instance).size() : 0;
  if (all == 0) return {};
  if (!method.pages_persistent) return "keeps every parameter and optimiser state in RAM";
  if (answer.plans.empty()) return {};
  return fmt::format("{} of {} parameters and optimiser states live on storage", answer.paged.size(), all);
}

void judge_energy(const MethodAnswer& answer, const Report& keep_all, Judged& judged) {
  const double energy = judged.report.energy.value();
  const double baseline = keep_all.energy.value();
  judged.overhead = baseline > 0 ? energy / baseline - 1 : 0;
  if (!answer.bound || judged.verdict != Verdict::holds) return;
  judged.bound = answer.bound;
  judged.gap = overhead_gap(energy, judged.bound->value(), baseline);
}

}  // namespace

Judged run_method(const Method& method, const MethodRequest& posed, const Report& keep_all) {
  const auto start = std::chrono::steady_clock::now();
  MethodAnswer answer = method.run(posed);
  Judged judged;
  judged.note = answer.note;
  if (const std::string note = residence_note(method, posed, answer); !note.empty())
    judged.note += (judged.note.empty() ? "" : "; ") + note;
  judged.instance = answer.instance;
  judged.cut = answer.cut;
  judged.paged = answer.paged;
  const Instance& graph = answer.instance ? *answer.instance : posed.instance;
  const Instance home = answer.paged.empty() ? Instance() : with_paged(graph, answer.paged);
  const MethodRequest request{answer.paged.empty() ? graph : home, posed.limits, posed.semantics,
                              posed.options, posed.choose_paged};
  Excess least;  // of the plan kept
  for (Plan& plan : answer.plans) {
    Report report = replay(request.instance, plan, request.semantics, request.limits);
    const Verdict verdict = report.valid ? Verdict::holds : Verdict::over_limits;
    if (!report.valid) {
      report = unlimited_report(request, plan);
      ensure_accepted(report, "the plan of " + std::string(method.name));
    }
    const bool first = judged.plan.steps.empty();
    const Excess excess = excess_of(request, report);
    const bool nearer = excess != least ? excess < least : first || report.energy < judged.report.energy;
    const bool better = verdict != judged.verdict ? verdict == Verdict::holds : nearer;
    if (!first && !better) continue;
    least = excess;
    judged.verdict = verdict;
    judged.plan = std::move(plan);
    judged.report = report;
  }
  if (judged.plan.steps.empty()) {
    judged.verdict = answer.treats_graph ? Verdict::no_plan : Verdict::not_applicable;
    judged.reason = answer.reason;
  } else if (judged.verdict == Verdict::over_limits) {
    judged.reason = reason_of(least, request, judged.report);
  }
  const bool other_graph = answer.instance != nullptr;
  if (!judged.plan.steps.empty())
    judge_energy(answer, other_graph ? replay_keep_all(with_paged(graph, {}), posed.semantics) : keep_all,
                 judged);
  judged.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return judged;
}

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::over_limits:
      return "over limits";
    case Verdict::no_plan:
      return "no plan";
    case Verdict::not_applicable:
      return "not applicable";
  }
  return "?";
}

}  // namespace poet
