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

// Forward ops with weights, backward ops with a gradient for each, updates at once or at the end, some with
// optimiser state. Weights are shared, read through views, or frozen.
class TrainingStep {
 public:
  TrainingStep(Rng& rng, int ops, bool in_place) : rng_(rng), ops_(ops), in_place_(in_place) {}

  Graph build() {
    graph_.name = "training step";
    const int layers = pick(rng_, 1, std::max(1, (ops_ - 1) / 2));
    int updates = ops_ - 2 * layers;
    for (int k = 0; k < layers; ++k) forward(k, updates);
    ValueId gradient = layers_.back().result;
    for (int k = layers - 1; k >= 0; --k) gradient = backward(k, gradient);
    for (const Update& update : pending_) add(update);
    choose_kinds(rng_, graph_, in_place_);
    return std::move(graph_);
  }

 private:
  struct Layer {
    ValueId result, weight;  // a weight, if any
    bool trained = false;    // here: the first layer that has the weight
  };
  struct Update {
    ValueId weight, state, gradient;
  };

  int bytes() { return in_place_ && chance(rng_, 0.75) ? 3 : pick(rng_, 1, 6); }
  ValueId seen(ValueId v) { return chance(rng_, 0.1) ? add_alias(graph_, "view", v) : v; }

  void forward(int k, int& updates) {
    Layer layer;
    std::vector<ValueId> reads;
    if (k > 0) reads.push_back(layers_.back().result);
    if (k > 0 && layers_.back().weight.valid() && chance(rng_, 0.15)) {
      layer.weight = layers_.back().weight;
    } else if (chance(rng_, 0.8)) {
      layer.weight = add_persistent(graph_, fmt::format("w{}", k), bytes());
      layer.trained = updates > 0 && chance(rng_, 0.85);
      updates -= layer.trained ? 1 : 0;
    }
    if (layer.weight.valid()) reads.push_back(seen(layer.weight));
    layer.result = add_output(graph_, fmt::format("f{}", k), bytes());
    const OpId op = add_op(graph_, fmt::format("f{}", k), std::move(reads), {layer.result});
    graph_.ops[op].recomputable = chance(rng_, 0.8);
    layers_.push_back(layer);
  }

  ValueId backward(int k, ValueId gradient) {
    const Layer& layer = layers_[static_cast<std::size_t>(k)];
    std::vector<ValueId> reads = {gradient};
    const auto read = [&](ValueId v) {
      if (std::find(reads.begin(), reads.end(), v) == reads.end()) reads.push_back(v);
    };
    if (k > 0 && chance(rng_, 0.8)) read(layers_[static_cast<std::size_t>(k) - 1].result);
    if (chance(rng_, 0.4)) read(layer.result);
    if (layer.weight.valid() && chance(rng_, 0.8)) read(seen(layer.weight));
    const ValueId result = add_output(graph_, fmt::format("g{}", k), bytes());
    std::vector<ValueId> writes = {result};
    if (layer.trained) {
      Update update{layer.weight, ValueId(), result};
      if (chance(rng_, 0.6)) {
        update.gradient = add_output(graph_, fmt::format("gw{}", k), bytes());
        writes.push_back(update.gradient);
      }
      if (chance(rng_, 0.3))
        update.state = add_persistent(graph_, fmt::format("m{}", k), bytes(), Persistence::optimizer_state);
      pending_.push_back(update);
    }
    const OpId op = add_op(graph_, fmt::format("g{}", k), std::move(reads), std::move(writes));
    graph_.ops[op].pass = Pass::backward;
    graph_.ops[op].recomputable = chance(rng_, 0.8);
    if (!pending_.empty() && chance(rng_, 0.6)) {
      add(pending_.back());
      pending_.pop_back();
    }
    return result;
  }

  void add(const Update& update) {
    std::vector<ValueId> changed = {update.weight};
    if (update.state.valid()) changed.push_back(update.state);
    std::vector<ValueId> reads = changed;
    reads.push_back(update.gradient);
    add_update(graph_, "u" + graph_.values[update.weight].name, std::move(reads), std::move(changed));
  }

  Rng& rng_;
  const int ops_;
  const bool in_place_;
  Graph graph_;
  std::vector<Layer> layers_;
  std::vector<Update> pending_;
};

// What is persistent is resident at first; a few values are not counted.
void count_persistent(Rng& rng, Instance& instance) {
  CostTable& costs = instance.costs;
  for (const ValueId v : ids<ValueId>(instance.graph.values.size())) {
    const Value& value = instance.graph.values[v];
    if (value.alias_of.valid() || (is_persistent(value.persistence) && chance(rng, 0.03)))
      costs.values[v].bytes = Bytes(0);
    if (is_persistent(value.persistence)) costs.persistent += costs.values[v].bytes;
  }
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

Bytes need_of_largest_op(const Instance& instance, Semantics semantics) {
  std::int64_t most = 0;
  for (const OpId id : ids<OpId>(instance.graph.ops.size())) {
    const Op& op = instance.graph.ops[id];
    std::set<ValueId> touched(op.outputs.begin(), op.outputs.end());
    for (const ValueId v : op.inputs) touched.insert(storage(instance.graph, v));
    std::int64_t sum = semantics == Semantics::device ? instance.costs.ops[id].workspace.value() : 0;
    for (const ValueId v : touched)
      if (!is_resident(instance.graph.values[v])) sum += instance.costs.values[v].bytes.value();
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
    const auto least = static_cast<int>(need_of_largest_op(c.instance, c.semantics).value());
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

PagedCase paged_case(std::uint64_t seed, int least_ops, int most_ops) {
  Rng rng(seed);
  for (;;) {
    LinearCase c;
    c.instance.graph = TrainingStep(rng, pick(rng, least_ops, most_ops), chance(rng, 0.5)).build();
    any_costs(rng, c.instance);
    count_persistent(rng, c.instance);
    constexpr std::int64_t kAlignments[] = {1, 1, 2, 4};
    c.instance.costs.alignment = Bytes(kAlignments[pick(rng, 0, 3)]);
    align_sizes(c.instance.graph, c.instance.costs);
    // Waking up makes the search much longer.
    if (chance(rng, 0.5)) c.instance.costs.timing.wake_time = Seconds(0);
    if (chance(rng, 0.5)) c.instance.costs.timing.wake_energy = Joules(0);
    const std::vector<ValueId> all = pageable(c.instance);
    if (all.empty() || all.size() > 4) continue;
    std::vector<ValueId> paged;
    const double part = pick(rng, 1, 4) / 4.0;
    for (const ValueId v : all)
      if (chance(rng, part)) paged.push_back(v);
    const double ablation = pick(rng, 0, 99) / 100.0;
    c.paging = ablation >= 0.1;
    c.rematerialization = ablation < 0.1 || ablation >= 0.2;
    const Instance lean = with_paged(c.instance, chance(rng, 0.5) ? all : paged);
    const auto least = static_cast<int>(need_of_largest_op(lean, c.semantics).value());
    const Report keep_all = replay_keep_all(c.instance, c.semantics);
    if (keep_all.peak_ram.value() <= least) continue;
    c.limits.ram_budget = budget_between(rng, least, static_cast<int>(keep_all.peak_ram.value()));
    if (chance(rng, 0.4)) {
      constexpr double kFactors[] = {1, 1.0625, 1.125, 1.25, 1.375, 1.5, 2, 3};
      c.limits.deadline = kFactors[pick(rng, 0, 7)] * keep_all.runtime;
    }
    if (chance(rng, 0.1)) c.limits.max_bytes_written = Bytes(pick(rng, 0, 3 * least));
    verify(c.instance);
    return {std::move(c), std::move(paged)};
  }
}

}  // namespace poet::test
