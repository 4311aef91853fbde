#include <algorithm>

#include "poet/base/error.h"
#include "poet/graph/dataflow.h"
#include "poet/graph/in_place.h"
#include "poet/plan/channel.h"
#include "poet/plan/layout.h"

namespace poet {
namespace {

class Occupancy {
 public:
  Occupancy(const Instance& instance, const Plan& plan, Semantics semantics)
      : instance_(instance),
        plan_(plan),
        with_workspace_(semantics == Semantics::device),
        flow_(dataflow(instance.graph)),
        staged_(semantics == Semantics::staged),
        open_(instance.graph.values.size(), -1),
        channel_(instance, semantics) {}

  std::vector<Residence> run() {
    for (int i = 0; i < steps(); ++i) take(i);
    for (Residence& residence : residences_)
      if (residence.end < 0) residence.end = steps();
    return std::move(residences_);
  }

 private:
  [[nodiscard]] int steps() const { return static_cast<int>(plan_.steps.size()); }
  [[nodiscard]] const Step& step(int i) const { return plan_.steps[static_cast<std::size_t>(i)]; }

  void take(int i) {
    const Step& now = step(i);
    switch (now.kind) {
      case StepKind::page_out:
        channel_.issue(now);
        break;
      case StepKind::page_in:
        channel_.issue(now);
        begin(now.value, i);
        break;
      case StepKind::wait:
        channel_.wait(now.value);
        break;
      case StepKind::free:
        if (open_[now.value] >= 0) residences_[static_cast<std::size_t>(open_[now.value])].end = i;
        open_[now.value] = -1;
        break;
      case StepKind::compute:
        compute(now.op, i);
        break;
    }
  }

  void compute(OpId op, int i) {
    const Bytes workspace = instance_.costs.ops[op].workspace;
    if (with_workspace_ && workspace.value() > 0)
      residences_.push_back({ValueId(), op, i, i + 1, workspace, -1, 0});
    const int dying = dying_operand(op, i);
    for (const ValueId v : flow_.writes[op]) {
      if (open_[v] >= 0) continue;  // in RAM already: written again where it is
      begin(v, i);
      if (dying >= 0 && v == storage(instance_.graph, instance_.graph.ops[op].outputs.front()) &&
          open_[v] >= 0 && residences_.back().bytes == residences_[static_cast<std::size_t>(dying)].bytes)
        residences_.back().takes_over = dying;
    }
    if (op < next_) return;
    next_ = OpId(op.index + 1);
    if (staged_) channel_.wait_for_all();
  }

  void begin(ValueId v, int i) {
    const Bytes bytes = instance_.costs.values[v].bytes;
    if (bytes.value() == 0) return;
    open_[v] = static_cast<int>(residences_.size());
    residences_.push_back({v, OpId(), i, -1, bytes, -1, 0});
  }

  // The residence of an operand over which the op may write: freed right after it, never on its way to
  // storage, as the channel might still be reading it.
  [[nodiscard]] int dying_operand(OpId op, int i) const {
    const Graph& graph = instance_.graph;
    for (const std::size_t position : overwritable_inputs(graph, graph.ops[op])) {
      const ValueId v = storage(graph, graph.ops[op].inputs[position]);
      if (!flow_.producer[v].valid() || open_[v] < 0 || channel_.moving(v)) continue;
      for (int next = i + 1; next < steps() && step(next).kind == StepKind::free; ++next)
        if (step(next).value == v) return open_[v];
    }
    return -1;
  }

  const Instance& instance_;
  const Plan& plan_;
  const bool with_workspace_;
  const Dataflow flow_;
  const bool staged_;
  IdVector<ValueId, int> open_;  // the running residence; -1: not in RAM
  Channel channel_;
  OpId next_{0};  // the op to be computed first next
  std::vector<Residence> residences_;
};

}  // namespace

std::vector<Residence> residences_of(const Instance& instance, const Plan& plan, Semantics semantics) {
  return Occupancy(instance, plan, semantics).run();
}

}  // namespace poet
