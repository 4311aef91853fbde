#include "tests/support/linear_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "poet/graph/in_place.h"
#include "poet/verify/replay.h"
#include "tests/support/random_instance.h"
#include "tests/support/small_graphs.h"

namespace poet::test {
namespace {

constexpr double kTick = 1.0 / 1024;

// Values are read soon after they are made, or much later.
Graph any_graph(Rng& rng, int ops, bool in_place) {
  const auto bytes = [&](int least, int most) {
    return in_place && chance(rng, 0.75) ? 3 : pick(rng, least, most);
  };
  Graph graph;
  graph.name = "any";
  std::vector<ValueId> made;
  for (int i = 0; i < ops; ++i) {
    std::vector<ValueId> reads;
    const auto read = [&](ValueId v) {
      if (std::find(reads.begin(), reads.end(), v) == reads.end()) reads.push_back(v);
    };
    if (i > 0 && chance(rng, 0.85)) read(made.back());
    const int more = pick(rng, 0, 2);
    for (int k = 0; k < more && i > 0; ++k)
      read(made[static_cast<std::size_t>(pick(rng, 0, static_cast<int>(made.size()) - 1))]);
    std::vector<ValueId> writes = {add_output(graph, fmt::format("v{}", i), bytes(1, 6))};
    if (chance(rng, 0.1)) writes.push_back(add_output(graph, fmt::format("w{}", i), bytes(0, 4)));
    const OpId op = add_op(graph, fmt::format("op{}", i), std::move(reads), writes);
    graph.ops[op].recomputable = chance(rng, 0.8);
    made.insert(made.end(), writes.begin(), writes.end());
  }
  choose_kinds(rng, graph, in_place);
  return graph;
}

void any_costs(Rng& rng, Instance& instance) {
  CostTable& costs = instance.costs;
  for (std::size_t i = 0; i < instance.graph.ops.size(); ++i)
    costs.ops.push_back({Seconds(kTick * pick(rng, 4, 16)), Joules(kTick * pick(rng, 1, 16)),
                         Bytes(chance(rng, 0.5) ? pick(rng, 1, 4) : 0)});
  const int slowness = pick(rng, 0, 3);  // from transfers that take no time to some as long as an op
  const int price = pick(rng, 1, 4);
  for (const Value& value : instance.graph.values) {
    const auto bytes = static_cast<double>(value.bytes.value());
    const auto transfer = [&] {
      return TransferCost{Seconds(kTick * bytes * slowness / 2), Joules(kTick * bytes * pick(rng, 1, price))};
    };
    costs.values.push_back({value.bytes, transfer(), transfer()});
  }
  instance.has_device = true;
  costs.timing.concurrent = chance(rng, 0.65);
  if (chance(rng, 0.6)) costs.timing.idle = Watts(pick(rng, 1, 8) / 8.0);
  if (chance(rng, 0.35)) costs.timing.wake_time = Seconds(kTick * pick(rng, 1, 6));
  if (chance(rng, 0.35)) costs.timing.wake_energy = Joules(kTick * pick(rng, 1, 6));
}

Instance training_step(Rng& rng, int ops, bool in_place) {
  RandomInstanceOptions options;
  options.in_place = in_place;
  options.ops = ops;
  options.multi_output = chance(rng, 0.3);
  options.updates = chance(rng, 0.3);
  options.views = chance(rng, 0.2);
  options.inputs = chance(rng, 0.4);
  options.device = true;
  Instance instance = random_instance(rng, options);
  // Waking up makes the search much longer.
  if (chance(rng, 0.65)) instance.costs.timing.wake_time = Seconds(0);
  if (chance(rng, 0.65)) instance.costs.timing.wake_energy = Joules(0);
  return instance;
}

Instance instance_of(Rng& rng, int ops) {
  const bool in_place = chance(rng, 0.5);
  if (chance(rng, 0.5)) return training_step(rng, ops, in_place);
  Instance instance;
  instance.graph = any_graph(rng, ops, in_place);
  any_costs(rng, instance);
  return instance;
}

void remove_storage(CostTable& costs) {
  costs.has_storage = false;
  for (ValueCost& cost : costs.values) cost.page_out = cost.page_in = TransferCost();
}

// From what one op needs to what everything needs: half of the budgets barely do, or barely do not.
Bytes budget_between(Rng& rng, int least, int all) {
  if (chance(rng, 0.02)) return Bytes(std::max(1, least - 1));
  if (chance(rng, 0.5)) return Bytes(least + pick(rng, 0, std::max(1, (all - least) / 4)));
  constexpr double kFractions[] = {0.1, 0.25, 0.5, 0.75, 1};
  return Bytes(least + static_cast<int>((all - least) * kFractions[pick(rng, 0, 4)]));
}

}  // namespace

Bytes largest_working_set(const Instance& instance, Semantics semantics) {
  std::int64_t most = 0;
  for (const OpId id : ids<OpId>(instance.graph.ops.size())) {
    const Op& op = instance.graph.ops[id];
    std::set<ValueId> touched(op.outputs.begin(), op.outputs.end());
    for (const ValueId v : op.inputs) touched.insert(storage(instance.graph, v));
    std::int64_t sum = semantics == Semantics::device ? instance.costs.ops[id].workspace.value() : 0;
    for (const ValueId v : touched)
      if (!is_persistent(instance.graph.values[v].persistence)) sum += instance.costs.values[v].bytes.value();
    for (const std::size_t position : overwritable_inputs(instance.graph, op)) {
      const ValueId v = storage(instance.graph, op.inputs[position]);
      const Bytes bytes = instance.costs.values[v].bytes;
      if (semantics != Semantics::device || is_persistent(instance.graph.values[v].persistence)) continue;
      if (bytes != instance.costs.values[op.outputs.front()].bytes) continue;
      sum -= bytes.value();
      break;
    }
    most = std::max(most, sum);
  }
  return Bytes(most) + instance.costs.persistent;
}

LinearCase linear_case(std::uint64_t seed, int least_ops, int most_ops) {
  Rng rng(seed);
  for (;;) {
    LinearCase c;
    c.semantics = chance(rng, 0.7)   ? Semantics::device
                  : chance(rng, 0.5) ? Semantics::published
                                     : Semantics::staged;
    c.instance = instance_of(rng, pick(rng, least_ops, most_ops));
    if (chance(rng, 0.1)) remove_storage(c.instance.costs);
    const double ablation = pick(rng, 0, 99) / 100.0;
    c.paging = ablation >= 0.12;
    c.rematerialization = ablation < 0.12 || ablation >= 0.24;
    const Report all = replay_keep_all(c.instance, c.semantics);
    const auto least = static_cast<int>(largest_working_set(c.instance, c.semantics).value());
    if (all.peak_ram.value() <= least) continue;  // nothing to be decided
    c.limits.ram_budget = budget_between(rng, least, static_cast<int>(all.peak_ram.value()));
    if (chance(rng, 0.65)) {
      constexpr double kFactors[] = {1, 1.0625, 1.125, 1.25, 1.375, 1.5, 2, 3};
      c.limits.deadline = kFactors[pick(rng, 0, 7)] * all.runtime;
    }
    if (chance(rng, 0.1)) c.limits.max_bytes_written = Bytes(pick(rng, 0, least));
    verify(c.instance);
    return c;
  }
}

}  // namespace poet::test
