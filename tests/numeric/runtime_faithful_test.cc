// Value preserving means bit for bit: whatever a plan recomputes and pages, every op of every step gives the
// bits that it gives when everything is kept.

#include <gtest/gtest.h>

#include "poet/autodiff/differentiate.h"
#include "poet/autodiff/mixed_precision.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/nn.h"
#include "poet/runtime/executor/program.h"
#include "tests/support/effort.h"
#include "tests/support/faithful.h"

namespace poet::test {
namespace {

using runtime::KernelLibrary;
using runtime::KernelOptions;

Instance instance_of(const Graph& forward, const KernelOptions& kernels, Optimizer optimizer,
                     const std::string& device, Precision precision = Precision::float32) {
  Instance instance;
  instance.graph = differentiate(forward, {optimizer, {}});
  if (precision == Precision::bfloat16_mixed) instance.graph = in_mixed_precision(std::move(instance.graph));
  instance.costs = tabulate(instance.graph, find_device(device));
  instance.model = forward.name;
  instance.has_device = true;
  runtime::charge_workspaces(instance, kernels);
  return instance;
}

/// Everything that could go wrong under recomputation: batch norm, dropout, max pool's indices, shared
/// gradients, views, a softmax in place.
Graph all_sorts() {
  GraphBuilder g("all_sorts");
  ValueId x = g.input("input", {4, 3, 12, 12});
  x = nn::conv2d(g, "conv1", x, {.out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}, .bias = true});
  x = nn::batch_norm(g, "bn1", x);
  x = nn::relu(g, "relu1", x);
  const ValueId skip = x;
  x = nn::conv2d(g, "conv2", x, {.out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}});
  x = nn::batch_norm(g, "bn2", x);
  x = nn::add(g, "join", x, skip);
  x = nn::relu(g, "relu2", x);
  x = nn::max_pool2d(g, "pool", x, {});
  x = nn::dropout(g, "drop", x, 0.3);
  x = nn::flatten(g, "flat", x);
  x = nn::linear(g, "fc1", x, 24);
  x = nn::tanh(g, "tanh", x);
  x = nn::dropout(g, "drop2", x, 0.5);
  x = nn::linear(g, "fc2", x, 5);
  nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {4}, DType::int32));
  return g.finish();
}

void expect_faithful(const Graph& forward, const KernelOptions& kernels, Optimizer optimizer,
                     const std::string& device, Precision precision = Precision::float32) {
  const Instance instance = instance_of(forward, kernels, optimizer, device, precision);
  const Bytes least = least_known_ram(instance);
  const Bits kept = carried_out(plan_between(instance, least, 1), kernels);
  ASSERT_EQ(kept.recomputed, 0);
  ASSERT_EQ(kept.paged, 0);
  int recomputed = 0;
  int paged = 0;
  for (const double part : {0.5, 0.25, 0.0}) {
    const Bits scheduled = carried_out(plan_between(instance, least, part), kernels);
    EXPECT_EQ(scheduled.differs, "") << device << " at " << part;
    EXPECT_TRUE(scheduled == kept) << device << " at " << part;
    recomputed += scheduled.recomputed;
    paged += scheduled.paged;
  }
  // Else the comparison would be of a plan with itself.
  EXPECT_GT(recomputed + paged, 0) << device;
}

class Faithful : public testing::TestWithParam<KernelLibrary> {
 protected:
  KernelOptions kernels_{GetParam(), 1, ""};
};

TEST_P(Faithful, AllSortsOfOperators) {
  expect_faithful(all_sorts(), kernels_, Optimizer::sgd, "m4");
  expect_faithful(all_sorts(), kernels_, Optimizer::adam, "a72");
  if (!tries_all()) return;
  expect_faithful(all_sorts(), kernels_, Optimizer::adam, "m4");
  expect_faithful(all_sorts(), kernels_, Optimizer::sgd, "a72");
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam})
    expect_faithful(all_sorts(), kernels_, optimizer, "jetsontx2");
}

TEST_P(Faithful, ResidualNetwork) {
  expect_faithful(build_network("resnet14_cifar", {.batch_size = 2, .sequence_length = {}}), kernels_,
                  Optimizer::momentum, "a72");
}

TEST_P(Faithful, FullyConnected) {
  expect_faithful(build_network("linear", {.batch_size = 256, .sequence_length = {}}), kernels_,
                  Optimizer::sgd, "m4");
}

// What is stored as bfloat16 is rounded once, so it may be dropped and computed again, or paged, like any
// value.
TEST_P(Faithful, MixedPrecision) {
  for (const char* device : {"m4", "a72"})
    expect_faithful(all_sorts(), kernels_, Optimizer::adam, device, Precision::bfloat16_mixed);
  expect_faithful(build_network("resnet14_cifar", {.batch_size = 2, .sequence_length = {}}), kernels_,
                  Optimizer::momentum, "a72", Precision::bfloat16_mixed);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Faithful,
                         testing::Values(KernelLibrary::fast, KernelLibrary::lean, KernelLibrary::reference),
                         [](const auto& kernels) {
                           return kernels.param == KernelLibrary::fast   ? "fast"
                                  : kernels.param == KernelLibrary::lean ? "lean"
                                                                         : "reference";
                         });

}  // namespace
}  // namespace poet::test
