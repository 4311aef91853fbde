#include "poet/compile.h"

#include <cmath>

#include "poet/base/error.h"
#include "poet/optimize/solve.h"

namespace poet {
namespace {

void check(const CompileRequest& request) {
  verify(request.instance);
  if (request.limits.ram_budget.value() <= 0) throw InputError("RAM budget", "must be > 0");
  if (request.limits.deadline &&
      !(request.limits.deadline->value() > 0 && std::isfinite(request.limits.deadline->value())))
    throw InputError("deadline", "must be > 0 and finite");
  if (request.limits.max_bytes_written && request.limits.max_bytes_written->value() < 0)
    throw InputError("bytes written", "must be >= 0");
  if (!(request.options.gap >= 0)) throw InputError("gap", "must be >= 0");
  if (!(request.options.time_limit_seconds > 0)) throw InputError("time limit", "must be > 0");
  if (request.options.threads < 1) throw InputError("solve threads", "must be >= 1");
}

// gap = what is open / what is above the unavoidable baseline.
void judge(CompileResult& result) {
  const double energy = result.report.energy.value();
  const double baseline = result.keep_all.energy.value();
  const double open = energy - result.outcome.bound.value();
  result.gap = open <= 1e-9 * baseline ? 0 : open / (energy - baseline);
  result.overhead = baseline > 0 ? energy / baseline - 1 : 0;
}

}  // namespace

CompileResult compile(const CompileRequest& request) {
  check(request);
  const Instance& instance = request.instance;
  CompileResult result;
  result.keep_all = replay_keep_all(instance, request.semantics);
  result.outcome = solve({instance, request.limits, request.semantics}, request.options);
  if (result.outcome.schedule.stages.empty()) return result;

  result.plan = linearise(instance, result.outcome.schedule, request.semantics);
  result.schedule_report = replay(instance, result.outcome.schedule, request.semantics, request.limits);
  result.report = replay(instance, result.plan, request.semantics, request.limits);
  ensure(result.schedule_report.valid,
         ("the referee rejects the schedule: " + result.schedule_report.broken).c_str());
  ensure(result.report.valid, ("the referee rejects the plan: " + result.report.broken).c_str());
  judge(result);
  return result;
}

}  // namespace poet
