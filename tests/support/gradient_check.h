#pragma once

// Gradients against finite differences: training graphs run in float64 by naive kernels.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/graph/graph.h"

namespace poet::test {

using GradientData = std::map<ValueId, std::vector<double>>;

/// Values of everything that no op computes: normal, or integers below `classes`.
[[nodiscard]] GradientData random_data(const Graph& graph, std::uint64_t seed, int classes);

/// Compares every gradient that an update reads with the central difference of the loss. With double
/// precision and a step of 1e-5 the difference is good to some 1e-9 where the loss is smooth; kinks of relu
/// and max are a set of measure zero. `kinds` takes the kinds of all ops on the way.
void expect_true_gradients(const Graph& forward, const TrainingOptions& options, std::uint64_t seed,
                           std::set<std::string>* kinds = nullptr);

}  // namespace poet::test
