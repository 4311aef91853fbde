// The quick searches ask often whether to stop, on graphs where one op needs many others: layers of ops that
// read everything that the layer before made, forwards and backwards, as the parts of convolutions do. What
// one recomputation entails there has as many paths as the product of the layers' widths.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/oscillation.h"
#include "poet/optimize/heuristic/streaming_search.h"
#include "poet/optimize/problem/problem.h"
#include "poet/plan/allowance.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"
#include "tests/support/small_graphs.h"

namespace poet {
namespace {

constexpr double kBetweenPolls = 0.25;  // seconds of the processor, at most
constexpr double kSearched = 0.5;

std::vector<ValueId> layer_reading(Graph& graph, const std::string& name,
                                   const std::vector<ValueId>& operands, const std::vector<ValueId>& own,
                                   int width, test::Rng& rng) {
  std::vector<ValueId> made;
  for (int i = 0; i < width; ++i) {
    std::vector<ValueId> reads = operands;
    if (!own.empty()) reads.push_back(own[static_cast<std::size_t>(i)]);
    made.push_back(test::add_node(graph, fmt::format("{}.{}", name, i), reads, 64 * test::pick(rng, 1, 4)));
  }
  return made;
}

Instance dense_layers(int layers, int width, bool paging) {
  test::Rng rng(1);
  Instance instance;
  Graph& graph = instance.graph;
  std::vector<std::vector<ValueId>> forward = {{test::add_node(graph, "input", {}, 64)}};
  graph.ops[OpId(0)].recomputable = false;
  for (int l = 1; l <= layers; ++l)
    forward.push_back(layer_reading(graph, fmt::format("f{}", l), forward.back(), {}, width, rng));
  std::vector<ValueId> gradients = {test::add_node(graph, "loss", forward.back(), 64)};
  for (; forward.size() > 1; forward.pop_back())
    gradients =
        layer_reading(graph, fmt::format("b{}", forward.size()), gradients, forward.back(), width, rng);
  test::add_node(graph, "end", gradients);
  for (std::size_t op = 0; op < graph.ops.size(); ++op)
    instance.costs.ops.push_back({Seconds(1e-3), Joules(1e-3 * test::pick(rng, 1, 8)), Bytes(0)});
  for (const Value& value : graph.values) {
    const TransferCost transfer{Seconds(1e-3), Joules(1e-2 * static_cast<double>(value.bytes.value()))};
    instance.costs.values.push_back(
        {value.bytes, paging ? transfer : TransferCost{}, paging ? transfer : TransferCost{}});
  }
  instance.costs.has_storage = paging;
  instance.costs.timing.concurrent = true;
  instance.has_device = true;
  return instance;
}

/// The longest time from one poll to the next, of a search that is stopped after a while.
double between_polls(const std::function<void(const std::function<bool()>&)>& search) {
  const auto seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double begin = seconds();
  double last = begin;
  double longest = 0;
  const auto note = [&] {
    const double now = seconds();
    longest = std::max(longest, now - last);
    last = now;
    return now - begin > kSearched;
  };
  search(note);
  note();
  return longest;
}

struct Dense {
  int layers;
  int width;
  bool paging;
  double fraction;  // of the way from the RAM floor to keeping everything
};
void PrintTo(const Dense& d, std::ostream* out) {
  *out << fmt::format("{} layers of {}, {}", d.layers, d.width, d.paging ? "with paging" : "without paging");
}

class SearchesPoll : public testing::TestWithParam<Dense> {};

TEST_P(SearchesPoll, WhateverARecomputationEntails) {
  const auto& [layers, width, paging, fraction] = GetParam();
  const Instance instance = dense_layers(layers, width, paging);
  const Bytes floor = ram_floor(instance, Semantics::device).bytes();
  const Bytes range = replay_keep_all(instance, Semantics::device).peak_ram - floor;
  Limits limits;
  limits.ram_budget = floor + Bytes(static_cast<std::int64_t>(fraction * static_cast<double>(range.value())));
  SolveOptions options;
  options.paging = paging;
  const SolveRequest request{instance, limits, Semantics::device};
  const Problem problem = make_problem(request, options);
  const double most = kBetweenPolls * (test::kSanitized ? 20 : 1);
  EXPECT_LT(between_polls([&](const auto& stop) { (void)greedy(problem, stop); }), most) << "greedy";
  EXPECT_LT(between_polls([&](const auto& stop) {
              constexpr long kMany = 1'000'000;
              (void)Oscillation(problem, 1).run(kMany, stop);
            }),
            most)
      << "oscillation";
  EXPECT_LT(between_polls([&](const auto& stop) {
              StreamingSearch search(problem, 4);
              while (!stop()) (void)search.improve(stop);
            }),
            most)
      << "streaming";
}

// Where a poll took 0.37 to 0.74 s.
INSTANTIATE_TEST_SUITE_P(DenseLayers, SearchesPoll,
                         testing::Values(Dense{60, 8, false, 0.1}, Dense{60, 32, true, 0.6},
                                         Dense{20, 16, true, 0.3}, Dense{4, 64, true, 0.6}));

}  // namespace
}  // namespace poet
