// The reference kernels against float64: training steps of small networks of every operator kind, every op on
// the operands that it meets there.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "poet/autodiff/gradient_rules.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/reference_kernels.h"
#include "tests/support/runtime_kernel_check.h"

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

TEST(ReferenceKernels, EveryKindHasOneAndIsChecked) {
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

}  // namespace
}  // namespace poet
