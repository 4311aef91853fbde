#include "poet/optimize/problem/problem.h"

#include <algorithm>

#include "poet/graph/dataflow.h"
#include "poet/plan/allowance.h"
#include "poet/plan/overwritable.h"

namespace poet {
namespace {

std::vector<int> active_only(const Problem& problem, const std::vector<ValueId>& values) {
  std::vector<int> kept;
  for (ValueId v : values)
    if (problem.active[static_cast<std::size_t>(v.index)]) kept.push_back(v.index);
  return kept;
}

// Computes the last stages in which values can be read and ops usefully recomputed. A value can be read as
// late as one of its users can run; recomputing an op is useful only while one of its results can be read. In
// reverse topological order both are known when needed.
void find_horizons(Problem& p, const Dataflow& flow, const Graph& graph, bool rematerialization) {
  for (int i = p.ops - 1; i >= 0; --i) {
    const auto op = static_cast<std::size_t>(i);
    int useful = i;
    for (int v : p.writes[op]) {
      int last = i;
      for (int j : p.users[static_cast<std::size_t>(v)])
        last = std::max({last, j, p.recompute_until[static_cast<std::size_t>(j)]});
      p.horizon[static_cast<std::size_t>(v)] = last;
      useful = std::max(useful, last);
    }
    const OpId id(op);
    const bool allowed = rematerialization && graph.ops[id].recomputable;
    p.recompute_until[op] = allowed ? std::min(useful, flow.last_recompute[id].index) : i;
  }
}

}  // namespace

// Overheads are 0.01% to 50% of the baseline. The scale maps them to 1 to 5,000, which suits solvers'
// tolerances, and limits the largest single cost, which could overflow a solver.
double objective_scale(const Problem& p) {
  constexpr double kBaseline = 1e4;
  constexpr double kMostCost = 1e12;
  double costliest = p.wake_joules;
  for (const auto* costs : {&p.joules, &p.in_joules, &p.out_joules})
    for (double cost : *costs) costliest = std::max(costliest, cost);
  const double unit = std::max(p.baseline_joules / kBaseline, costliest / kMostCost);
  return unit > 0 ? 1 / unit : 1;
}

Problem make_problem(const SolveRequest& request, const SolveOptions& options) {
  const Graph& graph = request.instance.graph;
  const CostTable& costs = request.instance.costs;
  const Dataflow flow = dataflow(graph);
  Problem p;
  p.ops = static_cast<int>(graph.ops.size());
  p.values = static_cast<int>(graph.values.size());
  p.regime = regime_of(graph.ops.size());
  p.semantics = request.semantics;
  p.paging = options.paging && costs.has_storage;
  p.concurrent = costs.timing.concurrent;
  p.persistent = costs.persistent.value();
  p.persistent_of = costs.persistent_of;
  p.budget = transient_budget(costs, request.limits).value();
  if (request.limits.deadline) p.deadline = request.limits.deadline->value();
  if (const auto most = write_limit(costs, request.limits)) p.max_bytes_written = most->value();
  if (p.transfers_take_time()) {
    p.idle_watts = costs.timing.idle.value();
    p.wake_seconds = costs.timing.wake_time.value();
    p.wake_joules = costs.timing.wake_energy.value();
  }

  const auto values = graph.values.size();
  p.active.assign(values, 0);
  p.producer.assign(values, -1);
  p.users.resize(values);
  p.horizon.assign(values, -1);
  p.bytes.assign(values, 0);
  for (auto* column : {&p.in_joules, &p.out_joules, &p.in_seconds, &p.out_seconds})
    column->assign(values, 0.0);
  for (ValueId v : flow.transients) {
    const ValueCost& cost = costs.values[v];
    if (cost.bytes.value() == 0) continue;
    const auto i = static_cast<std::size_t>(v.index);
    p.active[i] = 1;
    p.producer[i] = flow.producer[v].index;
    p.bytes[i] = cost.bytes.value();
    p.in_joules[i] = cost.page_in.energy.value();
    p.out_joules[i] = cost.page_out.energy.value();
    p.in_seconds[i] = cost.page_in.seconds.value();
    p.out_seconds[i] = cost.page_out.seconds.value();
    for (OpId user : flow.users[v]) p.users[i].push_back(user.index);
  }

  const IdVector<OpId, std::vector<ValueId>> overwritable = overwritable_operands(request.instance);
  for (OpId op : ids<OpId>(graph.ops.size())) {
    p.reads.push_back(active_only(p, flow.reads[op]));
    p.writes.push_back(active_only(p, flow.writes[op]));
    p.seconds.push_back(costs.ops[op].runtime.value());
    p.joules.push_back(costs.ops[op].energy.value());
    p.overwritable.emplace_back();
    p.first_result.push_back(-1);
    if (request.semantics == Semantics::device && !overwritable[op].empty()) {
      for (const ValueId v : overwritable[op]) p.overwritable.back().push_back(v.index);
      p.first_result.back() = graph.ops[op].outputs.front().index;
    }
    const WorkingSet set = working_set(costs, flow, op, overwritable[op], request.semantics);
    p.workspace.push_back(set.workspace.value());
    p.working_sets.push_back(set.bytes().value());
    p.baseline_seconds += p.seconds.back();
    p.baseline_joules += p.joules.back();
  }
  p.baseline_joules += p.idle_watts * p.baseline_seconds;
  p.objective_scale = objective_scale(p);
  p.recompute_until.assign(static_cast<std::size_t>(p.ops), 0);
  find_horizons(p, flow, graph, options.rematerialization);
  return p;
}

std::int64_t keep_all_peak(const Problem& p) {
  std::vector<std::int64_t> change(static_cast<std::size_t>(p.ops) + 1, 0);
  for (std::size_t v = 0; v < p.bytes.size(); ++v) {
    if (p.active[v] == 0) continue;
    const int last = p.users[v].empty() ? p.producer[v] : p.users[v].back();
    change[static_cast<std::size_t>(p.producer[v])] += p.bytes[v];
    change[static_cast<std::size_t>(last) + 1] -= p.bytes[v];
  }
  std::int64_t ram = 0;
  std::int64_t peak = 0;
  for (std::size_t t = 0; t < p.workspace.size(); ++t) {
    ram += change[t];
    const auto& operands = p.overwritable[t];
    const auto over = std::ranges::find_if(
        operands, [&](int v) { return p.users[static_cast<std::size_t>(v)].back() == static_cast<int>(t); });
    const std::int64_t shared = over == operands.end() ? 0 : p.bytes[static_cast<std::size_t>(*over)];
    peak = std::max(peak, ram + p.workspace[t] - shared);
  }
  return peak;
}

}  // namespace poet
