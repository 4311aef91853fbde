#include "poet/evaluation.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "poet/autodiff/evaluation_part.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/compile.h"

namespace poet {

Instance evaluation_instance(const Instance& training) {
  EvaluationPart part = evaluation_part(training.graph);
  Instance found = training;
  CostTable& costs = found.costs;
  costs.ops = {};
  costs.values = {};
  for (const OpId op : ids<OpId>(part.graph.ops.size())) {
    OpCost cost = training.costs.ops[part.ops[op]];
    const std::string& kind = part.graph.ops[op].kind;
    if (kind != training.graph.ops[part.ops[op]].kind) {
      // One of those in place of a batch normalisation: of these only two look at every element.
      cost.workspace = Bytes(0);
      const bool whole = part.graph.values[part.graph.ops[op].outputs[0]].bytes ==
                         training.graph.values[training.graph.ops[part.ops[op]].outputs[0]].bytes;
      cost.runtime = cost.runtime * (whole ? 0.5 : 0.0);
      cost.energy = cost.energy * (whole ? 0.5 : 0.0);
    }
    costs.ops.push_back(cost);
  }
  costs.persistent = Bytes(0);
  for (const ValueId v : ids<ValueId>(part.graph.values.size())) {
    const Value& value = part.graph.values[v];
    ValueCost cost = training.costs.values[part.values[v]];
    const bool is_new =
        !is_persistent(value.persistence) && value.bytes != training.graph.values[part.values[v]].bytes;
    if (value.alias_of.valid())
      cost.bytes = Bytes(0);
    else if (is_new)
      cost.bytes = rounded_up(value.bytes, costs.alignment);
    if (is_resident(value)) costs.persistent += cost.bytes;
    costs.values.push_back(cost);
  }
  found.graph = std::move(part.graph);
  return found;
}

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
  request.options.aim = Aim::plan;
  request.options.interrupted = interrupted;
  CompileResult found = compile(request);
  if (found.plan.steps.empty() && file.instance.costs.has_storage) {
    file.limits.max_bytes_written = training.limits.max_bytes_written;
    request.limits = file.limits;
    found = compile(request);
  }
  if (found.plan.steps.empty()) {
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
