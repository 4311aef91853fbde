#include "tests/support/random_layered_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "tests/support/random_instance.h"
#include "tests/support/small_graphs.h"

namespace poet::test {
namespace {

using Layers = std::vector<std::vector<int>>;  // of nodes, which are numbered layer by layer

Layers make_layers(Rng& rng, const RandomLayeredGraphOptions& options) {
  const double width = std::max(2.0, std::sqrt(options.width * options.ops));
  const int least = std::max(1, static_cast<int>(std::lround(width * (1 - options.spread))));
  const int most = std::max(least, static_cast<int>(std::lround(width * (1 + options.spread))));
  Layers layers = {{0}};
  int node = 1;
  while (node < options.ops - 1) {
    std::vector<int>& layer = layers.emplace_back();
    for (int left = pick(rng, least, most); left > 0 && node < options.ops - 1; --left)
      layer.push_back(node++);
  }
  layers.push_back({node});
  return layers;
}

class Edges {
 public:
  Edges(Rng& rng, const RandomLayeredGraphOptions& options, const Layers& layers)
      : reads(static_cast<std::size_t>(options.ops)), rng_(rng), layers_(layers) {
    between_neighbours(options.edges);
    over_layers(options.skips);
    to_the_sink();
    for (std::vector<int>& operands : reads) std::sort(operands.begin(), operands.end());
  }

  std::vector<std::vector<int>> reads;  // per node, increasing

 private:
  int any_of(const std::vector<int>& nodes) {
    return nodes[static_cast<std::size_t>(pick(rng_, 0, static_cast<int>(nodes.size()) - 1))];
  }

  void add(int from, int to) {
    std::vector<int>& operands = reads[static_cast<std::size_t>(to)];
    if (std::find(operands.begin(), operands.end(), from) != operands.end()) return;
    operands.push_back(from);
    ++edges_;
  }

  void between_neighbours(double share) {
    for (std::size_t i = 1; i < layers_.size(); ++i)
      for (int to : layers_[i]) {
        for (int from : layers_[i - 1])
          if (chance(rng_, share)) add(from, to);
        if (reads[static_cast<std::size_t>(to)].empty()) add(any_of(layers_[i - 1]), to);
      }
  }

  void over_layers(double share) {
    const int last = static_cast<int>(layers_.size()) - 1;
    if (last < 3) return;
    for (auto left = static_cast<int>(std::lround(share / (1 - share) * edges_)); left > 0; --left) {
      const int from = pick(rng_, 1, last - 2);
      const int to = pick(rng_, from + 2, last);
      add(any_of(layers_[static_cast<std::size_t>(from)]), any_of(layers_[static_cast<std::size_t>(to)]));
    }
  }

  void to_the_sink() {
    std::vector<char> is_read(reads.size(), 0);
    for (const std::vector<int>& operands : reads)
      for (int from : operands) is_read[static_cast<std::size_t>(from)] = 1;
    const int sink = static_cast<int>(reads.size()) - 1;
    for (int node = 0; node < sink; ++node)
      if (!is_read[static_cast<std::size_t>(node)]) add(node, sink);
  }

  Rng& rng_;
  const Layers& layers_;
  int edges_ = 0;
};

// Each time one of the ops that can be computed, by chance.
std::vector<int> topological_order(Rng& rng, const std::vector<std::vector<int>>& reads) {
  std::vector<std::vector<int>> readers(reads.size());
  std::vector<int> waits(reads.size());
  for (std::size_t to = 0; to < reads.size(); ++to) {
    waits[to] = static_cast<int>(reads[to].size());
    for (int from : reads[to]) readers[static_cast<std::size_t>(from)].push_back(static_cast<int>(to));
  }
  std::vector<int> order;
  std::vector<int> ready = {0};
  while (!ready.empty()) {
    std::swap(ready[static_cast<std::size_t>(pick(rng, 0, static_cast<int>(ready.size()) - 1))],
              ready.back());
    const int node = ready.back();
    ready.pop_back();
    order.push_back(node);
    for (int reader : readers[static_cast<std::size_t>(node)])
      if (--waits[static_cast<std::size_t>(reader)] == 0) ready.push_back(reader);
  }
  return order;
}

std::int64_t pick_bytes(Rng& rng) {
  const double part = pick(rng, 1, 1'000) / 1'000.0;
  return 10 * std::lround(1 + 799 * part * part);
}

}  // namespace

Instance random_layered_graph(std::uint64_t seed, const RandomLayeredGraphOptions& options) {
  ensure(options.ops >= 4, "random layered graphs have at least 4 ops");
  Rng rng(seed);
  const Layers layers = make_layers(rng, options);
  const std::vector<std::vector<int>> reads = Edges(rng, options, layers).reads;

  Instance instance;
  Graph& graph = instance.graph;
  graph.name = instance.model = fmt::format("layered{}_{}", options.ops, seed);
  instance.platform = "random";
  instance.source = "generated";
  instance.costs.has_storage = false;
  std::vector<ValueId> values(reads.size());
  for (const int node : topological_order(rng, reads)) {
    std::vector<ValueId> operands;
    for (int from : reads[static_cast<std::size_t>(node)])
      operands.push_back(values[static_cast<std::size_t>(from)]);
    const std::int64_t bytes = pick_bytes(rng);
    const ValueId value = add_node(graph, fmt::format("n{}", node), std::move(operands), bytes);
    values[static_cast<std::size_t>(node)] = value;
    graph.ops[graph.values[value].producer].kind = "published";
    graph.values[value].dtype = DType::uint8;
    graph.values[value].shape = {bytes};
    const double cost = node == 0 ? 0 : pick(rng, 1, 1'000) * 1e-6;
    OpCost op;
    op.runtime = Seconds(cost);
    op.energy = Joules(cost);
    instance.costs.ops.push_back(op);
    ValueCost of_value;
    of_value.bytes = Bytes(bytes);
    instance.costs.values.push_back(of_value);
  }
  verify(instance);
  return instance;
}

}  // namespace poet::test
