// The independent check of the gradient rules: training graphs run in float64 by naive kernels, every
// parameter's gradient against finite differences of the loss of the forward graph.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/autodiff/gradient_rules.h"
#include "poet/graph/nn.h"
#include "tests/support/gradient_check.h"
#include "tests/support/gradient_nets.h"
#include "tests/support/random_network.h"
#include "tests/support/reference_kernels.h"

namespace poet::test {
namespace {

std::function<bool(const std::string&)> ending_in(const std::string& suffix) {
  return [suffix](const std::string& name) {
    return name.size() >= suffix.size() &&
           name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
  };
}

TEST(AutodiffGradient, ConvNet) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) expect_true_gradients(conv_net(), {}, seed);
}

TEST(AutodiffGradient, Transformer) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) expect_true_gradients(transformer(), {}, seed);
}

TEST(AutodiffGradient, LayoutNet) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) expect_true_gradients(layout_net(), {}, seed);
}

TEST(AutodiffGradient, ArithmeticNet) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) expect_true_gradients(arithmetic_net(), {}, seed);
}

TEST(AutodiffGradient, IntegersNet) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) expect_true_gradients(integers_net(), {}, seed);
}

TEST(AutodiffGradient, IntegersNeedNoGradientAndStopIt) {
  // x -> int -> real again: nothing flows back through either cast, nor to a float that came from a mask.
  GraphBuilder g("stop");
  const ValueId x = nn::linear(g, "fc", g.input("in", {2, 2}), 2, false);
  const ValueId whole = nn::cast(g, "whole", x, DType::int32);
  const ValueId real = nn::cast(g, "real", whole, DType::float32);
  const ValueId mask = nn::cast(g, "mask", g.input("m", {2, 2}, DType::uint8), DType::float32);
  const ValueId y = nn::mul(g, "y", nn::add(g, "sum", x, real), nn::scale(g, "inverse", mask, -1.0, 1.0));
  nn::softmax_cross_entropy(g, "loss", y, g.input("targets", {2}, DType::int32));
  const Graph training = differentiate(g.finish());
  EXPECT_EQ(added_ops(training),
            (std::vector<std::string>{
                "loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:y",
                "y:backward_a mul_backward(grad:y, inverse) -> grad:sum",
                "fc:backward_weight linear_backward_weight(grad:sum, in) -> grad:fc.weight",
                "fc.weight:update sgd_update(fc.weight, grad:fc.weight) ! fc.weight",
            }));
}

TEST(AutodiffGradient, AChoiceReadsItsConditionAlone) {
  GraphBuilder g("choice");
  const ValueId x = nn::linear(g, "fc", g.input("in", {2, 2}), 2, false);
  const ValueId c = g.input("c", {2, 1}, DType::uint8);
  const ValueId y = nn::where(g, "y", c, x, g.parameter("b", {2}));
  nn::softmax_cross_entropy(g, "loss", y, g.input("targets", {2}, DType::int32));
  const Graph training = differentiate(g.finish());
  EXPECT_EQ(added_ops(training),
            (std::vector<std::string>{
                "loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:y",
                "y:backward_b where_backward_b(grad:y, c) -> grad:b",
                "b:update sgd_update(b, grad:b) ! b",
                "y:backward_a where_backward_a(grad:y, c) -> grad:fc",
                "fc:backward_weight linear_backward_weight(grad:fc, in) -> grad:fc.weight",
                "fc.weight:update sgd_update(fc.weight, grad:fc.weight) ! fc.weight",
            }));
}

// Filters and scales that the step computes, as weight normalisation does.
TEST(AutodiffGradient, ComputedWeights) {
  GraphBuilder g("computed");
  const ValueId v = g.parameter("v.weight", {3, 2, 2, 2});
  g.bind("conv.weight", nn::mul(g, "w", v, nn::unary(g, "exp", "e", g.parameter("g.weight", {3, 1, 1, 1}))));
  g.bind("norm.weight",
         nn::reshape(g, "flat", nn::scale(g, "twice", g.parameter("s.weight", {3, 1}), 2.0), {3}));
  const ValueId h = nn::conv2d(g, "conv", g.input("x", {2, 2, 4, 4}), {.out_channels = 3, .kernel = {2, 2}});
  nn::mse_loss(g, "loss", nn::group_norm(g, "norm", h, 1, 1e-2), g.input("targets", {2, 3, 3, 3}));
  const Graph forward = g.finish();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) expect_true_gradients(forward, {}, seed);
}

TEST(AutodiffGradient, ResizeNet) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) expect_true_gradients(resize_net(), {}, seed);
  for (const char* suffix : {".bias", "slope.weight", "conv.weight", "v.weight", "w.weight"}) {
    expect_true_gradients(resize_net(), {Optimizer::sgd, ending_in(suffix)}, 4);
  }
}

TEST(AutodiffGradient, RecurrentLayers) {
  for (const RecurrentCase& each : recurrent_cases()) {
    expect_true_gradients(recurrent_net(each), {}, 7);
    if (HasFatalFailure()) return;
  }
}

// Frozen parts: operands that only their gradients need are not read.
TEST(AutodiffGradient, RecurrentLayersInParts) {
  for (const RecurrentCase& each : recurrent_cases()) {
    for (const char* suffix : {"weight_ih", "weight_hh", "layer.bias", "embed.weight", "h0", "c0.weight"}) {
      if ((std::string(suffix) == "layer.bias" && !each.bias) ||
          (std::string(suffix) == "h0" && !each.states) ||
          (std::string(suffix) == "c0.weight" && (!each.states || each.kind != "lstm"))) {
        continue;
      }
      expect_true_gradients(recurrent_net(each), {Optimizer::sgd, ending_in(suffix)}, 8);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(AutodiffGradient, VolumeNet) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) expect_true_gradients(volume_net(), {}, seed);
}

TEST(AutodiffGradient, OperandsThatBroadcastSumTheirGradientsAndOthersShareThem) {
  // x (2,2) and b (2): d(x + b) reaches x uncopied and b as the sum of its rows; a (2,2) in a - a * c reads c
  // alone, never a.
  GraphBuilder g("broadcast");
  const ValueId x = nn::linear(g, "x", g.input("in", {2, 2}), 2, false);
  const ValueId a = nn::add(g, "a", x, g.parameter("b", {2}));
  const ValueId s = nn::sub(g, "s", a, nn::mul(g, "m", a, g.constant("c", {2, 1})));
  nn::softmax_cross_entropy(g, "loss", s, g.input("targets", {2}, DType::int32));
  const Graph training = differentiate(g.finish());
  EXPECT_EQ(added_ops(training),
            (std::vector<std::string>{
                "loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:s",
                "s:backward_b sub_backward_b(grad:s) -> grad:m",
                "m:backward_a mul_backward(grad:m, c) -> grad:a",
                "grad:a:accumulate add(grad:s, grad:a) -> grad:a:sum",
                "a:backward_b sum_to(grad:a:sum) -> grad:b",
                "b:update sgd_update(b, grad:b) ! b",
                "x:backward_weight linear_backward_weight(grad:a:sum, in) -> grad:x.weight",
                "x.weight:update sgd_update(x.weight, grad:x.weight) ! x.weight",
            }));
}

TEST(AutodiffGradient, PartsOfTheGradients) {
  for (const char* suffix : {".weight", ".bias", "row.weight", "shift.bias", "offset.bias", "conv.weight"}) {
    expect_true_gradients(arithmetic_net(), {Optimizer::sgd, ending_in(suffix)}, 4);
  }
  for (const char* suffix : {".weight", ".bias", "gn.bias", "in.weight", "conv1.weight", "gn.weight"}) {
    expect_true_gradients(layout_net(), {Optimizer::sgd, ending_in(suffix)}, 4);
  }
  for (const char* suffix : {".weight", ".bias", "bn2.bias", "conv1.weight", "bn1.weight", "conv1.bias"}) {
    expect_true_gradients(conv_net(), {Optimizer::sgd, ending_in(suffix)}, 4);
  }
  for (const char* suffix : {".weight", ".bias", "up.weight", "conv1.bias", "grow.weight", "up.bias"}) {
    expect_true_gradients(volume_net(), {Optimizer::sgd, ending_in(suffix)}, 4);
  }
  for (const char* suffix : {".weight", ".bias", "norm1.bias", "words.weight", "k.weight"}) {
    expect_true_gradients(transformer(), {Optimizer::sgd, ending_in(suffix)}, 4);
  }
}

TEST(AutodiffGradient, RandomNetworks) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const TrainingOptions some{Optimizer::sgd, RandomNetwork::some_trainable(seed)};
    expect_true_gradients(RandomNetwork(seed).build(), seed % 2 == 0 ? TrainingOptions{} : some, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(AutodiffGradient, SumOfAViewLaidOutOtherwise) {
  // The gradient of `sum` is row-major, its operand a transposed view: seen back in h's shape it has strides.
  GraphBuilder g("strided_sum");
  const ValueId h = nn::linear(g, "fc", g.input("x", {2, 3}), 4);
  nn::permute(g, "h_view", h, {1, 0});
  const ValueId other = nn::reshape(g, "other_view", nn::linear(g, "other", g.input("y", {2, 3}), 4), {4, 2});
  const ValueId sum = nn::add(g, "sum", other, other);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "head", nn::relu(g, "relu", sum), 3),
                            g.input("targets", {4}, DType::int32));
  Graph forward = g.finish();
  replace_input(forward, "sum", 0, "h_view");
  const Graph training = differentiate(forward);
  EXPECT_EQ(training.values[find_value(training, "grad:fc")].strides, (Shape{1, 2}));
  expect_true_gradients(forward, {}, 6);
}

TEST(AutodiffGradient, EveryKindIsCovered) {
  std::set<std::string> seen;
  for (const Graph& network : {conv_net(), transformer(), layout_net(), arithmetic_net(), integers_net(),
                               resize_net(), volume_net(), functions_net()}) {
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam}) {
      expect_true_gradients(network, {optimizer, nullptr}, 5, &seen);
    }
    expect_true_gradients(network, {Optimizer::sgd, ending_in(".bias")}, 5, &seen);
  }
  for (const RecurrentCase& each : recurrent_cases())
    expect_true_gradients(recurrent_net(each), {}, 5, &seen);
  for (const Graph& net : loss_nets()) {
    TrainingOptions options{Optimizer::adamw, nullptr};
    expect_true_gradients(net, options, 5, &seen);
    options.accumulate = 3;
    options.clip_norm = 1e9;  // which changes nothing
    expect_true_gradients(net, options, 6, &seen);
  }
  for (const std::string& kind : reference::kernel_kinds()) EXPECT_EQ(seen.count(kind), 1U) << kind;
  for (const GradientRule& rule : gradient_rules()) {
    if (rule.kind == "opaque") continue;  // nobody knows what it computes
    EXPECT_EQ(seen.count(rule.kind), 1U) << rule.kind;
    for (const BackwardOp& op : rule.ops) {
      EXPECT_TRUE(op.kind.empty() || seen.count(op.kind) == 1) << op.kind;
    }
  }
}

}  // namespace
}  // namespace poet::test
