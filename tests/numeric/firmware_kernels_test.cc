// The firmware's kernels against the portable ones, bit by bit, and against float64: training steps of small
// networks of every operator kind, and the zoo's networks in parts.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "poet/autodiff/differentiate.h"
#include "poet/firmware/lowered.h"
#include "poet/frontend/zoo.h"
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
double share_in_c(const std::string& network, Bytes part) {
  const Graph graph = split(differentiate(build_network(network)), {part});
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
}

}  // namespace
}  // namespace poet::test
