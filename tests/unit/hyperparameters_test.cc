#include "poet/runtime/training/hyperparameters.h"

#include <gtest/gtest.h>

#include "poet/autodiff/differentiate.h"
#include "poet/frontend/zoo.h"
#include "tests/support/input_error.h"

namespace poet::runtime {
namespace {

Graph trained_by(Optimizer optimizer) { return differentiate(build_network("linear"), {optimizer, {}}); }

double first(const Graph& graph, const std::string& kind, const char* attribute) {
  for (const Op& op : graph.ops)
    if (op.kind == kind) return std::get<double>(op.attributes.at(attribute));
  return -1;
}

TEST(Hyperparameters, AreWrittenIntoEveryUpdate) {
  Graph graph = trained_by(Optimizer::adam);
  set_hyperparameters(graph, {.learning_rate = 0.25, .momentum = {}, .beta1 = 0.5, .beta2 = {}, .eps = 1e-3});
  for (const Op& op : graph.ops) {
    if (op.kind != "adam_update") continue;
    EXPECT_EQ(std::get<double>(op.attributes.at("learning_rate")), 0.25) << op.name;
    EXPECT_EQ(std::get<double>(op.attributes.at("beta1")), 0.5) << op.name;
    EXPECT_EQ(std::get<double>(op.attributes.at("beta2")), 0.999) << op.name;
    EXPECT_EQ(std::get<double>(op.attributes.at("eps")), 1e-3) << op.name;
  }
}

TEST(Hyperparameters, LeaveBatchNormsMomentumAlone) {
  Graph graph = differentiate(build_network("resnet14_cifar"), {Optimizer::momentum, {}});
  set_hyperparameters(graph, {.learning_rate = {}, .momentum = 0.5, .beta1 = {}, .beta2 = {}, .eps = {}});
  EXPECT_EQ(first(graph, "momentum_update", "momentum"), 0.5);
  EXPECT_EQ(first(graph, "batch_norm_stats", "momentum"), 0.1);
}

TEST(Hyperparameters, ThatTheOptimizerLacksAreRefused) {
  Graph graph = trained_by(Optimizer::sgd);
  const auto set = [&graph](const Hyperparameters& chosen) {
    return test::input_error([&] { set_hyperparameters(graph, chosen); });
  };
  EXPECT_EQ(set({.learning_rate = {}, .momentum = 0.5, .beta1 = {}, .beta2 = {}, .eps = {}}),
            "momentum: the network's optimiser has none (`optimizer`)");
  EXPECT_EQ(set({.learning_rate = -1.0, .momentum = {}, .beta1 = {}, .beta2 = {}, .eps = {}}),
            "learning_rate: must be > 0 and finite");
  EXPECT_EQ(set({.learning_rate = {}, .momentum = 1.0, .beta1 = {}, .beta2 = {}, .eps = {}}),
            "momentum: must be at least 0 and below 1");
  EXPECT_EQ(set({.learning_rate = {}, .momentum = {}, .beta1 = {}, .beta2 = 0.5, .eps = {}}),
            "beta2: the network's optimiser has none (`optimizer`)");
}

}  // namespace
}  // namespace poet::runtime
