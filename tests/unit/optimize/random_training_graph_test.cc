// The generator of training graphs keeps its promises: benches and tests rely on them.

#include <gtest/gtest.h>

#include <algorithm>

#include "poet/optimize/problem/candidate.h"
#include "tests/support/random_training_graph.h"

namespace poet {
namespace {

Instance graph_of(int ops, std::uint64_t seed, bool updates = true) {
  test::RandomTrainingGraphOptions options;
  options.ops = ops;
  options.updates = updates;
  return test::random_training_graph(seed, options);
}

TEST(RandomTrainingGraph, HasExactlyAsManyOpsAsAskedFor) {
  for (int ops = 16; ops < 80; ++ops)
    for (const bool updates : {true, false})
      EXPECT_EQ(graph_of(ops, 3, updates).graph.ops.size(), static_cast<std::size_t>(ops));
  EXPECT_EQ(graph_of(2000, 1).graph.ops.size(), 2000U);
}

TEST(RandomTrainingGraph, IsTheSameForTheSameSeed) {
  const Instance a = graph_of(300, 4);
  const Instance b = graph_of(300, 4);
  const Instance c = graph_of(300, 5);
  int different = 0;
  for (const OpId op : ids<OpId>(a.graph.ops.size())) {
    EXPECT_EQ(a.graph.ops[op].inputs, b.graph.ops[op].inputs);
    EXPECT_EQ(a.costs.ops[op].energy.value(), b.costs.ops[op].energy.value());
    different += a.costs.ops[op].energy.value() != c.costs.ops[op].energy.value();
  }
  EXPECT_GT(different, 0);
}

// RAM can be saved, and both ways of saving it matter.
TEST(RandomTrainingGraph, IsWorthScheduling) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Instance instance = graph_of(400, seed);
    const Problem p = make_problem({instance, {}, Semantics::device}, {});
    std::int64_t largest = 0;
    int recomputable = 0;
    int dear = 0;  // to recompute, next to paging
    for (int op = 0; op < p.ops; ++op) {
      const auto i = static_cast<std::size_t>(op);
      largest = std::max(largest, working_set(p, op));
      if (p.recompute_until[i] == op || p.writes[i].empty()) continue;
      ++recomputable;
      const auto v = static_cast<std::size_t>(p.writes[i].front());
      dear += p.joules[i] > p.in_joules[v] + p.out_joules[v];
    }
    EXPECT_GT(complete(p, no_decisions(p)).peak, 4 * largest);
    EXPECT_GT(dear, recomputable / 10);
    EXPECT_LT(dear, recomputable * 9 / 10);
  }
}

}  // namespace
}  // namespace poet
