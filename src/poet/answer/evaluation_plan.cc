#include "poet/answer/evaluation_plan.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/compile/compile.h"
#include "poet/pipeline/evaluation.h"

namespace poet {

PlanFile plan_evaluation(const PlanFile& training, const std::function<void(Instance&)>& adjust,
                         const std::function<bool()>& interrupted) {
  PlanFile file;
  file.instance = evaluation_instance(training.instance);
  if (adjust) adjust(file.instance);
  file.limits.ram_budget = training.layout.arena + file.instance.costs.persistent;
  file.limits.max_bytes_written = Bytes(0);
  CompileRequest request;
  request.instance = file.instance;
  request.limits = file.limits;
  request.options.time_limit_seconds = 30;
  request.options.interrupted = interrupted;
  CompileResult found = compile(request);
  if (!found.has_plan() && file.instance.costs.has_storage) {
    file.limits.max_bytes_written = training.limits.max_bytes_written;
    request.limits = file.limits;
    found = compile(request);
  }
  if (!found.has_plan()) {
    const std::optional<Bytes> known = found.outcome.explanation.least_ram;
    throw InputError("the validation",
                     fmt::format("has to work in the plan's arena of {}, and no plan for it was found{}: a "
                                 "larger `ram_budget` has room",
                                 format_bytes(training.layout.arena),
                                 known ? fmt::format(" (one is known for {})",
                                                     format_bytes(*known - file.instance.costs.persistent))
                                       : std::string()));
  }
  file.plan = std::move(found.plan);
  file.layout = std::move(found.layout);
  return file;
}

}  // namespace poet
