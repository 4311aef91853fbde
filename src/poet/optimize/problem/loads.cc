#include "poet/optimize/problem/loads.h"

#include <algorithm>
#include <utility>

#include "poet/graph/dataflow.h"
#include "poet/graph/operators/op_reader.h"

namespace poet {
namespace {

class Loading {
 public:
  explicit Loading(const Instance& instance)
      : from_(instance), flow_(dataflow(instance.graph)), brought_(instance.graph.values.size()) {}

  WithLoads run() {
    made_.instance = from_;
    made_.instance.graph.ops = {};
    made_.instance.costs.ops = {};
    for (const ValueId v : ids<ValueId>(from_.graph.values.size())) made_.value_of.push_back(v);
    for (const ValueId v : flow_.paged) {
      made_.instance.graph.values[v].paged = false;
      made_.instance.costs.values[v].bytes = Bytes(0);
      if (!flow_.users[v].empty()) bring(v);
    }
    for (const OpId op : ids<OpId>(from_.graph.ops.size())) {
      for (const ValueId v : flow_.reads[op])
        if (flow_.is_paged[v] && flow_.users[v].front() == op) load(v);
      take(op);
    }
    return std::move(made_);
  }

 private:
  // Adds a transient copy for the paged value.
  void bring(ValueId v) {
    Graph& graph = made_.instance.graph;
    brought_[v] = graph.values.next_id();
    Value copy = from_.graph.values[v];
    copy.persistence = Persistence::activation;
    copy.paged = false;
    copy.in_file.reset();
    graph.values.push_back(std::move(copy));
    made_.instance.costs.values.push_back(from_.costs.values[v]);
    made_.value_of.push_back(v);
  }

  void load(ValueId v) {
    Graph& graph = made_.instance.graph;
    const OpId id = graph.ops.next_id();
    Op op;
    op.name = "load " + from_.graph.values[v].name;
    op.kind = "load";
    op.inputs = {v};
    op.outputs = {brought_[v]};
    graph.values[brought_[v]].producer = id;
    graph.ops.push_back(std::move(op));
    const TransferCost& cost = from_.costs.values[v].page_in;
    made_.instance.costs.ops.push_back({blocking(cost), cost.energy, Bytes(0)});
    made_.original.push_back(OpId());
    made_.loads.push_back(v);
  }

  // Adds the op with its loaded values as further inputs. It still reads the home, which limits how late it
  // can be recomputed. Loaded values follow the operands and precede accumulators, which are counted from the
  // end.
  void take(OpId id) {
    Graph& graph = made_.instance.graph;
    Op op = from_.graph.ops[id];
    OpCost cost = from_.costs.ops[id];
    const auto operands = static_cast<std::ptrdiff_t>(operators::OpReader(from_.graph, id).inputs());
    std::vector<ValueId> loaded;
    for (const ValueId v : flow_.reads[id])
      if (flow_.is_paged[v]) loaded.push_back(brought_[v]);
    op.inputs.insert(op.inputs.begin() + operands, loaded.begin(), loaded.end());
    for (const ValueId v : flow_.changes[id]) {
      const TransferCost& home = from_.costs.values[v].page_out;
      cost.runtime += blocking(home);
      cost.energy += home.energy;
      made_.written_home += from_.costs.values[v].bytes;
    }
    for (const ValueId v : op.outputs) graph.values[v].producer = graph.ops.next_id();
    graph.ops.push_back(std::move(op));
    made_.instance.costs.ops.push_back(cost);
    made_.original.push_back(id);
    made_.loads.push_back(ValueId());
  }

  [[nodiscard]] Seconds blocking(const TransferCost& transfer) const {
    return from_.costs.timing.concurrent ? Seconds(0) : transfer.seconds;
  }

  const Instance& from_;
  const Dataflow flow_;
  IdVector<ValueId, ValueId> brought_;
  WithLoads made_;
};

/// Removes the page-ins that nothing reads.
WithoutLoads without_idle_page_ins(const Dataflow& flow, const Plan& plan) {
  IdVector<ValueId, char> wanted(flow.producer.size(), 0);
  WithoutLoads backwards;
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    bool idle = false;
    if (step->kind == StepKind::compute) {
      for (const ValueId v : flow.reads[step->op]) wanted[v] = 1;
    } else if (step->kind == StepKind::page_out) {
      wanted[step->value] = 1;
    } else if (step->kind == StepKind::page_in) {
      idle = wanted[step->value] == 0;
      wanted[step->value] = 0;
    }
    if (step->kind == StepKind::compute || step->kind == StepKind::page_in)
      backwards.left_out.push_back(idle ? 1 : 0);
    if (!idle) backwards.plan.steps.push_back(*step);
  }
  std::reverse(backwards.plan.steps.begin(), backwards.plan.steps.end());
  std::reverse(backwards.left_out.begin(), backwards.left_out.end());
  return backwards;
}

}  // namespace

WithLoads with_loads(const Instance& instance) { return Loading(instance).run(); }

void redo_only_loads(WithLoads& loads) {
  for (const OpId op : ids<OpId>(loads.original.size()))
    if (loads.original[op].valid()) loads.instance.graph.ops[op].recomputable = false;
}

Limits limits_with_loads(const WithLoads& loads, Limits limits) {
  if (limits.max_bytes_written)
    limits.max_bytes_written = std::max(Bytes(0), *limits.max_bytes_written - loads.written_home);
  return limits;
}

WithoutLoads without_loads(const WithLoads& loads, const Instance& original, const Plan& plan) {
  const Dataflow flow = dataflow(original.graph);
  Plan made;
  for (const Step& step : plan.steps) {
    switch (step.kind) {
      case StepKind::compute:
        if (const ValueId v = loads.loads[step.op]; v.valid()) {
          made.steps.push_back({StepKind::page_in, OpId(), v});
          break;
        }
        made.steps.push_back({StepKind::compute, loads.original[step.op], ValueId()});
        for (const ValueId v : flow.changes[loads.original[step.op]])
          made.steps.push_back({StepKind::page_out, OpId(), v});
        break;
      case StepKind::page_out:
        // Omits the page-out of a paged value, which already has its home on storage.
        if (const ValueId v = loads.value_of[step.value]; !flow.is_paged[v])
          made.steps.push_back({StepKind::page_out, OpId(), v});
        break;
      case StepKind::page_in:
        made.steps.push_back({StepKind::page_in, OpId(), loads.value_of[step.value]});
        break;
      case StepKind::wait:
      case StepKind::free:
        made.steps.push_back({step.kind, OpId(), loads.value_of[step.value]});
        break;
    }
  }
  return without_idle_page_ins(flow, made);
}

}  // namespace poet
