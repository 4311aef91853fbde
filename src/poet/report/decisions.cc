#include "poet/report/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "poet/base/amounts.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/schedule/stages_of.h"

namespace poet {
namespace {

bool contains(const auto& sorted, auto item) {
  return std::binary_search(sorted.begin(), sorted.end(), item);
}

/// Whether stage `t` has a use for the copy of `value` that it computes: another op reads it there, or it
/// outlives the stage.
bool wanted(const Schedule& schedule, const std::vector<OpId>& users, ValueId value, std::size_t t) {
  const Stage& stage = schedule.stages[t];
  const bool stays = t + 1 < schedule.stages.size() && contains(schedule.stages[t + 1].retain, value);
  return stays || contains(stage.page_out, value) ||
         std::any_of(users.begin(), users.end(), [&](OpId user) { return contains(stage.compute, user); });
}

/// What recomputing `op` in stage `t` brings back, the largest first; what nobody wanted comes last.
struct BroughtBack {
  std::vector<ValueId> values;
  std::size_t wanted = 0;
};

BroughtBack brought_back(const Instance& instance, const Dataflow& flow, const Schedule& schedule, OpId op,
                         std::size_t t) {
  BroughtBack back;
  for (ValueId value : flow.writes[op])
    if (!contains(schedule.stages[t].retain, value)) back.values.push_back(value);
  std::stable_sort(back.values.begin(), back.values.end(), [&](ValueId a, ValueId b) {
    return instance.costs.values[a].bytes > instance.costs.values[b].bytes;
  });
  const auto used = [&](ValueId value) { return wanted(schedule, flow.users[value], value, t); };
  const auto end = std::stable_partition(back.values.begin(), back.values.end(), used);
  back.wanted = static_cast<std::size_t>(end - back.values.begin());
  return back;
}

/// Follows the values through the stages. O(size of the schedule), where each value's stages would be too
/// many.
class Traces {
 public:
  Traces(const Instance& instance, const Dataflow& flow, const Schedule& schedule)
      : traces_(instance.graph.values.size()) {
    for (const ValueId v : flow.transients) traces_[v].there = flow.producer[v].index;
    for (std::size_t t = 0; t < schedule.stages.size(); ++t) {
      const Stage& stage = schedule.stages[t];
      for (const ValueId v : stage.page_out) ++traces_[v].decision.page_outs;
      for (const ValueId v : stage.page_in) ++traces_[v].decision.page_ins;
      for (const ValueId v : stage.retain) is_there(v, t);
      for (const OpId op : stage.compute) {
        if (static_cast<std::size_t>(op.index) == t) continue;  // for the first time
        for (const ValueId v : flow.writes[op]) {
          if (contains(stage.retain, v)) continue;
          ++traces_[v].decision.recomputations;
          is_there(v, t);
        }
      }
    }
  }

  [[nodiscard]] const ValueDecision& of(ValueId value) const { return traces_[value].decision; }

 private:
  struct Trace {
    ValueDecision decision;
    int there = 0;  // the last stage so far with a copy
    int longest_gap = 0;
  };

  void is_there(ValueId v, std::size_t t) {
    Trace& trace = traces_[v];
    const int gone_for = static_cast<int>(t) - trace.there - 1;
    if (gone_for > trace.longest_gap) {
      trace.longest_gap = gone_for;
      trace.decision.gone_from = OpId(trace.there + 1);
      trace.decision.back_at = OpId(t);
    }
    trace.there = static_cast<int>(t);
  }

  IdVector<ValueId, Trace> traces_;
};

std::string times_cheaper(Joules cheaper, Joules costlier) {
  if (cheaper == Joules(0)) return "free";
  const double ratio = costlier / cheaper;
  if (ratio < 1.05) return "no costlier";
  if (ratio > 1e4) return "far cheaper";
  return format_number(ratio, 2) + "x cheaper";
}

Joules page_cost(const ValueCost& cost) { return cost.page_out.energy + cost.page_in.energy; }

Joules idle_energy_once(const Instance& instance, OpId op, Semantics semantics) {
  if (semantics != Semantics::device) return Joules(0);
  return instance.costs.timing.idle * instance.costs.ops[op].runtime;
}

Joules energy_once(const Instance& instance, OpId op, Semantics semantics) {
  return instance.costs.ops[op].energy + idle_energy_once(instance, op, semantics);
}

/// Charges every recomputation to the largest value that it was for; the others are its by-products.
void charge_recomputations(const Instance& instance, const Dataflow& flow, const Schedule& schedule,
                           Semantics semantics, std::vector<ValueDecision>& all) {
  IdVector<ValueId, ValueDecision*> decision_of(instance.graph.values.size(), nullptr);
  for (ValueDecision& decision : all) {
    decision_of[decision.value] = &decision;
    decision.by_product = decision.recomputations > 0;
  }
  for (std::size_t t = 0; t < schedule.stages.size(); ++t) {
    for (OpId op : schedule.stages[t].compute) {
      if (static_cast<std::size_t>(op.index) == t) continue;  // for the first time
      const BroughtBack back = brought_back(instance, flow, schedule, op, t);
      const auto first = std::find_if(back.values.begin(), back.values.end(),
                                      [&](ValueId value) { return decision_of[value] != nullptr; });
      if (first == back.values.end()) continue;  // nothing of it takes room
      ValueDecision& cause = *decision_of[*first];
      cause.by_product = false;
      cause.spent += energy_once(instance, op, semantics);
      cause.spent_idle += idle_energy_once(instance, op, semantics);
      Joules together{};
      for (std::size_t i = 0; i < back.wanted; ++i)
        together += page_cost(instance.costs.values[back.values[i]]);
      if (instance.costs.has_storage && back.wanted > 1)
        cause.page_all_cost = std::min(cause.page_all_cost.value_or(together), together);
    }
  }
}

}  // namespace

std::vector<ValueDecision> decisions(const Instance& instance, const Schedule& schedule,
                                     Semantics semantics) {
  const Dataflow flow = dataflow(instance.graph);
  const Traces traces(instance, flow, schedule);
  std::vector<ValueDecision> out;
  for (ValueId value : flow.transients) {
    const ValueCost& cost = instance.costs.values[value];
    if (cost.bytes == Bytes(0)) continue;
    const OpId producer = flow.producer[value];
    const Op& op = instance.graph.ops[producer];
    ValueDecision decision = traces.of(value);
    decision.value = value;
    decision.bytes = cost.bytes;
    if (instance.costs.has_storage) decision.page_cost = page_cost(cost);
    if (op.recomputable) decision.recompute_cost = energy_once(instance, producer, semantics);
    decision.spent = decision.page_outs * cost.page_out.energy + decision.page_ins * cost.page_in.energy;
    out.push_back(decision);
  }
  charge_recomputations(instance, flow, schedule, semantics, out);
  return out;
}

std::vector<ValueDecision> decisions(const Instance& instance, const Plan& plan, Semantics semantics) {
  Plan transient = plan;
  std::erase_if(transient.steps, [&](const Step& step) {
    return step.kind != StepKind::compute && instance.graph.values[step.value].paged;
  });
  const Instance resident = without_homes(instance);
  return decisions(resident, stages_of(resident, transient), semantics);
}

void sort_by_importance(std::vector<ValueDecision>& decisions) {
  std::stable_sort(decisions.begin(), decisions.end(), [](const ValueDecision& a, const ValueDecision& b) {
    return std::tie(b.spent, b.bytes) < std::tie(a.spent, a.bytes);
  });
}

std::string treatment(const ValueDecision& decision) {
  if (decision.kept()) return "kept";
  if (decision.recomputations == 0) return "paged";
  if (decision.page_ins == 0 && decision.page_outs == 0) return "recomputed";
  return "paged and recomputed";
}

std::string reason(const ValueDecision& decision, const Remedies& remedies) {
  const bool paged = decision.page_ins > 0;
  const bool recomputed = decision.recomputations > 0;
  if (decision.kept()) return "fits";
  if (decision.by_product) {
    return paged ? "paged, and a by-product where its op is recomputed for another result"
                 : "a by-product: its op is recomputed for another result, so keeping or paging it saves "
                   "nothing";
  }
  if (paged && recomputed) return "each where it is cheaper";
  if (!decision.page_cost) return "no storage to page to";
  if (!decision.recompute_cost) return "must not be computed twice";
  const Joules page = *decision.page_cost;
  const Joules recompute = *decision.recompute_cost;
  if (paged) {
    if (page <= recompute) return "paging is " + times_cheaper(page, recompute);
    return remedies.rematerialization ? "recomputing it would need its inputs too"
                                      : "recomputing is switched off";
  }
  if (recompute <= page) return "recomputing is " + times_cheaper(recompute, page);
  if (!remedies.paging) return "paging is switched off";
  if (decision.page_all_cost && recompute <= *decision.page_all_cost)
    return "recomputing is " + times_cheaper(recompute, *decision.page_all_cost) +
           " than paging all that it brings back";
  return "no room or time for the transfers";
}

}  // namespace poet
