// Operators on what is stored as bfloat16: each gives what it gives in float32, rounded when it is stored.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "poet/autodiff/mixed_precision.h"
#include "poet/runtime/kernels/bfloat16.h"
#include "poet/runtime/kernels/kernel.h"
#include "tests/support/effort.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/runtime_interpreter.h"
#include "tests/support/runtime_kernel_check.h"

namespace poet {
namespace {

using runtime::KernelLibrary;
using runtime::KernelOptions;

test::MakeKernel kernels_of(KernelLibrary library) {
  return [library](const Graph& graph, OpId op) {
    return runtime::make_kernel(graph, op, KernelOptions{library, 1, ""});
  };
}

/// By its definition, in double precision: 8 bits from the highest one on, at least 2^-133.
double nearest_bfloat16(double x) {
  constexpr int kBits = 8, kLeast = -133;
  const double largest = std::ldexp(255.0, 120);
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  (void)std::frexp(x, &exponent);
  const int unit = std::max(exponent - kBits, kLeast);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  return std::copysign(std::min(std::abs(rounded), largest), x);
}

/// The graph of one op as if nothing were stored as bfloat16.
Graph widened_graph(Graph graph) {
  for (Value& value : graph.values) {
    if (value.dtype != DType::bfloat16) continue;
    value.dtype = DType::float32;
    value.bytes = byte_count(value.shape, value.dtype);
  }
  return graph;
}

/// Op by op on the same operands; which of their results are rounded.
int expect_rounded_results(const Graph& graph, std::uint64_t seed, const test::MakeKernel& make) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0.1, 0.8);
  test::RuntimeInterpreter run(graph, make);
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (value.alias_of.valid()) continue;
    if (!is_persistent(value.persistence) && value.persistence != Persistence::input) continue;
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < element_count(value.shape); ++i)
      numbers.push_back(value.dtype == DType::float32 ? std::abs(normal(random))
                                                      : static_cast<double>(random() % 3));
    run.set(v, numbers);
  }
  int rounded = 0;
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    if (graph.ops[id].kind == "input") continue;
    const Graph alone = test::lone_op(graph, id);
    const Graph wide = widened_graph(alone);
    const OpId last(static_cast<std::int32_t>(alone.ops.size() - 1));
    const Op& op = alone.ops[last];
    test::RuntimeInterpreter narrow_run(alone, make), wide_run(wide, make);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const std::vector<double> operand = run.get(graph.ops[id].inputs[i]);
      narrow_run.set(op.inputs[i], operand);
      wide_run.set(op.inputs[i], operand);
    }
    narrow_run.run_op(last);
    wide_run.run_op(last);
    EXPECT_TRUE(narrow_run.intact()) << op.kind << " writes outside of its places";
    for (const ValueId v : op.outputs) {
      std::vector<double> wanted = wide_run.get(v);
      const bool rounds = alone.values[v].dtype == DType::bfloat16;
      if (rounds)
        for (double& x : wanted) x = nearest_bfloat16(x);
      const std::vector<double> found = narrow_run.get(v);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (std::isnan(wanted[i]) && std::isnan(found[i])) continue;
        EXPECT_EQ(found[i], wanted[i])
            << op.kind << " -> " << alone.values[v].name << "[" << i << "], seed " << seed;
        if (found[i] != wanted[i]) return rounded;
      }
      if (rounds) ++rounded;
    }
    run.run_op(id);
  }
  return rounded;
}

int tried(const test::KernelGraphFamily& family) { return test::cases((family.seeds + 3) / 4, family.seeds); }

class MixedPrecision : public testing::TestWithParam<test::KernelGraphFamily> {
 protected:
  static void SetUpTestSuite() { runtime::set_up_kernels({}); }
};

TEST_P(MixedPrecision, EveryOpRoundsWhatItGivesInFloat32) {
  for (const KernelLibrary library : {KernelLibrary::fast, KernelLibrary::lean, KernelLibrary::reference}) {
    int rounded = 0;
    for (int seed = 0; seed < tried(GetParam()) && !HasFailure(); ++seed) {
      const auto number = static_cast<std::uint64_t>(seed);
      rounded +=
          expect_rounded_results(in_mixed_precision(GetParam().make(number)), number, kernels_of(library));
    }
    EXPECT_GT(rounded, 0) << GetParam().name;
  }
}

// Nothing changes but results, with the same bits at other addresses, again, and over an operand.
TEST_P(MixedPrecision, KernelsKeepToTheirOperands) {
  for (int seed = 0; seed < tried(GetParam()) && !HasFailure(); ++seed) {
    test::KernelCheckOptions options;
    options.make = kernels_of(KernelLibrary::reference);
    options.tolerance = 0x1p-7;
    const auto number = static_cast<std::uint64_t>(seed);
    test::check_kernels(in_mixed_precision(GetParam().make(number)), number, nullptr, options);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MixedPrecision, testing::ValuesIn(test::kernel_graph_families()),
                         [](const auto& instance) { return instance.param.name; });

TEST(Bfloat16, EveryNumberIsItselfAndWhatLiesBetweenIsRoundedToTheNearest) {
  for (std::uint32_t half = 0; half < 0x7f80U; ++half) {
    const auto number = static_cast<std::uint16_t>(half);
    const float x = runtime::widened(number);
    ASSERT_EQ(runtime::rounded_to_bfloat16(x), number);
    ASSERT_EQ(runtime::rounded_to_bfloat16(-x), number | 0x8000U);
    const std::uint32_t bits = half << 16U;
    for (const std::uint32_t below : {0x1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      float between = 0;
      const std::uint32_t all = bits | below;
      std::memcpy(&between, &all, sizeof between);
      const auto wanted = nearest_bfloat16(static_cast<double>(between));
      ASSERT_EQ(static_cast<double>(runtime::widened(runtime::rounded_to_bfloat16(between))), wanted)
          << between;
      ASSERT_EQ(static_cast<double>(runtime::widened(runtime::rounded_to_bfloat16(-between))), -wanted);
    }
  }
}

TEST(Bfloat16, WhatIsFiniteStaysSoAndWhatIsNoNumberStaysNone) {
  constexpr float kMost = std::numeric_limits<float>::max(),
                  kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(runtime::rounded_to_bfloat16(kMost), 0x7f7fU);
  EXPECT_EQ(runtime::rounded_to_bfloat16(-kMost), 0xff7fU);
  EXPECT_EQ(runtime::rounded_to_bfloat16(kInfinity), 0x7f80U);
  EXPECT_EQ(runtime::rounded_to_bfloat16(-kInfinity), 0xff80U);
  for (const std::uint32_t bits : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU}) {
    float x = 0;
    std::memcpy(&x, &bits, sizeof x);
    EXPECT_TRUE(std::isnan(runtime::widened(runtime::rounded_to_bfloat16(x)))) << bits;
  }
}

TEST(Bfloat16, ManyAreOneAfterTheOther) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {0U, 1U, 3U, 8U, 31U, 1000U}) {
    std::vector<float> numbers(count), back(count);
    std::vector<std::uint16_t> halves(count);
    for (float& x : numbers) {
      const auto bits = static_cast<std::uint32_t>(random());
      std::memcpy(&x, &bits, sizeof x);
    }
    runtime::round_to_bfloat16(numbers.data(), static_cast<std::int64_t>(count), halves.data());
    runtime::widen(halves.data(), static_cast<std::int64_t>(count), back.data());
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(halves[i], runtime::rounded_to_bfloat16(numbers[i]));
      const float alone = runtime::widened(halves[i]);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(back[i]), std::bit_cast<std::uint32_t>(alone));
    }
  }
}

}  // namespace
}  // namespace poet
