#pragma once

// What a graph computes, by the naive kernels.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "poet/graph/builder.h"
#include "tests/support/reference_kernels.h"

namespace poet::test {

inline std::vector<double> computed_from(GraphBuilder& g,
                                         const std::vector<std::pair<ValueId, std::vector<double>>>& data,
                                         ValueId y) {
  const Graph graph = g.finish();
  reference::Interpreter run(graph);
  for (const auto& [v, numbers] : data) run.set(v, numbers);
  run.run();
  return run.get(y).data;
}

/// Of one float input `x`.
inline std::vector<double> computed(GraphBuilder& g, ValueId x, const std::vector<double>& data, ValueId y) {
  return computed_from(g, {{x, data}}, y);
}

inline void expect_all_near(const std::vector<double>& actual, const std::vector<double>& wanted) {
  ASSERT_EQ(actual.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(actual[i], wanted[i], 1e-12) << i;
}

}  // namespace poet::test
