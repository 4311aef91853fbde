// The reference kernels against float64: training steps of small networks of every operator kind, every op on
// the operands that it meets there.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "poet/autodiff/gradient_rules.h"
#include "poet/frontend/zoo.h"
#include "poet/runtime/kernels/reference/reference.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/reference_kernels.h"
#include "tests/support/runtime_kernel_check.h"

namespace {
std::int64_t allocations = 0;
}  // namespace

// Counted, for this program alone. Not inlined, or the compiler takes the pair for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace poet {
namespace {

class ReferenceKernelFamily : public testing::TestWithParam<test::KernelGraphFamily> {};

TEST_P(ReferenceKernelFamily, ComputesWhatFloat64Does) {
  for (int seed = 0; seed < GetParam().seeds && !HasFailure(); ++seed) {
    test::KernelCheckOptions options;
    options.step = 1 + seed % 4 * 250;
    const auto number = static_cast<std::uint64_t>(seed);
    test::check_kernels(GetParam().make(number), number, nullptr, options);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReferenceKernelFamily, testing::ValuesIn(test::kernel_graph_families()),
                         [](const auto& instance) { return instance.param.name; });

TEST(KernelsAsTheInterpreter, EveryKindHasOneAndIsChecked) {
  std::set<std::string> seen;
  for (const test::KernelGraphFamily& family : test::kernel_graph_families()) {
    for (int seed = 0; seed < family.seeds; ++seed) {
      for (const Op& op : family.make(static_cast<std::uint64_t>(seed)).ops) seen.insert(op.kind);
    }
  }
  for (const std::string& kind : reference::kernel_kinds()) EXPECT_TRUE(seen.contains(kind)) << kind;
  for (const GradientRule& rule : gradient_rules()) {
    EXPECT_TRUE(rule.kind == "opaque" || seen.contains(rule.kind)) << rule.kind;
  }
}

TEST(KernelsAsTheInterpreter, RunningOneAllocatesNothing) {
  for (const test::KernelGraphFamily& family : test::kernel_graph_families()) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Graph graph = family.make(seed);
      test::RuntimeInterpreter run(graph);
      for (const ValueId v : ids<ValueId>(graph.values.size())) {
        const Value& value = graph.values[v];  // no index is out of range, no divisor 0
        const double number = value.dtype == DType::float32 ? 0.5 : 1.0;
        run.set(v, std::vector<double>(static_cast<std::size_t>(element_count(value.shape)), number));
      }
      for (const OpId op : ids<OpId>(graph.ops.size())) {
        if (graph.ops[op].kind == "input") continue;
        const runtime::KernelCall call = run.call(op);
        const std::int64_t before = allocations;
        run.kernel(op).run(call);
        ASSERT_EQ(allocations, before) << graph.ops[op].kind;
      }
    }
  }
}

TEST(KernelsAsTheInterpreter, EveryBuiltInNetworkCanRun) {
  for (const ZooEntry& entry : zoo()) {
    const Graph graph = differentiate(entry.build({}), {Optimizer::adam, nullptr});
    for (const OpId op : ids<OpId>(graph.ops.size())) {
      if (graph.ops[op].kind == "input") continue;
      EXPECT_NE(runtime::make_reference_kernel(graph, op), nullptr)
          << entry.name << ": " << graph.ops[op].kind;
    }
  }
}

}  // namespace
}  // namespace poet
