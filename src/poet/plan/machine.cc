#include "poet/plan/machine.h"

#include <algorithm>

#include "poet/plan/overwritable.h"

namespace poet {

Machine::Machine(const Instance& instance, const Dataflow& flow, Semantics semantics)
    : instance_(instance),
      flow_(flow),
      overwritable_(overwritable_operands(instance)),
      semantics_(semantics),
      waits_(has_waits(instance, semantics)),
      clock_{instance.costs.timing.wake_time.value(), waits_},
      in_ram_(instance.graph.values.size(), 0),
      last_(instance.graph.values.size(), 0),
      last_in_(instance.graph.values.size(), 0),
      quiet_at_(instance.graph.values.size(), 0.0) {}

const std::vector<ValueId>& Machine::awaited_by(const Step& step) {
  awaited_.clear();
  if (!waits_) return awaited_;
  // A wait ends all transfers before it, so that later operands may need none of their own.
  int ended = ended_;
  const auto await = [&](ValueId v, int transfer) {
    if (transfer <= ended) return;
    ended = last_[v];
    awaited_.push_back(v);
  };
  if (step.kind == StepKind::compute) {
    for (const ValueId v : flow_.reads[step.op]) await(v, last_in_[v]);
    for (const ValueId v : flow_.writes[step.op]) await(v, last_[v]);
    for (const ValueId v : flow_.changes[step.op]) await(v, last_[v]);
  } else if (step.kind == StepKind::free) {
    await(step.value, last_[step.value]);
  }
  return awaited_;
}

ValueId Machine::overwritten_by(const Plan& plan, std::size_t i) const {
  const OpId op = plan.steps[i].op;
  if (overwritable_[op].empty() || in_ram(instance_.graph.ops[op].outputs.front())) return ValueId();
  for (const ValueId v : overwritable_[op]) {
    if (!in_ram(v) || moving(v)) continue;
    for (std::size_t k = i + 1; k < plan.steps.size() && plan.steps[k].kind == StepKind::free; ++k)
      if (plan.steps[k].value == v) return v;
  }
  return ValueId();
}

const std::vector<ValueId>& Machine::take(const Step& step, ValueId overwritten) {
  quiet_.clear();
  when_.begin = clock_.now;
  level_ = Bytes();
  switch (step.kind) {
    case StepKind::page_in:
      occupy(step.value);
      [[fallthrough]];
    case StepKind::page_out:
      transfer(step);
      break;
    case StepKind::wait:
      clock_.wait_until(quiet_at_[step.value]);
      when_.end = clock_.now;
      end_transfers(last_[step.value]);
      break;
    case StepKind::free:
      when_.end = clock_.now;
      if (in_ram_[step.value]) ram_ -= instance_.costs.values[step.value].bytes;
      in_ram_[step.value] = 0;
      break;
    case StepKind::compute:
      compute(step.op, overwritten);
      break;
  }
  level_ += ram_;
  return quiet_;
}

void Machine::transfer(const Step& step) {
  const ValueCost& cost = instance_.costs.values[step.value];
  const bool in = step.kind == StepKind::page_in;
  if (semantics_ == Semantics::device)
    when_ = clock_.transfer((in ? cost.page_in : cost.page_out).seconds.value());
  else
    when_.end = when_.begin;
  quiet_at_[step.value] = when_.end;
  last_[step.value] = ++issued_;
  if (in) last_in_[step.value] = issued_;
  under_way_.push_back({step.value, when_.end});
  if (!waits_ && semantics_ != Semantics::staged) end_transfers(issued_);
}

void Machine::compute(OpId op, ValueId overwritten) {
  for (const ValueId v : flow_.writes[op]) occupy(v);
  const OpCost& cost = instance_.costs.ops[op];
  if (semantics_ == Semantics::device) {
    level_ = cost.workspace;
    if (overwritten.valid()) {  // its RAM is the result's from now on; the free that follows gives none back
      ram_ -= instance_.costs.values[overwritten].bytes;
      in_ram_[overwritten] = 0;
    }
  }
  clock_.compute(cost.runtime.value());
  when_.end = clock_.now;
  if (op < next_) return;
  next_ = OpId(op.index + 1);
  if (semantics_ == Semantics::staged) end_transfers(issued_);
}

void Machine::occupy(ValueId v) {
  if (!in_ram_[v]) ram_ += instance_.costs.values[v].bytes;
  in_ram_[v] = 1;
}

void Machine::end_transfers(int number) {
  for (; ended_ < number; under_way_.pop_front()) {
    ++ended_;
    if (last_[under_way_.front().value] == ended_) quiet_.push_back(under_way_.front().value);
  }
}

}  // namespace poet
