#include "tests/support/random_instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "poet/graph/dataflow.h"
#include "tests/support/small_graphs.h"

namespace poet::test {

int pick(Rng& rng, int low, int high) {
  // Not std::uniform_int_distribution: its draws differ between standard libraries.
  return low + static_cast<int>(rng() % static_cast<std::uint64_t>(high - low + 1));
}

bool chance(Rng& rng, double probability) { return pick(rng, 0, 999) < static_cast<int>(probability * 1000); }

namespace {

class Training {
 public:
  Training(Rng& rng, const RandomInstanceOptions& options) : rng_(rng), options_(options) {
    unit_ = 2 * pick(rng, 0, 12) + 1;
  }

  Graph build() {
    const int forward = (options_.ops + 1) / 2;
    for (int k = 0; k < forward; ++k) add_forward(k);
    ValueId gradient = layers_.back().output;
    for (int k = forward - 1; left() > 0; k = std::max(k - 1, 0)) {
      gradient = add_backward(layers_[static_cast<std::size_t>(k)], gradient);
    }
    choose_kinds(rng_, graph_, options_.in_place);
    return std::move(graph_);
  }

 private:
  struct Layer {
    std::string name;
    std::vector<ValueId> inputs;
    ValueId output;
    ValueId saved;   // a second output, if any
    ValueId weight;  // a parameter, if any, until it is updated
  };

  [[nodiscard]] int left() const { return options_.ops - static_cast<int>(graph_.ops.size()); }
  std::int64_t bytes() {
    if (options_.in_place && chance(rng_, 0.75)) return unit_ * 4;
    return unit_ * pick(rng_, 1, 8);
  }
  ValueId any_of(const std::vector<ValueId>& list) {
    return list[static_cast<std::size_t>(pick(rng_, 0, static_cast<int>(list.size()) - 1))];
  }
  ValueId seen(ValueId v) {
    return options_.views && chance(rng_, 0.3) ? add_alias(graph_, graph_.values[v].name + ".view", v) : v;
  }

  void add_forward(int k) {
    Layer layer;
    layer.name = fmt::format("f{}", k);
    if (options_.updates && k > 0 && chance(rng_, 0.5)) {
      layer.weight = add_persistent(graph_, layer.name + ".w", bytes());
    }
    if (k > 0) layer.inputs.push_back(seen(layers_.back().output));
    const int more = pick(rng_, 0, options_.max_inputs - 1);
    for (int i = 0; i < more && k > 1; ++i) {
      if (chance(rng_, 0.4))
        layer.inputs.push_back(seen(layers_[static_cast<std::size_t>(pick(rng_, 0, k - 2))].output));
    }
    std::vector<ValueId> reads = layer.inputs;
    if (layer.weight.valid()) reads.push_back(layer.weight);
    layer.output = add_output(graph_, layer.name, bytes());
    std::vector<ValueId> writes = {layer.output};
    if (options_.multi_output && chance(rng_, 0.5)) {
      layer.saved = add_output(graph_, layer.name + ".saved", bytes());
      writes.push_back(layer.saved);
    }
    const OpId op = add_op(graph_, layer.name, std::move(reads), std::move(writes));
    if (options_.inputs && k == 0) {
      graph_.ops[op].recomputable = false;
      graph_.values[layer.output].persistence = Persistence::input;
    }
    layers_.push_back(std::move(layer));
  }

  ValueId add_backward(Layer& layer, ValueId gradient) {
    std::vector<ValueId> reads = {gradient};
    std::vector<ValueId> forward = layer.inputs;
    forward.push_back(layer.output);
    const int more = pick(rng_, 1, options_.max_inputs - 1);
    for (int i = 0; i < more; ++i) reads.push_back(any_of(forward));
    if (layer.saved.valid()) reads.push_back(layer.saved);
    if (layer.weight.valid()) reads.push_back(layer.weight);
    const ValueId result = add_output(graph_, fmt::format("g{}", graph_.ops.size()), bytes());
    const OpId op = add_op(graph_, graph_.values[result].name, std::move(reads), {result});
    graph_.ops[op].pass = Pass::backward;
    if (layer.weight.valid() && left() > 0) {
      add_update(graph_, layer.name + ".update", {layer.weight, result}, {layer.weight});
      layer.weight = ValueId();
    }
    return result;
  }

  Rng& rng_;
  const RandomInstanceOptions& options_;
  std::int64_t unit_ = 1;
  Graph graph_;
  std::vector<Layer> layers_;
};

TransferCost random_transfer(Rng& rng) {
  return {Seconds(pick(rng, 1, 24) / 8.0), Joules(pick(rng, 1, 16) / 4.0)};
}

void add_costs(Rng& rng, const RandomInstanceOptions& options, Instance& instance) {
  CostTable& costs = instance.costs;
  costs.has_storage = options.storage;
  for (const OpId op : ids<OpId>(instance.graph.ops.size())) {
    OpCost cost{Seconds(pick(rng, 1, 16) / 8.0), Joules(pick(rng, 1, 32) / 4.0), Bytes(0)};
    if (options.device && chance(rng, 0.5)) cost.workspace = Bytes(pick(rng, 1, 40));
    if (instance.graph.ops[op].pass == Pass::update) cost.runtime = Seconds(0.125);
    costs.ops.push_back(cost);
  }
  for (const Value& value : instance.graph.values) {
    ValueCost cost;
    const bool transient = !value.alias_of.valid() && !is_persistent(value.persistence);
    if (transient) cost.bytes = value.bytes;
    if (!transient && !value.alias_of.valid()) costs.persistent += value.bytes;
    if (transient && options.storage) {
      cost.page_out = random_transfer(rng);
      cost.page_in = random_transfer(rng);
    }
    costs.values.push_back(cost);
  }
  if (!options.device) return;
  instance.has_device = true;
  costs.timing.concurrent = chance(rng, 0.7);
  costs.timing.idle = Watts(pick(rng, 0, 4) / 4.0);
  costs.timing.wake_time = Seconds(pick(rng, 0, 4) / 8.0);
  costs.timing.wake_energy = Joules(pick(rng, 0, 4) / 4.0);
}

}  // namespace

// "published", so that instance files can have the form of the published ones.
void choose_kinds(Rng& rng, Graph& graph, bool in_place) {
  constexpr const char* kInPlace[] = {"logical_not", "logical_and", "where"};  // of one, two, three operands
  for (Value& value : graph.values) {
    value.dtype = DType::uint8;
    value.shape = {value.bytes.value()};
  }
  for (Op& op : graph.ops) {
    op.kind = "published";
    if (!in_place || op.outputs.size() != 1 || op.inputs.empty() || op.inputs.size() > 3) continue;
    const bool alike = std::all_of(op.inputs.begin(), op.inputs.end(), [&](ValueId v) {
      return graph.values[v].bytes == graph.values[op.outputs.front()].bytes;
    });
    if (alike && chance(rng, 0.9)) op.kind = kInPlace[op.inputs.size() - 1];
  }
}

Instance random_instance(Rng& rng, const RandomInstanceOptions& options) {
  Instance instance;
  instance.graph = Training(rng, options).build();
  instance.graph.name = "random";
  add_costs(rng, options, instance);
  verify(instance);
  return instance;
}
}  // namespace poet::test
