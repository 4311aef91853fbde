// Training graphs derived by hand: which backward ops there are, in which order, and what each reads and
// writes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/autodiff/gradient_rules.h"
#include "poet/autodiff/layout.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/nn.h"
#include "tests/support/graph_text.h"

namespace poet {
namespace {

using test::added_ops;
using test::find_op;
using test::find_value;
using testing::ElementsAre;

const Value& value(const Graph& graph, const std::string& name) {
  const ValueId v = find_value(graph, name);
  if (!v.valid()) throw std::out_of_range("no value " + name);
  return graph.values[v];
}

const Op& op(const Graph& graph, const std::string& name) {
  const OpId id = find_op(graph, name);
  if (!id.valid()) throw std::out_of_range("no op " + name);
  return graph.ops[id];
}

TrainingOptions training_only(std::vector<std::string> names, Optimizer optimizer = Optimizer::sgd) {
  const auto listed = [names = std::move(names)](const std::string& parameter) {
    return std::find(names.begin(), names.end(), parameter) != names.end();
  };
  return {optimizer, listed};
}

void finish_with_loss(GraphBuilder& g, ValueId logits) {
  const ValueId targets = g.input("targets", {g.shape(logits)[0]}, DType::int32);
  nn::softmax_cross_entropy(g, "loss", logits, targets);
}

/// x (batch, 3) - fc1 - (batch, 4) - relu - fc2 - (batch, 2)
Graph two_layers(std::int64_t batch) {
  GraphBuilder g("two_layers");
  ValueId h = nn::linear(g, "fc1", g.input("x", {batch, 3}), 4);
  h = nn::relu(g, "relu", h);
  finish_with_loss(g, nn::linear(g, "fc2", h, 2));
  return g.finish();
}

TEST(Differentiate, LinearReluLinear) {
  // fc2: dx is 2 x 4 x 4 = 32 bytes, dweight + dbias (2 x 4 + 2) x 4 = 40 bytes, so dx comes first.
  // fc1: x is data, so it has no dx. relu reads y, linear x; each update comes right after the last reader.
  EXPECT_THAT(
      added_ops(differentiate(two_layers(2))),
      ElementsAre(
          "loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:fc2",
          "fc2:backward_input linear_backward_input(grad:fc2, fc2.weight) -> grad:relu",
          "fc2:backward_weight linear_backward_weight(grad:fc2, relu) -> grad:fc2.weight, grad:fc2.bias",
          "fc2.weight:update sgd_update(fc2.weight, grad:fc2.weight) ! fc2.weight",
          "fc2.bias:update sgd_update(fc2.bias, grad:fc2.bias) ! fc2.bias",
          "relu:backward relu_backward(grad:relu, relu) -> grad:fc1",
          "fc1:backward_weight linear_backward_weight(grad:fc1, x) -> grad:fc1.weight, grad:fc1.bias",
          "fc1.weight:update sgd_update(fc1.weight, grad:fc1.weight) ! fc1.weight",
          "fc1.bias:update sgd_update(fc1.bias, grad:fc1.bias) ! fc1.bias"));
}

TEST(Differentiate, TheSmallerGradientGoesFirst) {
  // Batch 3: dx is 48 bytes, dweight + dbias 40, so the weight goes first. Its update waits for the reader of
  // the old weight; the bias has none.
  const std::vector<std::string> lines = added_ops(differentiate(two_layers(3)));
  ASSERT_GE(lines.size(), 5U);
  EXPECT_EQ(lines[1],
            "fc2:backward_weight linear_backward_weight(grad:fc2, relu) -> grad:fc2.weight, grad:fc2.bias");
  EXPECT_EQ(lines[2], "fc2.bias:update sgd_update(fc2.bias, grad:fc2.bias) ! fc2.bias");
  EXPECT_EQ(lines[3], "fc2:backward_input linear_backward_input(grad:fc2, fc2.weight) -> grad:relu");
  EXPECT_EQ(lines[4], "fc2.weight:update sgd_update(fc2.weight, grad:fc2.weight) ! fc2.weight");
}

TEST(Differentiate, EqualGradientsStartWithTheInput) {
  // Without a bias, batch 2: dx and dweight are 32 bytes each.
  GraphBuilder g("equal");
  const ValueId h = nn::relu(g, "relu", nn::linear(g, "fc1", g.input("x", {2, 3}), 4));
  finish_with_loss(g, nn::linear(g, "fc2", h, 2, false));
  const std::vector<std::string> lines = added_ops(differentiate(g.finish()));
  EXPECT_EQ(lines.at(1), "fc2:backward_input linear_backward_input(grad:fc2, fc2.weight) -> grad:relu");
}

TEST(Differentiate, ForwardOpsStayAsTheyAre) {
  const Graph forward = two_layers(2);
  const Graph training = differentiate(forward);
  EXPECT_EQ(training.name, "two_layers");
  for (const OpId id : ids<OpId>(forward.ops.size())) {
    EXPECT_EQ(test::text(training, training.ops[id]), test::text(forward, forward.ops[id]));
    EXPECT_EQ(training.ops[id].pass, forward.ops[id].pass);
  }
  for (const OpId id : ids<OpId>(training.ops.size())) {
    if (id.index < static_cast<int>(forward.ops.size())) continue;
    const Op& added = training.ops[id];
    EXPECT_EQ(added.pass, added.updates.empty() ? Pass::backward : Pass::update) << added.name;
    EXPECT_EQ(added.recomputable, added.updates.empty()) << added.name;
  }
}

TEST(Differentiate, GradientsLookLikeTheirValues) {
  const Graph training = differentiate(two_layers(2));
  EXPECT_EQ(value(training, "grad:fc2.weight").shape, (Shape{2, 4}));
  EXPECT_EQ(value(training, "grad:fc2.weight").bytes, Bytes(32));
  EXPECT_EQ(value(training, "grad:fc2.weight").persistence, Persistence::parameter_gradient);
  EXPECT_EQ(value(training, "grad:fc2.bias").persistence, Persistence::parameter_gradient);
  EXPECT_EQ(value(training, "grad:relu").shape, (Shape{2, 4}));
  EXPECT_EQ(value(training, "grad:relu").persistence, Persistence::activation);
  EXPECT_EQ(value(training, "grad:relu").producer, find_op(training, "fc2:backward_input"));
  EXPECT_FALSE(find_value(training, "grad:x").valid());
}

TEST(Differentiate, ResidualBlockAccumulatesWhatAddPassesThrough) {
  // relu feeds fc2 and the sum: its gradient is grad:sum (shared, not copied) plus fc2's input gradient.
  // fc2, out: dx 4 x 4 = 16 bytes; dweight + dbias more.
  GraphBuilder g("residual");
  const ValueId h = nn::relu(g, "relu", nn::linear(g, "fc1", g.input("x", {1, 3}), 4));
  const ValueId sum = nn::add(g, "sum", nn::linear(g, "fc2", h, 4), h);
  finish_with_loss(g, nn::linear(g, "out", sum, 2));
  EXPECT_THAT(
      added_ops(differentiate(g.finish())),
      ElementsAre(
          "loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:out",
          "out:backward_input linear_backward_input(grad:out, out.weight) -> grad:sum",
          "out:backward_weight linear_backward_weight(grad:out, sum) -> grad:out.weight, grad:out.bias",
          "out.weight:update sgd_update(out.weight, grad:out.weight) ! out.weight",
          "out.bias:update sgd_update(out.bias, grad:out.bias) ! out.bias",
          "fc2:backward_input linear_backward_input(grad:sum, fc2.weight) -> grad:relu",
          "grad:relu:accumulate add(grad:sum, grad:relu) -> grad:relu:sum",
          "fc2:backward_weight linear_backward_weight(grad:sum, relu) -> grad:fc2.weight, grad:fc2.bias",
          "fc2.weight:update sgd_update(fc2.weight, grad:fc2.weight) ! fc2.weight",
          "fc2.bias:update sgd_update(fc2.bias, grad:fc2.bias) ! fc2.bias",
          "relu:backward relu_backward(grad:relu:sum, relu) -> grad:fc1",
          "fc1:backward_weight linear_backward_weight(grad:fc1, x) -> grad:fc1.weight, grad:fc1.bias",
          "fc1.weight:update sgd_update(fc1.weight, grad:fc1.weight) ! fc1.weight",
          "fc1.bias:update sgd_update(fc1.bias, grad:fc1.bias) ! fc1.bias"));
}

TEST(Differentiate, AValueAddedToItselfGetsItsGradientTwice) {
  GraphBuilder g("double");
  const ValueId h = nn::linear(g, "fc1", g.input("x", {1, 3}), 4);
  finish_with_loss(g, nn::linear(g, "out", nn::add(g, "twice", h, h), 2));
  const Graph training = differentiate(g.finish());
  EXPECT_EQ(test::text(training, op(training, "grad:fc1:accumulate")),
            "grad:fc1:accumulate add(grad:twice, grad:twice) -> grad:fc1:sum");
}

TEST(Differentiate, ThreeUsersMakeAChain) {
  // h is read by relu, gelu and tanh. From the last user on: tanh's contribution, then gelu's, a sum, relu's,
  // a sum.
  GraphBuilder g("three");
  const ValueId h = nn::linear(g, "fc1", g.input("x", {1, 3}), 4);
  const ValueId a = nn::relu(g, "a", h);
  const ValueId b = nn::gelu(g, "b", h);
  const ValueId c = nn::tanh(g, "c", h);
  finish_with_loss(g, nn::add(g, "bc+a", nn::add(g, "b+c", b, c), a));
  EXPECT_THAT(
      added_ops(differentiate(g.finish())),
      ElementsAre("loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:bc+a",
                  "c:backward tanh_backward(grad:bc+a, c) -> grad:fc1",
                  "b:backward gelu_backward(grad:bc+a, fc1) -> grad:fc1:2",
                  "grad:fc1:accumulate add(grad:fc1, grad:fc1:2) -> grad:fc1:sum",
                  "a:backward relu_backward(grad:bc+a, a) -> grad:fc1:3",
                  "grad:fc1:accumulate:2 add(grad:fc1:sum, grad:fc1:3) -> grad:fc1:sum:2",
                  "fc1:backward_weight linear_backward_weight(grad:fc1:sum:2, x) -> grad:fc1.weight, "
                  "grad:fc1.bias",
                  "fc1.weight:update sgd_update(fc1.weight, grad:fc1.weight) ! fc1.weight",
                  "fc1.bias:update sgd_update(fc1.bias, grad:fc1.bias) ! fc1.bias"));
}

/// image - conv (4 channels, 3 x 3) - bn - relu - global average - flatten - fc
Graph small_conv_net() {
  GraphBuilder g("conv_bn_relu");
  ValueId h = g.input("image", {2, 3, 8, 8});
  h = nn::conv2d(g, "conv", h, {.out_channels = 4, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
  h = nn::batch_norm(g, "bn", h);
  h = nn::relu(g, "relu", h);
  h = nn::global_avg_pool(g, "pool", h);
  h = nn::flatten(g, "flat", h);
  finish_with_loss(g, nn::linear(g, "fc", h, 2));
  return g.finish();
}

TEST(Differentiate, ConvBatchNormRelu) {
  // The image needs no gradient, so there is no conv:backward_input. The gradient of the view `flat` is seen
  // as that of the pool's output through a view: no op.
  const Graph training = differentiate(small_conv_net());
  EXPECT_THAT(
      added_ops(training),
      ElementsAre(
          "loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:fc",
          "fc:backward_input linear_backward_input(grad:fc, fc.weight) -> grad:flat",
          "fc:backward_weight linear_backward_weight(grad:fc, flat) -> grad:fc.weight, grad:fc.bias",
          "fc.weight:update sgd_update(fc.weight, grad:fc.weight) ! fc.weight",
          "fc.bias:update sgd_update(fc.bias, grad:fc.bias) ! fc.bias",
          "pool:backward global_avg_pool_backward(grad:pool) -> grad:relu",
          "relu:backward relu_backward(grad:relu, relu) -> grad:bn",
          "bn:backward batch_norm_backward(grad:bn, conv, bn.weight, bn.mean, bn.invstd) -> grad:conv, "
          "grad:bn.weight, grad:bn.bias",
          "bn.weight:update sgd_update(bn.weight, grad:bn.weight) ! bn.weight",
          "bn.bias:update sgd_update(bn.bias, grad:bn.bias) ! bn.bias",
          "conv:backward_weight conv2d_backward_weight(grad:conv, image) -> grad:conv.weight",
          "conv.weight:update sgd_update(conv.weight, grad:conv.weight) ! conv.weight"));
  EXPECT_EQ(value(training, "grad:pool").alias_of, find_value(training, "grad:flat"));
  EXPECT_EQ(value(training, "grad:pool").shape, (Shape{2, 4, 1, 1}));
  EXPECT_EQ(value(training, "grad:pool").strides, Shape{});
  EXPECT_EQ(op(training, "conv:backward_weight").attributes, op(training, "conv").attributes);
  EXPECT_EQ(op(training, "bn:backward").attributes, op(training, "bn").attributes);
  // The running statistics stay an op of their own beside the forward op, which can be recomputed without
  // them.
  EXPECT_EQ(op(training, "bn.stats").kind, "batch_norm_stats");
  EXPECT_FALSE(op(training, "bn.stats").recomputable);
  EXPECT_TRUE(op(training, "bn").updates.empty());
}

TEST(Differentiate, OperatorsReadWhatTheirDerivativeNeeds) {
  GraphBuilder g("vision");
  ValueId h = nn::conv2d(g, "conv", g.input("image", {1, 2, 8, 8}), {.out_channels = 2});
  h = nn::max_pool2d(g, "max", h, {});
  h = nn::avg_pool2d(g, "avg", h, {});
  h = nn::flatten(g, "flat", h);
  h = nn::dropout(g, "drop", h, 0.5);
  h = nn::softmax(g, "soft", h);
  h = nn::layer_norm(g, "norm", h, 1e-5);
  finish_with_loss(g, h);
  const Graph training = differentiate(g.finish());
  const auto line = [&](const std::string& name) { return test::text(training, op(training, name)); };
  EXPECT_EQ(line("max:backward"), "max:backward max_pool2d_backward(grad:max, max.indices) -> grad:conv");
  EXPECT_EQ(line("avg:backward"), "avg:backward avg_pool2d_backward(grad:avg) -> grad:max");
  EXPECT_EQ(line("drop:backward"), "drop:backward dropout_backward(grad:drop, drop.mask) -> grad:flat");
  EXPECT_EQ(line("soft:backward"), "soft:backward softmax_backward(grad:soft, soft) -> grad:drop");
  EXPECT_EQ(
      line("norm:backward"),
      "norm:backward layer_norm_backward(grad:norm, soft, norm.weight, norm.mean, norm.rstd) -> grad:soft, "
      "grad:norm.weight, grad:norm.bias");
}

TEST(Differentiate, ArithmeticReadsWhatItsDerivativeNeeds) {
  GraphBuilder g("arithmetic");
  const ValueId x = nn::linear(g, "x", g.input("in", {2, 4}), 4, false);
  ValueId h = nn::div(g, "ratio", x, g.parameter("b", {4}));
  h = nn::scale(g, "scale", nn::clip(g, "clip", nn::unary(g, "abs", "abs", h), 0, 6), 2, 1);
  h = nn::unary(
      g, "log", "log",
      nn::unary(g, "exp", "exp",
                nn::unary(g, "hardswish", "hardswish", nn::unary(g, "elu", "elu", h, {{"alpha", 1.0}}))));
  h = nn::add(g, "plus", h, nn::scale(g, "shift", nn::reduce(g, "reduce_mean", "mean", h, {1}), 1, -3));
  finish_with_loss(g, h);
  const Graph training = differentiate(g.finish());
  const auto line = [&](const std::string& name) { return test::text(training, op(training, name)); };
  EXPECT_EQ(line("plus:backward_b"), "plus:backward_b sum_to(grad:plus) -> grad:shift");
  EXPECT_EQ(line("mean:backward"), "mean:backward reduce_mean_backward(grad:shift) -> grad:log");
  EXPECT_EQ(line("grad:log:accumulate"), "grad:log:accumulate add(grad:plus, grad:log) -> grad:log:sum");
  EXPECT_EQ(line("log:backward"), "log:backward log_backward(grad:log:sum, exp) -> grad:exp");
  EXPECT_EQ(line("exp:backward"), "exp:backward exp_backward(grad:exp, exp) -> grad:hardswish");
  EXPECT_EQ(line("hardswish:backward"),
            "hardswish:backward hardswish_backward(grad:hardswish, elu) -> grad:elu");
  EXPECT_EQ(line("elu:backward"), "elu:backward elu_backward(grad:elu, elu) -> grad:scale");
  EXPECT_EQ(line("scale:backward"), "scale:backward scale_backward(grad:scale) -> grad:clip");
  EXPECT_EQ(line("clip:backward"), "clip:backward clip_backward(grad:clip, clip) -> grad:abs");
  EXPECT_EQ(line("abs:backward"), "abs:backward abs_backward(grad:abs, ratio) -> grad:ratio");
  EXPECT_EQ(line("ratio:backward_a"), "ratio:backward_a div_backward_a(grad:ratio, b) -> grad:x");
  EXPECT_EQ(line("ratio:backward_b"), "ratio:backward_b div_backward_b(grad:ratio, x, b) -> grad:b");
  EXPECT_EQ(value(training, "grad:b").shape, Shape{4});
  EXPECT_EQ(value(training, "grad:b").persistence, Persistence::parameter_gradient);
}

TEST(Differentiate, ConstantsNeverTrain) {
  GraphBuilder g("constants");
  const ValueId x = nn::linear(g, "x", g.input("in", {2, 4}), 4, false);
  finish_with_loss(g, nn::mul(g, "scaled", x, nn::unary(g, "exp", "exp", g.constant("k", {4}))));
  const Graph training = differentiate(g.finish(), {Optimizer::adam, nullptr});
  for (const Op& each : training.ops) {
    for (const ValueId v : each.updates) EXPECT_NE(training.values[v].name, "k");
    EXPECT_NE(each.kind, "exp_backward");
  }
  EXPECT_EQ(test::text(training, op(training, "scaled:backward_a")),
            "scaled:backward_a mul_backward(grad:scaled, exp) -> grad:x");
}

TEST(Differentiate, CopiesReadTheGradientAlone) {
  GraphBuilder g("copies");
  ValueId h = nn::conv2d(g, "conv", g.input("image", {1, 2, 8, 8}), {.out_channels = 2});
  h = nn::lrn(g, "lrn", h, {});
  h = nn::group_norm(g, "gn", h, 2, 1e-5);
  h = nn::slice(g, "slice", h, {0, 0, 0, 0}, {1, 2, 4, 4});
  h = nn::pad(g, "pad", h, {0, 0, 1, 1}, {0, 0, 0, 0});
  h = nn::transpose(g, "turn", h, {0, 2, 3, 1});
  h = nn::global_max_pool(g, "top", h);
  finish_with_loss(g, nn::flatten(g, "flat", h));
  const Graph training = differentiate(g.finish());
  const auto line = [&](const std::string& name) { return test::text(training, op(training, name)); };
  EXPECT_EQ(line("top:backward"),
            "top:backward global_max_pool_backward(grad:top, top.indices) -> grad:turn");
  EXPECT_EQ(line("turn:backward"), "turn:backward transpose_backward(grad:turn) -> grad:pad");
  EXPECT_EQ(line("pad:backward"), "pad:backward pad_backward(grad:pad) -> grad:slice");
  EXPECT_EQ(line("slice:backward"), "slice:backward slice_backward(grad:slice) -> grad:gn");
  EXPECT_EQ(line("gn:backward"),
            "gn:backward group_norm_backward(grad:gn, lrn, gn.weight, gn.mean, gn.rstd) -> grad:lrn, "
            "grad:gn.weight, grad:gn.bias");
  EXPECT_EQ(line("lrn:backward"), "lrn:backward lrn_backward(grad:lrn, conv) -> grad:conv");
}

TEST(Differentiate, ASplitReadsTheGradientsThatThereAre) {
  GraphBuilder g("split");
  const ValueId x = nn::linear(g, "fc", g.input("x", {2, 3}), 6, false);
  const std::vector<ValueId> parts = nn::split(g, "split", x, 1, {2, 3, 1});
  const std::vector<ValueId> halves = nn::split(g, "halves", parts[1], 0, {1, 1});
  const ValueId both = nn::concat(g, "both", halves, 0);
  finish_with_loss(g, nn::concat(g, "cat", {parts[0], both}, 1));
  const Graph training = differentiate(g.finish());
  EXPECT_EQ(test::text(training, op(training, "halves:backward")),
            "halves:backward split_backward(grad:halves.0, grad:halves.1) -> grad:split.1");
  EXPECT_EQ(op(training, "halves:backward").attributes.count("output_gradients"), 0U);
  EXPECT_EQ(test::text(training, op(training, "split:backward")),
            "split:backward split_backward(grad:split.0, grad:split.1) -> grad:fc");
  EXPECT_EQ(op(training, "split:backward").attributes.at("output_gradients"),
            Attribute(std::vector<std::int64_t>{0, 1}));
}

TEST(Differentiate, AnOpaqueOperatorKeepsAllThatItReadsAndWrites) {
  GraphBuilder g("opaque");
  const ValueId table = g.parameter("table", {5, 2});
  const ValueId ids_in = g.input("ids", {3}, DType::int32);
  const ValueId scale = nn::linear(g, "scale", g.input("x", {3, 2}), 2, false);
  const std::vector<ValueId> made = nn::opaque(g, "magic", "com.acme.Magic", {ids_in, table, scale},
                                               {{{3, 2}}, {{3}}, {{3}, DType::int32}});
  finish_with_loss(g, nn::relu(g, "relu", made[0]));
  const Graph training = differentiate(g.finish());
  EXPECT_EQ(test::text(training, op(training, "magic:backward")),
            "magic:backward opaque_backward(grad:magic, ids, table, scale, magic, magic.1, magic.2) -> "
            "grad:table, grad:scale");
  EXPECT_FALSE(op(training, "magic:backward").recomputable);
  EXPECT_EQ(op(training, "magic:backward").attributes.at("gradients"),
            Attribute(std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(op(training, "magic:backward").attributes.at("output_gradients"),
            Attribute(std::vector<std::int64_t>{0}));
}

TEST(Differentiate, MeanSquaredErrorIsALoss) {
  GraphBuilder g("regression");
  const ValueId y = nn::linear(g, "fc", g.input("x", {2, 3}), 4, false);
  nn::mse_loss(g, "loss", y, g.input("targets", {2, 4}));
  const Graph training = differentiate(g.finish());
  EXPECT_EQ(test::text(training, op(training, "loss:backward")),
            "loss:backward mse_loss_backward(fc, targets) -> grad:fc");
}

TEST(Differentiate, ConcatHasOneBackwardOpForEachInputThatNeedsIt) {
  GraphBuilder g("concat");
  const ValueId x = g.input("x", {1, 3});
  const ValueId a = nn::linear(g, "a", x, 4, false);
  const ValueId b = nn::linear(g, "b", x, 2, false);
  finish_with_loss(g, nn::linear(g, "out", nn::concat(g, "cat", {a, x, b, a}, 1), 2, false));
  const Graph training = differentiate(g.finish());
  std::vector<std::string> lines;
  for (const Op& each : training.ops) {
    if (each.name.rfind("cat:", 0) == 0 || each.kind == "add") lines.push_back(test::text(training, each));
  }
  // The smallest first; nothing for x, twice for a.
  EXPECT_THAT(lines, ElementsAre("cat:backward_2 concat_backward(grad:cat) -> grad:b",
                                 "cat:backward_0 concat_backward(grad:cat) -> grad:a",
                                 "cat:backward_3 concat_backward(grad:cat) -> grad:a:2",
                                 "grad:a:accumulate add(grad:a, grad:a:2) -> grad:a:sum"));
  const Op& last = op(training, "cat:backward_3");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(last.attributes.at("gradients")),
            std::vector<std::int64_t>{3});
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(last.attributes.at("sizes")),
            (std::vector<std::int64_t>{4, 3, 2, 4}));
}

TEST(Differentiate, SharedParameterIsUpdatedOnceAfterItsLastReader) {
  // fc1 and fc2 have one weight. Batch 1: dx 16 bytes, dweight 64: input gradients first. fc2's weight
  // gradient waits for fc1's; the update comes after the sum.
  GraphBuilder g("shared");
  ValueId h = nn::linear(g, "fc0", g.input("x", {1, 3}), 4, false);
  h = nn::linear(g, "fc1", h, 4, false);
  h = nn::linear(g, "fc2", h, 4, false);
  finish_with_loss(g, h);
  Graph forward = g.finish();
  test::replace_input(forward, "fc2", 1, "fc1.weight");
  EXPECT_THAT(
      added_ops(differentiate(forward)),
      ElementsAre("loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:fc2",
                  "fc2:backward_input linear_backward_input(grad:fc2, fc1.weight) -> grad:fc1",
                  "fc2:backward_weight linear_backward_weight(grad:fc2, fc1) -> grad:fc1.weight",
                  "fc1:backward_input linear_backward_input(grad:fc1, fc1.weight) -> grad:fc0",
                  "fc1:backward_weight linear_backward_weight(grad:fc1, fc0) -> grad:fc1.weight:2",
                  "grad:fc1.weight:accumulate add(grad:fc1.weight, grad:fc1.weight:2) -> grad:fc1.weight:sum",
                  "fc1.weight:update sgd_update(fc1.weight, grad:fc1.weight:sum) ! fc1.weight",
                  "fc0:backward_weight linear_backward_weight(grad:fc0, x) -> grad:fc0.weight",
                  "fc0.weight:update sgd_update(fc0.weight, grad:fc0.weight) ! fc0.weight"));
}

TEST(Differentiate, TiedEmbeddingAndOutputLayer) {
  // The output layer's weight is a transposed-free view of the embedding's table: both gradients are (5, 4).
  GraphBuilder g("tied");
  const ValueId tokens = g.input("tokens", {2}, DType::int32);
  const ValueId h = nn::embedding(g, "embed", tokens, 5, 4);
  finish_with_loss(g, nn::linear(g, "out", h, 5, false));
  Graph forward = g.finish();
  test::replace_input(forward, "out", 1, "embed.weight");
  const Graph training = differentiate(forward);
  EXPECT_EQ(test::text(training, op(training, "embed:backward")),
            "embed:backward embedding_backward(grad:embed, tokens) -> grad:embed.weight:2");
  EXPECT_EQ(test::text(training, op(training, "embed.weight:update")),
            "embed.weight:update sgd_update(embed.weight, grad:embed.weight:sum) ! embed.weight");
  EXPECT_EQ(value(training, "grad:embed.weight:sum").persistence, Persistence::parameter_gradient);
}

TEST(Differentiate, FrozenPrefixShortensTheBackwardPass) {
  EXPECT_THAT(
      added_ops(differentiate(two_layers(2), training_only({"fc2.weight", "fc2.bias"}))),
      ElementsAre(
          "loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:fc2",
          "fc2:backward_weight linear_backward_weight(grad:fc2, relu) -> grad:fc2.weight, grad:fc2.bias",
          "fc2.weight:update sgd_update(fc2.weight, grad:fc2.weight) ! fc2.weight",
          "fc2.bias:update sgd_update(fc2.bias, grad:fc2.bias) ! fc2.bias"));
}

TEST(Differentiate, FrozenSuffixPassesGradientsOn) {
  const Graph training = differentiate(two_layers(2), training_only({"fc1.weight"}));
  EXPECT_THAT(
      added_ops(training),
      ElementsAre("loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:fc2",
                  "fc2:backward_input linear_backward_input(grad:fc2, fc2.weight) -> grad:relu",
                  "relu:backward relu_backward(grad:relu, relu) -> grad:fc1",
                  "fc1:backward_weight linear_backward_weight(grad:fc1, x) -> grad:fc1.weight",
                  "fc1.weight:update sgd_update(fc1.weight, grad:fc1.weight) ! fc1.weight"));
  // One of two gradients: the op says which.
  EXPECT_EQ(
      std::get<std::vector<std::int64_t>>(op(training, "fc1:backward_weight").attributes.at("gradients")),
      (std::vector<std::int64_t>{1}));
}

TEST(Differentiate, BiasesAloneNeedNoActivations) {
  EXPECT_THAT(
      added_ops(differentiate(two_layers(2), training_only({"fc1.bias", "fc2.bias"}))),
      ElementsAre("loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:fc2",
                  "fc2:backward_bias linear_backward_bias(grad:fc2) -> grad:fc2.bias",
                  "fc2.bias:update sgd_update(fc2.bias, grad:fc2.bias) ! fc2.bias",
                  "fc2:backward_input linear_backward_input(grad:fc2, fc2.weight) -> grad:relu",
                  "relu:backward relu_backward(grad:relu, relu) -> grad:fc1",
                  "fc1:backward_bias linear_backward_bias(grad:fc1) -> grad:fc1.bias",
                  "fc1.bias:update sgd_update(fc1.bias, grad:fc1.bias) ! fc1.bias"));
}

TEST(Differentiate, BatchNormWritesOnlyWantedGradients) {
  using Positions = std::vector<std::int64_t>;
  const Graph frozen = differentiate(small_conv_net(), training_only({"conv.weight"}));
  EXPECT_EQ(test::text(frozen, op(frozen, "bn:backward")),
            "bn:backward batch_norm_backward(grad:bn, conv, bn.weight, bn.mean, bn.invstd) -> grad:conv");
  EXPECT_EQ(std::get<Positions>(op(frozen, "bn:backward").attributes.at("gradients")), (Positions{0}));

  const Graph first = differentiate(small_conv_net(), training_only({"bn.weight", "bn.bias"}));
  EXPECT_EQ(
      test::text(first, op(first, "bn:backward")),
      "bn:backward batch_norm_backward(grad:bn, conv, bn.weight, bn.mean, bn.invstd) -> grad:bn.weight, "
      "grad:bn.bias");
  EXPECT_EQ(std::get<Positions>(op(first, "bn:backward").attributes.at("gradients")), (Positions{1, 2}));
}

TEST(Differentiate, ParametersThatDoNotReachTheLossStay) {
  GraphBuilder g("side");
  const ValueId x = g.input("x", {1, 3});
  nn::linear(g, "side", x, 4);
  finish_with_loss(g, nn::linear(g, "fc", x, 2));
  const Graph training = differentiate(g.finish());
  EXPECT_TRUE(find_op(training, "side").valid());
  EXPECT_TRUE(find_op(training, "fc.weight:update").valid());
  EXPECT_FALSE(find_op(training, "side.weight:update").valid());
}

/// Two heads of width 2 over (1, 3 tokens, 4), as multi-head attention has them: strided views, no copies.
Graph attention() {
  GraphBuilder g("attention");
  const ValueId x = g.input("x", {1, 3, 4});
  const ValueId q = nn::linear(g, "q", x, 4, false);
  const ValueId k = nn::linear(g, "k", x, 4, false);
  const ValueId v = nn::linear(g, "v", x, 4, false);
  const StridedShape split = reshaped(g.layout(q), {1, 3, 2, 2});
  const ValueId q_heads = g.view("q_heads", q, permuted(split, {0, 2, 1, 3}));  // (1, 2, 3, 2)
  const ValueId k_heads = g.view("k_heads", k, permuted(split, {0, 2, 3, 1}));  // (1, 2, 2, 3)
  const ValueId v_heads = g.view("v_heads", v, permuted(split, {0, 2, 1, 3}));  // (1, 2, 3, 2)
  const ValueId scores = nn::matmul(g, "scores", q_heads, k_heads, {.alpha = 0.5, .storage_order = {}});
  const ValueId p = nn::softmax(g, "p", scores);
  const ValueId context = nn::matmul(g, "context", p, v_heads, {.alpha = 1.0, .storage_order = {0, 2, 1, 3}});
  const ValueId merged =
      g.view("merged", context, reshaped(permuted(g.layout(context), {0, 2, 1, 3}), {1, 3, 4}));
  finish_with_loss(g, nn::linear(g, "out", nn::select(g, "first", merged, 0), 2));
  return g.finish();
}

TEST(Differentiate, AttentionOnViews) {
  // da = alpha dc bᵀ, db = alpha aᵀ dc. context: da is 1 x 2 x 3 x 3 floats, db 1 x 2 x 3 x 2, so db comes
  // first. scores: both 12 floats, so da comes first. q, k, v have one input, which is data: weight gradients
  // only.
  const Graph training = differentiate(attention());
  EXPECT_THAT(
      added_ops(training),
      ElementsAre(
          "loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:out",
          "out:backward_input linear_backward_input(grad:out, out.weight) -> grad:first",
          "out:backward_weight linear_backward_weight(grad:out, first) -> grad:out.weight, grad:out.bias",
          "out.weight:update sgd_update(out.weight, grad:out.weight) ! out.weight",
          "out.bias:update sgd_update(out.bias, grad:out.bias) ! out.bias",
          "first:backward select_backward(grad:first) -> grad:merged",
          "context:backward_b matmul(p:transposed, grad:context) -> grad:v_heads",
          "context:backward_a matmul(grad:context, v_heads:transposed) -> grad:p",
          "p:backward softmax_backward(grad:p, p) -> grad:scores",
          "scores:backward_a matmul(grad:scores, k_heads:transposed) -> grad:q_heads",
          "scores:backward_b matmul(q_heads:transposed, grad:scores) -> grad:k_heads",
          "v:backward_weight linear_backward_weight(grad:v, x) -> grad:v.weight",
          "v.weight:update sgd_update(v.weight, grad:v.weight) ! v.weight",
          "k:backward_weight linear_backward_weight(grad:k, x) -> grad:k.weight",
          "k.weight:update sgd_update(k.weight, grad:k.weight) ! k.weight",
          "q:backward_weight linear_backward_weight(grad:q, x) -> grad:q.weight",
          "q.weight:update sgd_update(q.weight, grad:q.weight) ! q.weight"));

  EXPECT_EQ(std::get<double>(op(training, "scores:backward_a").attributes.at("alpha")), 0.5);
  EXPECT_EQ(std::get<double>(op(training, "scores:backward_b").attributes.at("alpha")), 0.5);

  // p (1, 2, 3, 3) transposed: the last two strides change places, in the storage of p.
  EXPECT_EQ(value(training, "p:transposed").alias_of, find_value(training, "p"));
  EXPECT_EQ(value(training, "p:transposed").shape, (Shape{1, 2, 3, 3}));
  EXPECT_EQ(value(training, "p:transposed").strides, (Shape{18, 9, 1, 3}));
  // k_heads (1, 2, 2, 3) has strides (12, 2, 1, 4) in k; transposed (1, 2, 3, 2) with (12, 2, 4, 1).
  EXPECT_EQ(value(training, "k_heads:transposed").alias_of, find_value(training, "k"));
  EXPECT_EQ(value(training, "k_heads:transposed").shape, (Shape{1, 2, 3, 2}));
  EXPECT_EQ(value(training, "k_heads:transposed").strides, (Shape{12, 2, 4, 1}));

  // The gradient of k_heads is laid out as k_heads, so it is the gradient of k without a copy.
  EXPECT_EQ(value(training, "grad:k_heads").strides, value(training, "k_heads").strides);
  EXPECT_EQ(value(training, "grad:k").alias_of, find_value(training, "grad:k_heads"));
  EXPECT_EQ(value(training, "grad:k").shape, (Shape{1, 3, 4}));
  EXPECT_EQ(value(training, "grad:k").strides, Shape{});
  // context is stored (batch, token, head, channel); its gradient comes row-major from `merged` and is seen
  // that way.
  EXPECT_EQ(value(training, "grad:context").alias_of, find_value(training, "grad:merged"));
  EXPECT_EQ(value(training, "grad:context").strides, value(training, "context").strides);
}

TEST(Differentiate, MomentumKeepsVelocities) {
  const Graph training = differentiate(two_layers(2), {Optimizer::momentum, nullptr});
  const Op& update = op(training, "fc2.weight:update");
  EXPECT_EQ(
      test::text(training, update),
      "fc2.weight:update momentum_update(fc2.weight, grad:fc2.weight, fc2.weight.velocity) ! fc2.weight, "
      "fc2.weight.velocity");
  EXPECT_EQ(std::get<double>(update.attributes.at("learning_rate")), 0.01);
  EXPECT_EQ(std::get<double>(update.attributes.at("momentum")), 0.9);
  const Value& velocity = value(training, "fc2.weight.velocity");
  EXPECT_EQ(velocity.persistence, Persistence::optimizer_state);
  EXPECT_EQ(velocity.shape, (Shape{2, 4}));
  EXPECT_EQ(velocity.bytes, Bytes(32));
  EXPECT_FALSE(velocity.producer.valid());
}

TEST(Differentiate, AdamKeepsTwoMoments) {
  const Graph training = differentiate(two_layers(2), {Optimizer::adam, nullptr});
  const Op& update = op(training, "fc1.bias:update");
  EXPECT_EQ(test::text(training, update),
            "fc1.bias:update adam_update(fc1.bias, grad:fc1.bias, fc1.bias.exp_avg, fc1.bias.exp_avg_sq) ! "
            "fc1.bias, "
            "fc1.bias.exp_avg, fc1.bias.exp_avg_sq");
  EXPECT_EQ(std::get<double>(update.attributes.at("learning_rate")), 1e-3);
  EXPECT_EQ(std::get<double>(update.attributes.at("beta1")), 0.9);
  EXPECT_EQ(std::get<double>(update.attributes.at("beta2")), 0.999);
  EXPECT_EQ(std::get<double>(update.attributes.at("eps")), 1e-8);
  EXPECT_EQ(value(training, "fc1.bias.exp_avg").persistence, Persistence::optimizer_state);
}

TEST(Differentiate, AdamWHasADecay) {
  const Graph training = differentiate(two_layers(2), {Optimizer::adamw, nullptr});
  const Op& update = op(training, "fc1.bias:update");
  EXPECT_EQ(update.kind, "adamw_update");
  EXPECT_EQ(std::get<double>(update.attributes.at("weight_decay")), 0.01);
  EXPECT_EQ(std::get<double>(update.attributes.at("learning_rate")), 1e-3);
}

TEST(Differentiate, GradientsAreAccumulatedMeasuredAndClipped) {
  TrainingOptions options;
  options.accumulate = 4;
  options.clip_norm = 0.5;
  options.trainable = [](const std::string& name) { return name.starts_with("fc2"); };
  const Graph training = differentiate(two_layers(2), options);
  std::vector<std::string> seen;
  for (const Op& each : training.ops)
    if (each.name.find("fc2.weight") != std::string::npos || each.name == "clip_factor")
      seen.push_back(test::text(training, each));
  // Both gradients are measured before either updates.
  EXPECT_THAT(seen,
              testing::ElementsAre(
                  "fc2.weight:accumulate accumulate_gradient(grad:fc2.weight, fc2.weight.grad_sum) -> "
                  "grad:fc2.weight:mean ! fc2.weight.grad_sum",
                  "fc2.weight:squared_norm squared_norm(grad:fc2.weight:mean) -> fc2.weight:squared_norm",
                  "clip_factor clip_factor(fc2.bias:squared_norm) -> clip_factor",
                  "fc2.weight:clip mul(grad:fc2.weight:mean, clip_factor) -> grad:fc2.weight:clipped",
                  "fc2.weight:update sgd_update(fc2.weight, grad:fc2.weight:clipped) ! fc2.weight"));
  EXPECT_FALSE(op(training, "fc2.weight:accumulate").recomputable);
  EXPECT_EQ(op(training, "fc2.weight:update").attributes.at("every"), Attribute(std::int64_t{4}));
  const Value& sum = value(training, "fc2.weight.grad_sum");
  EXPECT_EQ(sum.persistence, Persistence::optimizer_state);
  EXPECT_EQ(sum.bytes, Bytes(32));
}

TEST(Differentiate, SgdHasARate) {
  const Graph training = differentiate(two_layers(2));
  EXPECT_EQ(op(training, "fc1.bias:update").attributes, (Attributes{{"learning_rate", 0.01}}));
}

TEST(Differentiate, EveryNetworkOfTheZoo) {
  for (const ZooEntry& entry : zoo()) {
    const Graph forward = build_network(entry.name);
    std::size_t parameters = 0;
    for (const Value& v : forward.values) {
      parameters += v.persistence == Persistence::parameter && !v.alias_of.valid() ? 1U : 0U;
    }
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam}) {
      const Graph training = differentiate(forward, {optimizer, nullptr});
      std::map<ValueId, int> updates;
      for (const Op& step : training.ops) {
        if (step.kind != "batch_norm_stats" && step.pass == Pass::update) ++updates[step.updates.front()];
      }
      EXPECT_EQ(updates.size(), parameters) << entry.name;  // all of them train
      for (const auto& update : updates) EXPECT_EQ(update.second, 1) << training.values[update.first].name;
    }
  }
}

TEST(GradientRules, OnePerKind) {
  const std::set<std::string> without_gradient = {"sign", "floor", "ceil", "round"};
  for (const GradientRule& rule : gradient_rules()) {
    EXPECT_EQ(find_gradient_rule(rule.kind), &rule) << rule.kind << " has two rules";
    EXPECT_EQ(rule.ops.empty(), without_gradient.count(rule.kind) == 1) << rule.kind;
  }
  EXPECT_EQ(find_gradient_rule("input"), nullptr);
}

Value tensor(Shape shape, Shape strides = {}) {
  Value v;
  v.shape = std::move(shape);
  v.strides = std::move(strides);
  return v;
}

TEST(ViewedBack, SameLayoutIsTheStoragesLayout) {
  // A (2, 3) storage viewed transposed, the gradient laid out alike.
  EXPECT_EQ(viewed_back(tensor({3, 2}, {1, 3}), tensor({3, 2}, {1, 3}), tensor({2, 3})),
            (StridedShape{{2, 3}, {}}));
}

TEST(ViewedBack, RowMajorGradientOfATransposedView) {
  // Element (i, j) of the storage is element (j, i) of the view, 2 j + i in the gradient's buffer.
  EXPECT_EQ(viewed_back(tensor({3, 2}), tensor({3, 2}, {1, 3}), tensor({2, 3})),
            (StridedShape{{2, 3}, {1, 2}}));
}

TEST(ViewedBack, SplitAxes) {
  // Storage (2, 6) as (2, 2, 3) as (2, 2, 3) permuted to (2, 2, 3) -> (head 2, row 2, 3); row-major gradient.
  // An axis of 6 lies in two pieces, 6 elements apart: no strides show that.
  EXPECT_EQ(viewed_back(tensor({2, 2, 3}), tensor({2, 2, 3}, {3, 6, 1}), tensor({2, 6})), std::nullopt);
  // The same storage as (2, 2, 3): each axis on its own.
  EXPECT_EQ(viewed_back(tensor({2, 2, 3}), tensor({2, 2, 3}, {3, 6, 1}), tensor({2, 2, 3})),
            (StridedShape{{2, 2, 3}, {3, 6, 1}}));
}

TEST(ViewedBack, NeedsEveryElementOnce) {
  EXPECT_EQ(viewed_back(tensor({2}), tensor({2}), tensor({4})), std::nullopt);                // a part
  EXPECT_EQ(viewed_back(tensor({2, 2}), tensor({2, 2}, {0, 1}), tensor({4})), std::nullopt);  // repeated
  EXPECT_EQ(viewed_back(tensor({4}), tensor({4}, {2}), tensor({4})), std::nullopt);           // gaps
}

}  // namespace
}  // namespace poet
