// The firmware's kernels against the portable ones, bit by bit, and against float64: training steps of small
// networks of every operator kind, and the zoo's networks in parts.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/autodiff/mixed_precision.h"
#include "poet/firmware/lowered.h"
#include "poet/frontend/zoo.h"
#include "poet/runtime/kernels/bfloat16.h"
#include "poet/split/split.h"
#include "tests/support/firmware_kernels.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/runtime_interpreter.h"
#include "tests/support/runtime_kernel_check.h"

namespace poet::test {
namespace {

class FirmwareKernelFamily : public testing::TestWithParam<KernelGraphFamily> {};

TEST_P(FirmwareKernelFamily, ComputesTheBitsOfThePortableKernels) {
  for (int seed = 0; seed < GetParam().seeds && !HasFailure(); ++seed) {
    KernelCheckOptions options;
    options.step = 1 + seed % 4 * 250;
    options.make = both_kernels;
    const auto number = static_cast<std::uint64_t>(seed);
    check_kernels(GetParam().make(number), number, nullptr, options);
  }
}

TEST_P(FirmwareKernelFamily, ComputesTheBitsOfThePortableKernelsInMixedPrecision) {
  for (int seed = 0; seed < (GetParam().seeds + 3) / 4 && !HasFailure(); ++seed) {
    KernelCheckOptions options;
    options.step = 1 + seed % 4 * 250;
    options.tolerance = 0x1p-7;
    options.make = both_kernels;
    const auto number = static_cast<std::uint64_t>(seed);
    check_kernels(in_mixed_precision(GetParam().make(number)), number, nullptr, options);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FirmwareKernelFamily, testing::ValuesIn(kernel_graph_families()),
                         [](const auto& instance) { return instance.param.name; });

TEST(FirmwareKernels, EveryKindIsAmongTheNetworks) {
  std::set<std::string> left;
  for (const std::string& kind : firmware::kinds()) left.insert(kind);
  for (const KernelGraphFamily& family : kernel_graph_families())
    for (int seed = 0; seed < family.seeds; ++seed)
      for (const Op& op : family.make(static_cast<std::uint64_t>(seed)).ops) left.erase(op.kind);
  EXPECT_EQ(left, std::set<std::string>());
}

/// One step of a network of the zoo in parts; how many of its ops the firmware has kernels for.
double share_in_c(const std::string& network, Bytes part, bool mixed = false) {
  Graph whole = differentiate(build_network(network));
  if (mixed) whole = in_mixed_precision(std::move(whole));
  const Graph graph = split(whole, {part});
  RuntimeInterpreter run(graph, both_kernels);
  double with = 0;
  double all = 0;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    const bool given = is_persistent(value.persistence) ||
                       (value.producer.valid() && graph.ops[value.producer].kind == "input");
    if (!given || value.alias_of.valid()) continue;
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < element_count(value.shape); ++i)
      numbers.push_back(value.dtype == DType::float32
                            ? static_cast<double>((i * 7919 + 13) % 1001) / 2500.0 - 0.2
                            : static_cast<double>(i % 2));
    if (value.name.find("var") != std::string::npos)
      for (double& n : numbers) n = n < 0 ? -n : n;
    run.set(v, numbers);
  }
  run.run();
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    if (graph.ops[op].kind == "input") continue;
    all += 1;
    with += has_firmware_kernel(graph, op);
  }
  return with / all;
}

TEST(FirmwareKernels, NetworksInPartsHaveThePortableBits) {
  EXPECT_EQ(share_in_c("linear", Bytes(4096)), 1.0);
  EXPECT_EQ(share_in_c("resnet14_cifar", Bytes(8192)), 1.0);
  EXPECT_EQ(share_in_c("resnet14_cifar", Bytes(4096), true), 1.0);
}

// Every bfloat16, and what is rounded: the bits around the middle between neighbours, and at random.
TEST(FirmwareKernels, WidenAndRoundAsThePortableOnesDo) {
  std::vector<std::uint16_t> halves, rounded;
  std::vector<std::uint32_t> wide, widened;
  std::mt19937 random(7);
  for (std::uint32_t upper = 0; upper < 0x10000U; ++upper) {
    halves.push_back(static_cast<std::uint16_t>(upper));
    const auto any = static_cast<std::uint32_t>(random() & 0xffffU);
    for (const std::uint32_t lower : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU, any})
      wide.push_back(upper << 16U | lower);
  }
  rounded.resize(wide.size());
  widened.resize(halves.size());
  const auto call = [](poet_kernel kernel, auto& from, auto& to) {
    const poet_numbers shape = {static_cast<std::int32_t>(from.size())};
    const std::array<void*, 2> operands = {from.data(), to.data()};
    EXPECT_EQ(kernel(&shape, operands.data(), nullptr), POET_KERNEL_OK);
  };
  call(poet_widen, halves, widened);
  call(poet_round, wide, rounded);
  for (std::size_t i = 0; i < halves.size(); ++i)
    ASSERT_EQ(widened[i], std::bit_cast<std::uint32_t>(runtime::widened(halves[i])));
  for (std::size_t i = 0; i < wide.size(); ++i)
    ASSERT_EQ(rounded[i], runtime::rounded_to_bfloat16(std::bit_cast<float>(wide[i]))) << wide[i];
}

}  // namespace
}  // namespace poet::test
