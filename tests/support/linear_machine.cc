#include "tests/support/linear_machine.h"

#include <algorithm>
#include <stdexcept>

#include "poet/graph/in_place.h"

namespace poet::test {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool is_kept_always(const Value& value) {
  return !value.paged &&
         (value.persistence == Persistence::parameter || value.persistence == Persistence::optimizer_state);
}

}  // namespace

Mask MachineState::moving() const {
  Mask mask = 0;
  for (const InFlight& transit : queue) mask |= bit(transit.value);
  return mask;
}

Mask MachineState::arriving() const {
  Mask mask = 0;
  for (const InFlight& transit : queue)
    if (!transit.out) mask |= bit(transit.value);
  return mask;
}

LinearMachine::LinearMachine(const Instance& instance, Semantics semantics, const Limits& limits,
                             const Without& without)
    : timed(semantics == Semantics::device),
      beside(timed && instance.costs.timing.concurrent),
      staged(semantics == Semantics::staged),
      limits_(limits) {
  if (instance.graph.values.size() > 31) throw std::invalid_argument("too many values to search");
  read_graph(instance.graph);
  read_costs(instance.costs, without);
  if (timed) read_in_place(instance.graph, instance.costs);
}

void LinearMachine::read_graph(const Graph& graph) {
  const auto storage_of = [&](ValueId v) {
    while (graph.values[v].alias_of.valid()) v = graph.values[v].alias_of;
    return v;
  };
  std::vector<int> updated_by(graph.values.size(), static_cast<int>(graph.ops.size()));
  for (const ValueId v : ids<ValueId>(graph.values.size()))
    if (graph.values[v].paged) paged |= bit(v.index);
  updated_before.push_back(0);
  for (const OpId id : ids<OpId>(graph.ops.size()))
    for (const ValueId v : graph.ops[id].updates) updated_by[at(storage_of(v).index)] = id.index;
  for (const poet::Op& from : graph.ops) {
    Op op;
    op.last_again = from.recomputable ? static_cast<int>(graph.ops.size()) : -1;
    for (const ValueId v : from.inputs) {
      const ValueId source = storage_of(v);
      op.last_again = std::min(op.last_again, updated_by[at(source.index)]);
      if (!is_kept_always(graph.values[source])) op.reads |= bit(source.index);
    }
    for (const ValueId v : from.outputs) op.writes |= bit(v.index);
    for (const ValueId v : from.updates) op.updates |= bit(storage_of(v).index) & paged;
    op.reads |= op.updates;
    updated_before.push_back(updated_before.back() | op.updates);
    ops.push_back(op);
  }
}

void LinearMachine::read_costs(const CostTable& costs, const Without& without) {
  const double joules = without.joules ? 0 : 1;
  const double transfer_seconds = timed && !without.transfer_seconds ? 1 : 0;
  const double waking = timed && !without.waking ? 1 : 0;
  persistent = costs.persistent.value();
  idle_watts = timed ? joules * costs.timing.idle.value() : 0;
  wake_seconds = waking * transfer_seconds * costs.timing.wake_time.value();
  wake_joules = waking * joules * costs.timing.wake_energy.value();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const OpCost& cost = costs.ops[OpId(i)];
    ops[i].seconds = cost.runtime.value();
    ops[i].joules = joules * cost.energy.value();
    ops[i].workspace = timed ? cost.workspace.value() : 0;
  }
  for (const ValueCost& cost : costs.values)
    values.push_back({cost.bytes.value(), transfer_seconds * cost.page_out.seconds.value(),
                      transfer_seconds * cost.page_in.seconds.value(), joules * cost.page_out.energy.value(),
                      joules * cost.page_in.energy.value()});
}

void LinearMachine::read_in_place(const Graph& graph, const CostTable& costs) {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const poet::Op& op = graph.ops[OpId(i)];
    for (const std::size_t position : overwritable_inputs(graph, op)) {
      ValueId v = op.inputs[position];
      while (graph.values[v].alias_of.valid()) v = graph.values[v].alias_of;
      const Bytes bytes = costs.values[op.outputs[0]].bytes;
      // Home is no place for another value.
      if (is_kept_always(graph.values[v]) || graph.values[v].paged || bytes != costs.values[v].bytes ||
          bytes == Bytes(0))
        continue;
      ops[i].overwritable |= bit(v.index);
      ops[i].result = op.outputs[0].index;
    }
  }
}

MachineState LinearMachine::start() const {
  MachineState state;
  state.stored = paged;
  return state;
}

std::int64_t LinearMachine::bytes_of(Mask mask) const {
  std::int64_t sum = 0;
  for_each_bit(mask, [&](int v) { sum += values[at(v)].bytes; });
  return sum;
}

std::int64_t LinearMachine::missing_for_compute(const MachineState& state, int op, int overwritten) const {
  const std::int64_t once = overwritten < 0 ? 0 : values[at(overwritten)].bytes;
  return persistent - once + bytes_of(state.idle | state.moving() | ops[at(op)].writes) +
         ops[at(op)].workspace - limits_.ram_budget.value();
}

std::int64_t LinearMachine::missing_for_page_in(const MachineState& state, int value) const {
  return persistent + bytes_of(state.idle | state.moving() | bit(value)) - limits_.ram_budget.value();
}

double LinearMachine::makespan(const MachineState& state) const {
  return timed ? std::max(state.now, state.channel_end) : state.now;
}

// What leaves can be read until it is freed; what arrives cannot. Nothing that moves can be written, nor
// (in staged semantics) is there a reason to, within a stage.
bool LinearMachine::compute(MachineState& state, int i, int overwritten) const {
  const Op& op = ops[at(i)];
  const Mask moving = state.moving();
  const Mask usable = (state.idle | moving) & ~state.arriving();
  const bool first = i == state.next;
  if (!first && !may_recompute(i, state.next)) return false;
  if ((op.reads & ~usable) || ((op.writes | op.updates) & moving)) return false;
  if (missing_for_compute(state, i, overwritten) > 0) return false;
  if (overwritten >= 0) {
    if (!(op.overwritable & state.idle & bit(overwritten)) || (state.idle & bit(op.result))) return false;
    state.idle &= ~bit(overwritten);
  }
  state.idle |= op.writes;
  state.joules += op.joules;
  state.now += op.seconds;
  if (first) ++state.next;
  if (!staged || first) land(state);
  return true;
}

bool LinearMachine::page_out(MachineState& state, int v) const {
  // One channel beside compute: what is arriving or leaving has done so when its turn comes.
  if (!((state.idle | (beside ? state.moving() : 0)) & bit(v))) return false;
  if (paged & bit(v) & ~dirty(state)) return false;  // its contents are there
  state.home |= paged & bit(v);
  state.written += values[at(v)].bytes;
  if (limits_.max_bytes_written && state.written > limits_.max_bytes_written->value()) return false;
  state.joules += values[at(v)].out_joules;
  if (!staged) state.stored |= bit(v);
  transfer(state, true, v, values[at(v)].out_seconds);
  return true;
}

bool LinearMachine::page_in(MachineState& state, int v) const {
  if (!(state.stored & bit(v)) || ((state.idle | state.moving()) & bit(v))) return false;
  if (updated_before[at(state.next)] & bit(v)) return false;  // what is at home is of the step before
  if (missing_for_page_in(state, v) > 0) return false;
  state.joules += values[at(v)].in_joules;
  transfer(state, false, v, values[at(v)].in_seconds);
  return true;
}

bool LinearMachine::wait(MachineState& state) const {
  if (!beside || state.queue.empty()) return false;
  state.now = std::max(state.now, state.queue[0].end);
  land(state);
  return true;
}

bool LinearMachine::free(MachineState& state, Mask freed) const {
  if (freed & (~state.idle | dirty(state))) return false;
  state.idle &= ~freed;
  return true;
}

void LinearMachine::transfer(MachineState& state, bool out, int v, double seconds) const {
  state.idle &= ~bit(v);
  if (timed) {
    const bool rested = state.channel_end < state.now;
    if (rested) state.joules += wake_joules;
    state.channel_end = std::max(state.now, state.channel_end) + (rested ? wake_seconds : 0) + seconds;
    if (!beside) state.now = state.channel_end;
  }
  state.queue.push_back({out, v, timed ? state.channel_end : state.now});
  if (!staged) land(state);  // published: at once
}

// What has ended is complete in RAM and on storage, unless a later transfer moves it.
void LinearMachine::land(MachineState& state) const {
  std::size_t ended = 0;
  Mask landed = 0;
  while (ended < state.queue.size() && state.queue[ended].end <= state.now)
    landed |= bit(state.queue[ended++].value);
  state.queue.erase(state.queue.begin(), state.queue.begin() + static_cast<std::ptrdiff_t>(ended));
  state.idle |= landed & ~state.moving();
  state.stored |= landed;
}

}  // namespace poet::test
