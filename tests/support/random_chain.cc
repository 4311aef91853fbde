#include "tests/support/random_chain.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/small_graphs.h"
#include "tests/support/tiny_instance.h"

namespace poet::test {
namespace {

struct Block {
  ValueId input;
  ValueId output;
  std::vector<ValueId> interior;
  ValueId weight;
};

class Builder {
 public:
  Builder(Rng& rng, const RandomChainOptions& options) : rng_(rng), options_(options) {}

  Graph build() {
    ValueId at;
    if (options_.input) at = data("x");
    ValueId targets;
    if (options_.targets) targets = data("targets");
    for (int b = 0; b < options_.blocks; ++b) {
      const bool last = b + 1 == options_.blocks;
      add_block(b, at, last ? targets : ValueId());
      at = blocks_.back().output;
    }
    ValueId gradient;
    for (int b = options_.blocks - 1; b >= 0; --b) gradient = add_backward(b, gradient);
    return std::move(graph_);
  }

 private:
  std::int64_t bytes() { return pick(rng_, 1, static_cast<int>(options_.most_bytes)); }

  ValueId data(const std::string& name) {
    const ValueId v = add_output(graph_, name, bytes(), Persistence::input);
    const OpId op = add_op(graph_, name, {}, {v});
    graph_.ops[op].recomputable = false;
    return v;
  }

  ValueId any_of(const std::vector<ValueId>& list) {
    return list[static_cast<std::size_t>(pick(rng_, 0, static_cast<int>(list.size()) - 1))];
  }

  void add_block(int b, ValueId input, ValueId extra) {
    Block block;
    block.input = input;
    const std::string name = fmt::format("f{}", b);
    if (options_.updates && chance(rng_, 0.6)) block.weight = add_persistent(graph_, name + ".w", bytes());
    const int ops = b == 0 ? 1 : pick(rng_, 1, options_.most_ops);
    ValueId at = input;
    for (int i = 0; i < ops; ++i) {
      const bool last = i + 1 == ops;
      std::vector<ValueId> reads;
      if (at.valid()) reads.push_back(at);
      // A residual, so that there is no cut inside.
      if (i > 0 && (last || chance(rng_, 0.3))) reads.push_back(input);
      if (block.weight.valid() && chance(rng_, 0.5)) reads.push_back(block.weight);
      if (last && extra.valid()) reads.push_back(extra);
      const std::string op = fmt::format("{}.{}", name, i);
      at = add_output(graph_, op, bytes());
      std::vector<ValueId> writes = {at};
      if (!input.valid() || chance(rng_, 0.3)) {
        writes.push_back(add_output(graph_, op + ".saved", bytes()));
        block.interior.push_back(writes.back());
      }
      add_op(graph_, op, std::move(reads), std::move(writes));
      if (!last) block.interior.push_back(at);
    }
    block.output = at;
    blocks_.push_back(std::move(block));
  }

  ValueId add_backward(int b, ValueId gradient) {
    const Block& block = blocks_[static_cast<std::size_t>(b)];
    const int ops = pick(rng_, 1, options_.most_ops);
    for (int i = 0; i < ops; ++i) {
      std::vector<ValueId> reads;
      if (gradient.valid()) reads.push_back(gradient);
      // The first of them belongs here and nowhere else.
      if (i == 0 && block.interior.empty()) {
        if (block.input.valid()) reads.push_back(block.input);
        reads.push_back(block.output);
      } else if (i == 0) {
        reads.push_back(any_of(block.interior));
      }
      if (block.input.valid() && chance(rng_, 0.4)) reads.push_back(block.input);
      if (i == 0 && chance(rng_, 0.4)) reads.push_back(block.output);
      if (!block.interior.empty() && chance(rng_, 0.5)) reads.push_back(any_of(block.interior));
      const std::string op = fmt::format("b{}.{}", b, i);
      gradient = add_output(graph_, op, bytes());
      graph_.ops[add_op(graph_, op, std::move(reads), {gradient})].pass = Pass::backward;
    }
    if (block.weight.valid()) {
      const std::string op = fmt::format("b{}.w", b);
      const ValueId of_weight = add_output(graph_, op, bytes(), Persistence::parameter_gradient);
      const std::vector<ValueId> interior = {block.interior.empty() ? gradient : any_of(block.interior)};
      graph_.ops[add_op(graph_, op, {gradient, interior.front()}, {of_weight})].pass = Pass::backward;
      add_update(graph_, op + ".update", {block.weight, of_weight}, {block.weight});
    }
    return gradient;
  }

  Rng& rng_;
  const RandomChainOptions& options_;
  Graph graph_;
  std::vector<Block> blocks_;
};

}  // namespace

Instance random_chain(Rng& rng, const RandomChainOptions& options) {
  Instance instance = instance_of(Builder(rng, options).build());
  instance.graph.name = "random chain";
  for (OpCost& cost : instance.costs.ops) {
    cost = {Seconds(pick(rng, 1, 16) / 8.0), Joules(pick(rng, 1, 32) / 4.0), Bytes(0)};
    if (options.device && chance(rng, 0.5)) cost.workspace = Bytes(pick(rng, 1, 5));
  }
  for (ValueCost& cost : instance.costs.values) {
    if (cost.bytes == Bytes()) continue;
    const double bytes = static_cast<double>(cost.bytes.value());
    cost.page_out = {Seconds(bytes / 8), Joules(bytes / 4)};
    cost.page_in = {Seconds(bytes / 8), Joules(bytes / 4)};
  }
  if (options.device) {
    instance.has_device = true;
    instance.costs.timing.concurrent = chance(rng, 0.7);
    instance.costs.timing.idle = Watts(pick(rng, 0, 4) / 4.0);
    instance.costs.timing.wake_time = Seconds(pick(rng, 0, 1) / 8.0);
    instance.costs.timing.wake_energy = Joules(pick(rng, 0, 1) / 4.0);
  }
  verify(instance);
  return instance;
}

Instance unit_blocks(int blocks) {
  Graph graph;
  std::vector<ValueId> cuts = {add_output(graph, "x", 1, Persistence::input)};
  graph.ops[add_op(graph, "x", {}, {cuts.back()})].recomputable = false;
  for (int b = 0; b < blocks; ++b) cuts.push_back(add_node(graph, fmt::format("f{}", b), {cuts.back()}, 1));
  ValueId gradient;
  for (int b = blocks - 1; b >= 0; --b) {
    std::vector<ValueId> reads = {cuts[static_cast<std::size_t>(b)], cuts[static_cast<std::size_t>(b) + 1]};
    if (gradient.valid()) reads.push_back(gradient);
    gradient = add_node(graph, fmt::format("b{}", b), std::move(reads), 1);
    graph.ops[OpId(graph.ops.size() - 1)].pass = Pass::backward;
  }
  Instance instance = instance_of(std::move(graph));
  for (OpCost& cost : instance.costs.ops) cost = {Seconds(1), Joules(1), Bytes(0)};
  return instance;
}

}  // namespace poet::test
