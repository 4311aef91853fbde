#include "poet/runtime/training/hyperparameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poet/autodiff/differentiate.h"
#include "poet/frontend/zoo.h"
#include "tests/support/input_error.h"

namespace poet::runtime {
namespace {

/// An update: of a training step the last op is one.
const Op& last(const Graph& graph) { return graph.ops[OpId(graph.ops.size() - 1)]; }

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

Hyperparameters decay(double value) {
  Hyperparameters chosen;
  chosen.weight_decay = value;
  return chosen;
}

TEST(Hyperparameters, WeightDecayIsThereWhereItIsNotZero) {
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam}) {
    Graph graph = trained_by(optimizer);
    const Graph before = graph;
    set_hyperparameters(graph, decay(0.1));
    for (const Op& op : graph.ops)
      if (op.pass == Pass::update) {
        EXPECT_EQ(std::get<double>(op.attributes.at("weight_decay")), 0.1);
      }
    verify(graph);
    set_hyperparameters(graph, decay(0));
    EXPECT_EQ(last(graph).attributes, last(before).attributes);
  }
  Graph graph = trained_by(Optimizer::adamw);
  EXPECT_EQ(first(graph, "adamw_update", "weight_decay"), 0.01);
  set_hyperparameters(graph, decay(0));
  EXPECT_EQ(first(graph, "adamw_update", "weight_decay"), 0.0);
  EXPECT_EQ(test::input_error([&] { set_hyperparameters(graph, decay(-1)); }),
            "weight_decay: must be at least 0 and finite");
}

TEST(Hyperparameters, WeightDecayIsRefusedWhereRowsMoveAlone) {
  Graph graph = trained_by(Optimizer::sgd);
  graph.values[last(graph).inputs[0]].rows = Rows{"words.weight", "ids", 100};
  EXPECT_THAT(test::input_error([&] { set_hyperparameters(graph, decay(0.1)); }),
              testing::StartsWith("weight_decay: changes every row of "));
}

TEST(Hyperparameters, NesterovIsOfMomentum) {
  Hyperparameters chosen;
  chosen.nesterov = true;
  Graph graph = trained_by(Optimizer::momentum);
  set_hyperparameters(graph, chosen);
  EXPECT_EQ(std::get<std::int64_t>(last(graph).attributes.at("nesterov")), 1);
  verify(graph);
  chosen.nesterov = false;
  set_hyperparameters(graph, chosen);
  EXPECT_FALSE(last(graph).attributes.contains("nesterov"));
  graph = trained_by(Optimizer::adam);
  EXPECT_EQ(test::input_error([&] { set_hyperparameters(graph, chosen); }),
            "nesterov: is for `optimizer` momentum");
}

}  // namespace
}  // namespace poet::runtime
