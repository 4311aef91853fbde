#include "poet/study/run_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"

namespace poet {
namespace {

/// What is wrong with a plan that breaks no rule but a limit.
std::string excess(const MethodRequest& request, const Report& report) {
  const Limits& limits = request.limits;
  if (report.peak_ram > limits.ram_budget) return "needs " + format_bytes(report.peak_ram);
  if (limits.deadline && report.runtime > *limits.deadline)
    return "takes " + format_seconds(report.runtime, 4);
  return report.broken;
}

/// With the figures of the whole plan, although a limit is broken on the way.
Report unlimited_report(const MethodRequest& request, const Plan& plan) {
  return replay(request.instance, plan, request.semantics, no_limits());
}

void judge_energy(const MethodAnswer& answer, const Report& keep_all, Judged& judged) {
  const double energy = judged.report.energy.value();
  const double baseline = keep_all.energy.value();
  judged.overhead = baseline > 0 ? energy / baseline - 1 : 0;
  if (!answer.bound || judged.verdict != Verdict::holds) return;
  judged.bound = std::min(*answer.bound, judged.report.energy);
  const double open = energy - judged.bound->value();
  judged.gap = open <= 1e-9 * baseline ? 0 : open / (energy - baseline);
}

}  // namespace

Judged run_method(const Method& method, const MethodRequest& request, const Report& keep_all) {
  const auto start = std::chrono::steady_clock::now();
  MethodAnswer answer = method.run(request);
  Judged judged;
  judged.note = answer.note;
  for (Plan& plan : answer.plans) {
    Report report = replay(request.instance, plan, request.semantics, request.limits);
    const Verdict verdict = report.valid ? Verdict::holds : Verdict::over_limits;
    if (!report.valid) {
      report = unlimited_report(request, plan);
      ensure(report.valid,
             fmt::format("{}: the referee rejects the plan: {}", method.name, report.broken).c_str());
    }
    const bool first = judged.plan.steps.empty();
    const bool better = verdict != judged.verdict   ? verdict == Verdict::holds
                        : verdict == Verdict::holds ? report.energy < judged.report.energy
                                                    : report.peak_ram < judged.report.peak_ram;
    if (!first && !better) continue;
    judged.verdict = verdict;
    judged.plan = std::move(plan);
    judged.report = report;
  }
  if (judged.plan.steps.empty()) {
    judged.verdict = answer.treats_graph ? Verdict::no_plan : Verdict::not_applicable;
    judged.reason = answer.reason;
  } else if (judged.verdict == Verdict::over_limits) {
    judged.reason = excess(request, judged.report);
  }
  if (!judged.plan.steps.empty()) judge_energy(answer, keep_all, judged);
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
