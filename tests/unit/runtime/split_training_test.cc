// Training by a plan of a graph in parts: whoever sees its losses, weights or checkpoints sees whole tensors.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/cost/device.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/nn.h"
#include "poet/runtime/executor/program.h"
#include "poet/runtime/training/trainer.h"
#include "poet/split/split.h"
#include "tests/support/faithful.h"
#include "tests/support/scratch_folder.h"

namespace poet::test {
namespace {

using namespace runtime;

const KernelOptions kPortable{KernelLibrary::reference, 1, ""};

Graph network() {
  GraphBuilder g("small");
  ValueId x = g.input("input", {4, 3, 8, 8});
  x = nn::conv2d(g, "conv", x, {.out_channels = 6, .kernel = {3, 3}, .padding = {1, 1}, .bias = true});
  x = nn::relu(g, "relu", nn::batch_norm(g, "bn", x));
  x = nn::dropout(g, "drop", nn::flatten(g, "flat", x), 0.3);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", x, 5), g.input("targets", {4}, DType::int32));
  return differentiate(g.finish(), {Optimizer::momentum, {}});
}

PlanFile plan_of(Graph graph) {
  Instance instance;
  instance.graph = std::move(graph);
  instance.costs = tabulate(instance.graph, find_device("m4"));
  instance.batch_size = 4;
  instance.has_device = true;
  charge_workspaces(instance, kPortable);
  return plan_between(instance, 0.5);
}

TrainerOptions options() {
  TrainerOptions options;
  options.seed = 5;
  options.samples = 64;
  options.kernels = kPortable;
  return options;
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(SplitTraining, GivesTheLossesAndCheckpointsOfTheWhole) {
  const PlanFile whole = plan_of(network());
  const PlanFile parts = plan_of(split(network(), {Bytes(1024)}));
  ASSERT_GT(parts.instance.graph.ops.size(), 2 * whole.instance.graph.ops.size());
  const ScratchFolder folder;
  Trainer of_whole(whole, options()), of_parts(parts, options());
  EXPECT_EQ(of_whole.setup().seeded, of_parts.setup().seeded);
  const std::vector<float> expected = of_whole.train({.steps = 3}).losses;
  EXPECT_EQ(of_parts.train({.steps = 3}).losses, expected);
  of_whole.save(folder.path() / "whole.safetensors");
  of_parts.save(folder.path() / "parts.safetensors");
  EXPECT_EQ(contents(folder.path() / "parts.safetensors"), contents(folder.path() / "whole.safetensors"));

  // The one goes on where the other stopped.
  TrainerOptions resumed = options();
  resumed.resume = folder.path() / "whole.safetensors";
  Trainer goes_on(parts, resumed);
  const std::vector<float> then = of_whole.train({.steps = 5}).losses;
  EXPECT_EQ(goes_on.train({.steps = 5}).losses, then);
  TrainerOptions weighted = options();
  weighted.weights_file = folder.path() / "whole.safetensors";
  Trainer from_weights(parts, weighted), whole_from_weights(whole, weighted);
  EXPECT_EQ(from_weights.train({.steps = 1}).losses, whole_from_weights.train({.steps = 1}).losses);
}

TEST(SplitTraining, PartsAreInInstanceFiles) {
  Instance instance = plan_of(split(network(), {Bytes(1024)})).instance;
  const Instance again = instance_from_json(to_json(instance), "there and back");
  for (const ValueId v : ids<ValueId>(instance.graph.values.size())) {
    const auto& a = instance.graph.values[v].part;
    const auto& b = again.graph.values[v].part;
    ASSERT_EQ(a.has_value(), b.has_value());
    if (!a) continue;
    EXPECT_EQ(a->tensor, b->tensor);
    EXPECT_EQ(a->shape, b->shape);
    EXPECT_EQ(a->begin, b->begin);
  }
}

}  // namespace
}  // namespace poet::test
