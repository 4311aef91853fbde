// What the generator of layered graphs promises.

#include "tests/support/random_layered_graph.h"

#include <gtest/gtest.h>

#include "poet/graph/dataflow.h"

namespace poet::test {
namespace {

TEST(RandomLayeredGraph, HasOneSourceAndOneSink) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomLayeredGraphOptions options;
    options.ops = 4 + 11 * static_cast<int>(seed);
    const Instance instance = random_layered_graph(seed, options);
    ASSERT_EQ(instance.graph.ops.size(), static_cast<std::size_t>(options.ops));
    const Dataflow flow = dataflow(instance.graph);
    int sources = 0;
    int sinks = 0;
    for (const OpId op : ids<OpId>(instance.graph.ops.size())) {
      sources += flow.reads[op].empty();
      ASSERT_EQ(flow.writes[op].size(), 1);
      sinks += flow.users[flow.writes[op].front()].empty();
    }
    EXPECT_EQ(sources, 1) << seed;
    EXPECT_EQ(sinks, 1) << seed;
  }
}

// 2.4 operands an op with 100 ops, 5.9 with 1,000, as in the published ones; 14% of the edges are long.
TEST(RandomLayeredGraph, HasTheProportionsOfThePublishedOnes) {
  for (const auto& [ops, least, most] : {std::tuple{100, 1.8, 3.2}, {1000, 4.5, 7.0}}) {
    RandomLayeredGraphOptions options;
    options.ops = ops;
    double edges = 0;
    constexpr int kGraphs = 5;
    for (std::uint64_t seed = 1; seed <= kGraphs; ++seed)
      for (const Op& op : random_layered_graph(seed, options).graph.ops)
        edges += static_cast<double>(op.inputs.size()) / kGraphs;
    EXPECT_GT(edges / ops, least);
    EXPECT_LT(edges / ops, most);
  }
}

TEST(RandomLayeredGraph, IsTheSameForTheSameSeed) {
  const Instance once = random_layered_graph(3);
  const Instance again = random_layered_graph(3);
  const Instance other = random_layered_graph(4);
  const auto bytes = [](const Instance& instance) {
    std::vector<std::int64_t> all;
    for (const Value& value : instance.graph.values) all.push_back(value.bytes.value());
    return all;
  };
  EXPECT_EQ(bytes(once), bytes(again));
  EXPECT_NE(bytes(once), bytes(other));
}

}  // namespace
}  // namespace poet::test
