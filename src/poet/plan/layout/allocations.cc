#include <algorithm>

#include "poet/base/error.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/machine.h"

namespace poet {
namespace {

class Occupancy {
 public:
  Occupancy(const Instance& instance, const Plan& plan, Semantics semantics)
      : instance_(instance),
        plan_(plan),
        with_workspace_(semantics == Semantics::device),
        flow_(dataflow(instance.graph)),
        machine_(instance, flow_, semantics),
        open_(instance.graph.values.size(), -1) {}

  std::vector<Allocation> run() {
    for (int i = 0; i < steps(); ++i) take(i);
    for (Allocation& allocation : allocations_)
      if (allocation.end < 0) allocation.end = steps();
    return std::move(allocations_);
  }

 private:
  [[nodiscard]] int steps() const { return static_cast<int>(plan_.steps.size()); }
  [[nodiscard]] const Step& step(int i) const { return plan_.steps[static_cast<std::size_t>(i)]; }

  void take(int i) {
    const Step& now = step(i);
    if (now.kind == StepKind::page_in) begin(now.value, i);
    if (now.kind == StepKind::compute) compute(now.op, i);
    if (now.kind == StepKind::free) {
      if (open_[now.value] >= 0) allocations_[static_cast<std::size_t>(open_[now.value])].end = i;
      open_[now.value] = -1;
    }
    machine_.take(now);
  }

  void compute(OpId op, int i) {
    const Bytes workspace = instance_.costs.ops[op].workspace;
    if (with_workspace_ && workspace.value() > 0)
      allocations_.push_back({ValueId(), op, i, i + 1, workspace, -1, 0});
    // As RAM is counted, so that addresses can do with as much.
    const ValueId overwritten = machine_.overwritten_by(plan_, static_cast<std::size_t>(i));
    for (const ValueId v : flow_.writes[op]) {
      if (open_[v] >= 0) continue;  // in RAM already: written again where it is
      begin(v, i);
      if (overwritten.valid() && v == instance_.graph.ops[op].outputs.front())
        allocations_.back().takes_over = open_[overwritten];
    }
  }

  void begin(ValueId v, int i) {
    const Bytes bytes = instance_.costs.values[v].bytes;
    if (bytes.value() == 0) return;
    open_[v] = static_cast<int>(allocations_.size());
    allocations_.push_back({v, OpId(), i, -1, bytes, -1, 0});
  }

  const Instance& instance_;
  const Plan& plan_;
  const bool with_workspace_;
  const Dataflow flow_;
  Machine machine_;
  IdVector<ValueId, int> open_;  // the running allocation; -1: not in RAM
  std::vector<Allocation> allocations_;
};

}  // namespace

std::vector<Allocation> allocations_of(const Instance& instance, const Plan& plan, Semantics semantics) {
  return Occupancy(instance, plan, semantics).run();
}

}  // namespace poet
