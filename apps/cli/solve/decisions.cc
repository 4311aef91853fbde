#include "apps/cli/solve/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "poet/base/amounts.h"
#include "poet/graph/dataflow.h"

namespace poet::cli {
namespace {

bool contains(const auto& sorted, auto item) {
  return std::binary_search(sorted.begin(), sorted.end(), item);
}

/// The output that stands for the op: the one with most bytes, the first of equals.
ValueId main_output(const Instance& instance, const std::vector<ValueId>& writes) {
  ValueId best;
  for (ValueId value : writes) {
    if (!best.valid() || instance.costs.values[value].bytes > instance.costs.values[best].bytes) best = value;
  }
  return best;
}

/// Follows one value through the stages.
void trace(Decision& decision, const Schedule& schedule, OpId producer) {
  int gone_for = 0;  // stages so far without a copy since it was last there
  int longest_gap = 0;
  for (std::size_t t = static_cast<std::size_t>(producer.index) + 1; t < schedule.stages.size(); ++t) {
    const Stage& stage = schedule.stages[t];
    const bool retained = contains(stage.retain, decision.value);
    const bool recomputed = !retained && contains(stage.compute, producer);
    decision.page_outs += static_cast<int>(contains(stage.page_out, decision.value));
    decision.page_ins += static_cast<int>(contains(stage.page_in, decision.value));
    decision.recomputations += static_cast<int>(recomputed);
    if (!retained && !recomputed) {
      ++gone_for;
      continue;
    }
    if (gone_for > longest_gap) {
      longest_gap = gone_for;
      decision.gone_from = OpId(t - static_cast<std::size_t>(gone_for));
      decision.back_at = OpId(t);
    }
    gone_for = 0;
  }
}

std::string times_cheaper(Joules cheaper, Joules costlier) {
  if (cheaper == Joules(0)) return "free";
  const double ratio = costlier / cheaper;
  if (ratio < 1.05) return "no costlier";
  if (ratio > 1e4) return "far cheaper";
  return format_number(ratio, 2) + "x cheaper";
}

}  // namespace

std::vector<Decision> decisions(const Instance& instance, const Schedule& schedule, Semantics semantics) {
  const Dataflow flow = dataflow(instance.graph);
  const bool idle_counts = semantics == Semantics::device;
  std::vector<Decision> out;
  for (ValueId value : flow.transients) {
    const ValueCost& cost = instance.costs.values[value];
    if (cost.bytes == Bytes(0)) continue;
    const OpId producer = flow.producer[value];
    const Op& op = instance.graph.ops[producer];
    Decision decision;
    decision.value = value;
    decision.bytes = cost.bytes;
    trace(decision, schedule, producer);

    if (instance.costs.has_storage) decision.page_cost = cost.page_out.energy + cost.page_in.energy;
    Joules once = instance.costs.ops[producer].energy;
    if (idle_counts) once += instance.costs.timing.idle * instance.costs.ops[producer].runtime;
    if (op.recomputable) decision.recompute_cost = once;
    decision.spent = decision.page_outs * cost.page_out.energy + decision.page_ins * cost.page_in.energy;
    if (main_output(instance, flow.writes[producer]) == value)
      decision.spent += decision.recomputations * once;
    out.push_back(decision);
  }
  return out;
}

void sort_by_importance(std::vector<Decision>& decisions) {
  std::stable_sort(decisions.begin(), decisions.end(), [](const Decision& a, const Decision& b) {
    return std::tie(b.spent, b.bytes) < std::tie(a.spent, a.bytes);
  });
}

std::string treatment(const Decision& decision) {
  if (decision.kept()) return "kept";
  if (decision.recomputations == 0) return "paged";
  if (decision.page_ins == 0 && decision.page_outs == 0) return "recomputed";
  return "paged and recomputed";
}

std::string reason(const Decision& decision) {
  const bool paged = decision.page_ins > 0;
  const bool recomputed = decision.recomputations > 0;
  if (decision.kept()) return "fits";
  if (paged && recomputed) return "each where it is cheaper";
  if (!decision.page_cost) return "no storage to page to";
  if (!decision.recompute_cost) return "must not be computed twice";
  const Joules page = *decision.page_cost;
  const Joules recompute = *decision.recompute_cost;
  if (paged) {
    if (page <= recompute) return "paging is " + times_cheaper(page, recompute);
    return "recomputing it would need its inputs too";
  }
  if (recompute <= page) return "recomputing is " + times_cheaper(recompute, page);
  return "no room or time for the transfers";
}

}  // namespace poet::cli
