// Training graphs with one or two things changed: either verify() refuses them, saying where and which rule,
// or they have a price, a plan, and kernels that compute what double precision says.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <variant>

#include "poet/base/error.h"
#include "poet/compile.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/operators/schema.h"
#include "tests/support/effort.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/op_mutations.h"
#include "tests/support/runtime_kernel_check.h"

namespace poet {
namespace {

constexpr std::int64_t kLongest = 1 << 22;  // of a value; graphs with larger ones are not run
constexpr int kPlanned = 40;                // one of as many accepted graphs gets a plan

/// Whether double precision tells what float32 gives: not where numbers leave its range, nor of a
/// division by 0.
bool is_comparable(const Graph& graph) {
  const auto is_tame = [](const auto& attribute) {
    const auto* x = std::get_if<double>(&attribute.second);
    return x == nullptr || *x == 0.0 || (std::abs(*x) < 1e6 && std::abs(*x) > 1e-9);
  };
  for (const Op& op : graph.ops) {
    if (op.kind == "int_div" || op.kind == "mod") return false;
    if (!std::all_of(op.attributes.begin(), op.attributes.end(), is_tame)) return false;
  }
  return true;
}

bool has_kernels(const Graph& graph) {
  return std::all_of(graph.ops.begin(), graph.ops.end(), [](const Op& op) {
    const OperatorSchema* schema = find_operator(op.kind);
    return op.kind == "input" || (schema != nullptr && schema->portable);
  });
}

bool is_small(const Graph& graph) {
  return std::all_of(graph.values.begin(), graph.values.end(),
                     [](const Value& value) { return value.bytes.value() <= kLongest; });
}

void expect_plan(const Graph& graph, const CostTable& costs) {
  CompileRequest request;
  request.instance.graph = graph;
  request.instance.costs = costs;
  request.limits.ram_budget =
      Bytes(2 * replay_keep_all(request.instance, Semantics::device).peak_ram.value());
  const CompileResult result = compile(request);
  EXPECT_TRUE(result.report.valid);
  EXPECT_FALSE(result.plan.steps.empty()) << result.outcome.explanation.reason;
}

struct Counts {
  int refused = 0;
  int right = 0;
  int planned = 0;
  int refused_by_data = 0;  // indices that name no element
  int not_run = 0;
};

void expect_refused_or_right(const Graph& graph, std::uint64_t seed, const DeviceProfile& device,
                             Counts& counts) {
  try {
    verify(graph);
  } catch (const InputError& error) {
    ++counts.refused;
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with("op ") || what.starts_with("value ")) << what;
    EXPECT_NE(what.find(": "), std::string::npos) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return;
  }
  const CostTable costs = tabulate(graph, device, PersistentPolicy::resident);
  if (!is_small(graph) || !is_comparable(graph) || !has_kernels(graph)) {
    ++counts.not_run;
    return;
  }
  if ((counts.right + counts.refused_by_data) % kPlanned == 0) {
    expect_plan(graph, costs);
    ++counts.planned;
  }
  try {
    test::check_kernels(graph, seed);
    ++counts.right;
  } catch (const InputError&) {
    ++counts.refused_by_data;
  }
}

TEST(VerifyFuzz, DamagedGraphsAreRefusedOrRight) {
  const char* const more = std::getenv("POET_FUZZ_ROUNDS");
  const int graphs = test::effort(10'000, 5) * (more == nullptr ? 1 : std::atoi(more));
  const std::vector<test::KernelGraphFamily>& families = test::kernel_graph_families();
  const DeviceProfile device = find_device("m4");
  std::mt19937_64 random(2027);
  Counts counts;
  for (int i = 0; i < graphs; ++i) {
    const test::KernelGraphFamily& family = families[static_cast<std::size_t>(i) % families.size()];
    const std::uint64_t seed = random() % static_cast<std::uint64_t>(family.seeds);
    Graph graph = family.make(seed);
    OpId op(random() % graph.ops.size());
    while (graph.ops[op].kind == "input") op = OpId(random() % graph.ops.size());
    std::string what = graph.ops[op].kind + ": " + test::mutate_op(graph, op, random);
    if (random() % 4 == 0) what += ", " + test::mutate_op(graph, op, random);
    SCOPED_TRACE(family.name + ", seed " + std::to_string(seed) + ", " + what);
    try {
      expect_refused_or_right(graph, seed, device, counts);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "throws " << error.what();
    }
    ASSERT_FALSE(HasFailure());
  }
  std::printf("%d refused, %d right, %d with a plan, %d refused for their data, %d not run\n", counts.refused,
              counts.right, counts.planned, counts.refused_by_data, counts.not_run);
  EXPECT_GT(counts.refused, graphs / 2);
  EXPECT_GT(counts.right, graphs / 20);
  EXPECT_GT(counts.planned, test::enough(10, 5));
}

}  // namespace
}  // namespace poet
