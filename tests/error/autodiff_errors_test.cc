// What differentiate() refuses, and how it says so.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/nn.h"
#include "tests/support/graph_text.h"
#include "tests/support/input_error.h"

namespace poet {
namespace {

using test::find_op;
using test::find_value;

/// The message of the InputError that differentiate() throws; empty when it throws none.
std::string refusal(const Graph& forward, const TrainingOptions& options = {}) {
  try {
    (void)differentiate(forward, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// x (2, 4) - fc1 - gelu - fc2 - loss
Graph network() {
  GraphBuilder g("network");
  ValueId h = nn::linear(g, "fc1", g.input("x", {2, 4}), 4);
  h = nn::gelu(g, "gelu", h);
  h = nn::linear(g, "fc2", h, 4);
  nn::softmax_cross_entropy(g, "loss", h, g.input("targets", {2}, DType::int32));
  return g.finish();
}

TEST(AutodiffErrors, TheNetworkOfTheseTestsIsFine) { EXPECT_EQ(refusal(network()), ""); }

TEST(AutodiffErrors, NoLoss) {
  GraphBuilder g("headless");
  nn::linear(g, "fc", g.input("x", {2, 4}), 4);
  EXPECT_EQ(refusal(g.finish()),
            "graph 'headless': no loss: a softmax_cross_entropy, mse_loss or other loss op is needed");
}

TEST(AutodiffErrors, EmptyGraph) {
  Graph empty;
  empty.name = "empty";
  EXPECT_EQ(refusal(empty),
            "graph 'empty': no loss: a softmax_cross_entropy, mse_loss or other loss op is needed");
}

TEST(AutodiffErrors, TwoLosses) {
  GraphBuilder g("two");
  const ValueId h = nn::linear(g, "fc", g.input("x", {2, 4}), 4);
  const ValueId targets = g.input("targets", {2}, DType::int32);
  nn::softmax_cross_entropy(g, "loss", h, targets);
  nn::softmax_cross_entropy(g, "second", h, targets);
  EXPECT_EQ(refusal(g.finish()), "op 'second': there must be one loss, and 'loss' is one already");
}

TEST(AutodiffErrors, NothingTrains) {
  const TrainingOptions frozen{Optimizer::sgd, [](const std::string&) { return false; }};
  EXPECT_EQ(refusal(network(), frozen),
            "graph 'network': nothing trains: the loss depends on no trainable parameter");
}

TEST(AutodiffErrors, OnlyParametersBesideTheLossTrain) {
  GraphBuilder g("beside");
  const ValueId x = g.input("x", {2, 4});
  nn::linear(g, "side", x, 4);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", x, 4), g.input("targets", {2}, DType::int32));
  const TrainingOptions side{Optimizer::sgd, [](const std::string& name) { return name == "side.weight"; }};
  EXPECT_EQ(refusal(g.finish(), side),
            "graph 'beside': nothing trains: the loss depends on no trainable parameter");
}

TEST(AutodiffErrors, UnknownOperatorOnTheGradientPath) {
  Graph forward = network();
  forward.ops[find_op(forward, "gelu")].kind = "fft";
  EXPECT_EQ(refusal(forward), "op 'gelu': operator kind 'fft' has no gradient rule");
}

TEST(AutodiffErrors, UnknownOperatorBesideTheGradientPathIsFine) {
  Graph forward = network();
  forward.ops[find_op(forward, "gelu")].kind = "sigmoid";
  const TrainingOptions head{Optimizer::sgd, [](const std::string& name) { return name == "fc2.weight"; }};
  EXPECT_EQ(refusal(forward, head), "");
}

TEST(AutodiffErrors, AnOpThatDoesNotFitItsOperator) {
  Graph forward = network();
  forward.ops[find_op(forward, "gelu")].inputs.push_back(find_value(forward, "fc1.bias"));
  EXPECT_THAT(refusal(forward), testing::EndsWith("\"gelu\" (gelu): needs 1 input, not 2"));
}

TEST(AutodiffErrors, NoGradientThroughSavedStatistics) {
  // The loss depends on layer_norm's saved mean, which its rule does not differentiate.
  GraphBuilder g("statistics");
  ValueId h = nn::linear(g, "fc", g.input("x", {2, 4}), 4);
  h = nn::layer_norm(g, "norm", h, 1e-5);
  h = nn::relu(g, "relu", nn::reduce(g, "reduce_sum", "sum", h, {1}, false));
  nn::mse_loss(g, "loss", h, g.input("targets", {2}));
  Graph forward = g.finish();
  test::replace_input(forward, "relu", 0, "norm.mean");
  EXPECT_EQ(refusal(forward), "op 'norm': no gradient flows through output 'norm.mean' of a layer_norm op");
}

TEST(AutodiffErrors, ViewOfAPart) {
  // `part` shows the first half of h only.
  GraphBuilder g("part");
  const ValueId h = nn::linear(g, "fc", g.input("x", {2, 4}), 4);
  const ValueId part = nn::reshape(g, "part", h, {2, 4});
  nn::softmax_cross_entropy(g, "loss", nn::relu(g, "relu", part), g.input("targets", {2}, DType::int32));
  Graph forward = g.finish();
  forward.values[part].shape = {1, 4};
  for (const char* name : {"relu", "loss.probabilities"})
    forward.values[find_value(forward, name)].shape = {1, 4};
  forward.values[find_value(forward, "targets")].shape = {1};
  EXPECT_EQ(refusal(forward), "op 'relu': the gradient of view 'part' is no view of the gradient of 'fc'");
}

TEST(AutodiffErrors, TrainingGraphsAreNotDifferentiatedAgain) {
  EXPECT_EQ(refusal(differentiate(network())), "op 'loss:backward': a forward graph has no backward ops");
}

TEST(AutodiffErrors, ForwardGraphsDoNotUpdateParameters) {
  Graph forward = network();
  Op update;
  update.name = "early";
  update.kind = "sgd_update";
  update.pass = Pass::update;
  update.recomputable = false;
  update.updates = {find_value(forward, "fc2.bias")};
  update.inputs = {update.updates[0], update.updates[0]};
  update.attributes = {{"learning_rate", 0.5}};
  forward.ops.push_back(update);
  EXPECT_EQ(refusal(forward), "op 'early': a forward graph does not update parameters");
}

TEST(AutodiffErrors, BrokenGraphsAreRefused) {
  Graph forward = network();
  forward.ops[find_op(forward, "gelu")].inputs = {ValueId(99)};
  EXPECT_THAT(refusal(forward), testing::HasSubstr("reads value 99"));
}

TEST(DifferentiateErrors, OptionsOutOfRange) {
  const auto refused = [](std::int64_t accumulate, std::optional<double> clip_norm) {
    TrainingOptions options;
    options.accumulate = accumulate;
    options.clip_norm = clip_norm;
    return test::input_error([&] { (void)differentiate(build_network("linear"), options); });
  };
  EXPECT_EQ(refused(0, {}), "accumulate: must be from 1 to 1,000,000 steps per update");
  EXPECT_EQ(refused(1'000'001, {}), "accumulate: must be from 1 to 1,000,000 steps per update");
  EXPECT_EQ(refused(1, 0.0), "clip_norm: must be > 0 and finite");
  EXPECT_EQ(refused(1, -1.0), "clip_norm: must be > 0 and finite");
}

}  // namespace
}  // namespace poet
