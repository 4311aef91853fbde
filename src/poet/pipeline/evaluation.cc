#include "poet/pipeline/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "poet/autodiff/evaluation_part.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/plan/canonical.h"
#include "poet/plan/layout/layout.h"

namespace poet {
namespace {

/// Pages values in for each run of consecutive ops that need them, and frees them after it.
Plan in_order(const Instance& instance) {
  const Graph& graph = instance.graph;
  const IdVector<ValueId, ValueId> storage_of = storages(graph);
  Plan plan;
  std::vector<ValueId> before;  // in RAM for the previous op
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    std::vector<ValueId> read;
    for (const ValueId v : graph.ops[op].inputs)
      if (const ValueId home = storage_of[v]; graph.values[home].paged) read.push_back(home);
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const ValueId v : read)
      if (!std::binary_search(before.begin(), before.end(), v))
        plan.steps.push_back({StepKind::page_in, {}, v});
    plan.steps.push_back({StepKind::compute, op, {}});
    before = std::move(read);
  }
  return canonicalize(instance, plan, Semantics::device);
}

}  // namespace

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

PlanFile evaluation_in_order(const PlanFile& training, const std::function<void(Instance&)>& adjust) {
  PlanFile file;
  file.instance = evaluation_instance(training.instance);
  if (adjust) adjust(file.instance);
  const Bytes room = training.layout.arena;
  file.limits.ram_budget = room + file.instance.costs.persistent;
  file.limits.max_bytes_written = Bytes(0);
  file.plan = in_order(file.instance);
  file.layout = place(file.instance, file.plan, file.semantics, {.enough = room, .room = room});
  if (file.layout.arena > room)
    throw InputError("the validation",
                     fmt::format("has to work in the plan's arena of {}, and with its ops in order takes {}: "
                                 "`poet run` looks for other plans of it",
                                 format_bytes(room), format_bytes(file.layout.arena)));
  return file;
}

}  // namespace poet
