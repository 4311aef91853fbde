// The independent check of the gradient rules: training graphs run in float64 by naive kernels, every
// parameter's gradient against finite differences of the loss of the forward graph.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/autodiff/gradient_rules.h"
#include "poet/graph/builder.h"
#include "tests/support/random_network.h"
#include "tests/support/reference_kernels.h"

namespace poet {
namespace {

using reference::Interpreter;
using test::find_op;
using test::find_value;
using Data = std::map<ValueId, std::vector<double>>;

/// Values of everything that no op computes: normal, or integers below `classes`.
Data random_data(const Graph& graph, std::uint64_t seed, int classes) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0.0, 0.7);
  Data data;
  std::set<ValueId> moving;  // what is not constant from step to step and no parameter: starts at zero
  for (const Op& op : graph.ops) {
    for (const ValueId v : op.updates) {
      if (graph.values[v].persistence == Persistence::optimizer_state) moving.insert(v);
    }
  }
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (value.alias_of.valid()) continue;
    if (!is_persistent(value.persistence) && value.persistence != Persistence::input) continue;
    std::vector<double>& numbers = data[v];
    for (std::int64_t i = 0; i < element_count(value.shape); ++i) {
      const bool is_state = moving.count(v) == 1;
      const double drawn = value.dtype == DType::float32
                               ? normal(random)
                               : static_cast<double>(random() % static_cast<unsigned>(classes));
      numbers.push_back(is_state ? 0.0 : drawn);
    }
  }
  return data;
}

double loss(const Graph& forward, const Data& data) {
  Interpreter run(forward);
  for (const auto& entry : data) run.set(entry.first, entry.second);
  run.run();
  return run.get(forward.ops[find_op(forward, "loss")].outputs.front()).data.front();
}

/// Compares every gradient that an update reads with the central difference of the loss. With double
/// precision and a step of 1e-5 the difference is good to some 1e-9 where the loss is smooth; kinks of relu
/// and max are a set of measure zero.
void expect_true_gradients(const Graph& forward, const TrainingOptions& options, std::uint64_t seed,
                           std::set<std::string>* kinds = nullptr) {
  const Graph training = differentiate(forward, options);
  const Data data = random_data(training, seed, 3);
  Data of_forward;
  for (const auto& entry : data) {
    if (forward.values.contains(entry.first)) of_forward.insert(entry);
  }
  Interpreter run(training);
  for (const auto& entry : data) run.set(entry.first, entry.second);
  run.run();

  int checked = 0;
  for (const OpId id : ids<OpId>(training.ops.size())) {
    const Op& op = training.ops[id];
    if (kinds != nullptr) kinds->insert(op.kind);
    if (op.pass != Pass::update || op.kind == "batch_norm_stats") continue;
    const ValueId parameter = op.inputs.at(0);
    const reference::Array& gradient = run.input_at_run(id, 1);
    EXPECT_EQ(gradient.shape, training.values[parameter].shape);
    for (std::size_t i = 0; i < gradient.data.size(); ++i) {
      constexpr double step = 1e-5;
      Data moved = of_forward;
      moved[parameter][i] = of_forward[parameter][i] + step;
      const double above = loss(forward, moved);
      moved[parameter][i] = of_forward[parameter][i] - step;
      const double below = loss(forward, moved);
      const double slope = (above - below) / (2 * step);
      ASSERT_NEAR(gradient.data[i], slope, 1e-7 * std::max(1.0, std::abs(slope)))
          << forward.name << ", seed " << seed << ": " << training.values[parameter].name << "[" << i << "]";
      ++checked;
    }
  }
  EXPECT_GT(checked, 0);
}

/// Every operator of convolutional networks: strides, groups, dilation, overlapping pools, two residual
/// branches.
Graph conv_net() {
  GraphBuilder g("conv_net");
  ValueId h = g.input("image", {2, 2, 9, 9});
  h = g.conv2d("conv1", h,
               {.out_channels = 4, .kernel = {3, 3}, .stride = {1, 2}, .padding = {1, 0}, .bias = true});
  h = g.batch_norm("bn1", h);
  h = g.relu("relu1", h);
  h = g.max_pool2d("max", h, {.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 0}});
  ValueId r = g.conv2d(
      "conv2", h, {.out_channels = 4, .kernel = {3, 3}, .padding = {2, 2}, .dilation = {2, 2}, .groups = 2});
  r = g.batch_norm("bn2", r);
  const ValueId skip = g.conv2d("downsample", h, {.out_channels = 4, .bias = true});
  h = g.relu("relu2", g.add("residual", r, skip));
  h = g.avg_pool2d("avg", h, {.kernel = {2, 2}, .stride = {2, 1}, .padding = {1, 1}});
  h = g.dropout("drop", h, 0.3);
  h = g.global_avg_pool("pool", h);
  h = g.linear("fc", g.flatten("flat", h), 3);
  g.softmax_cross_entropy("loss", h, g.input("targets", {2}, DType::int32));
  return g.finish();
}

/// One encoder block: embeddings, two heads on strided views, both residual sums, pooler.
Graph transformer() {
  GraphBuilder g("tiny_transformer");
  const std::int64_t batch = 2;
  const std::int64_t tokens = 3;
  const ValueId ids_in = g.input("ids", {batch, tokens}, DType::int32);
  const ValueId words = g.embedding("words", ids_in, 5, 4);
  const ValueId types = g.embedding("types", g.input("type_ids", {batch, tokens}, DType::int32), 3, 4);
  ValueId x = g.layer_norm("norm0", g.add("sum0", words, types), 1e-3);
  const ValueId q = g.linear("q", x, 4);
  const ValueId k = g.linear("k", x, 4);
  const ValueId v = g.linear("v", x, 4);
  const StridedShape split = reshaped(g.layout(q), {batch, tokens, 2, 2});
  const ValueId scores =
      g.matmul("scores", g.view("q_heads", q, permuted(split, {0, 2, 1, 3})),
               g.view("k_heads", k, permuted(split, {0, 2, 3, 1})), {.alpha = 0.7, .storage_order = {}});
  const ValueId p = g.dropout("attention_drop", g.softmax("p", scores), 0.2);
  const ValueId context = g.matmul("context", p, g.view("v_heads", v, permuted(split, {0, 2, 1, 3})),
                                   {.alpha = 1.0, .storage_order = {0, 2, 1, 3}});
  ValueId h =
      g.view("merged", context, reshaped(permuted(g.layout(context), {0, 2, 1, 3}), {batch, tokens, 4}));
  x = g.layer_norm("norm1", g.add("sum1", g.linear("out", h, 4), x), 1e-3);
  h = g.linear("down", g.gelu("gelu", g.linear("up", x, 6)), 4);
  x = g.layer_norm("norm2", g.add("sum2", h, x), 1e-3);
  h = g.tanh("pooled", g.linear("pooler", g.select("first", x, 1), 4));
  g.softmax_cross_entropy("loss", g.linear("classifier", h, 3), g.input("targets", {batch}, DType::int32));
  return g.finish();
}

/// Uneven windows, normalisations within an image, and copies of elements, on views and on parts that do not
/// train.
Graph layout_net() {
  GraphBuilder g("layout_net");
  const ValueId image = g.input("image", {2, 2, 7, 6});
  ValueId h = g.conv2d("conv1", image,
                       {.out_channels = 4,
                        .kernel = {3, 3},
                        .stride = {2, 1},
                        .padding = {0, 1},
                        .bias = true,
                        .padding_end = {1, 2}});
  h = g.lrn("lrn1", h, {.size = 3, .alpha = 0.9, .beta = 0.75, .bias = 1.0});
  h = g.group_norm("gn", h, 2, 1e-2);
  h = g.lrn("lrn2", h, {.size = 2, .alpha = 0.5, .beta = 0.5, .bias = 2.0});
  h = g.max_pool2d("max", h,
                   {.kernel = {2, 2},
                    .stride = {1, 2},
                    .padding = {0, 1},
                    .dilation = {1, 2},
                    .padding_end = {1, 0},
                    .ceil_mode = true});
  EXPECT_EQ(g.shape(h), (Shape{2, 4, 3, 4}));
  ValueId a = g.avg_pool2d("avg_image", h,
                           {.kernel = {2, 3},
                            .stride = {2, 2},
                            .padding = {1, 0},
                            .padding_end = {0, 1},
                            .ceil_mode = true,
                            .count_include_pad = false});
  a = g.instance_norm("in", a, 1e-2);
  const ValueId b =
      g.avg_pool2d("avg", h, {.kernel = {2, 2}, .stride = {2, 3}, .padding = {0, 0}, .ceil_mode = true});
  const ValueId corner = g.slice("corner", image, {0, 0, 0, 0}, {2, 2, 2, 2});
  h = g.concat("cat", {a, corner, b, a}, 1);
  EXPECT_EQ(g.shape(h), (Shape{2, 14, 2, 2}));
  h = g.pad("pad", h, {0, 1, 0, 1}, {0, 0, 1, 0}, 0.5);
  h = g.slice("slice", h, {0, 0, 0, 0}, {2, 15, 3, 3}, {1, 3, 1, 2});
  const std::vector<ValueId> parts = g.split("split", h, 1, {2, 3});
  const ValueId turned = g.permute("turned", parts[1], {0, 2, 1, 3});
  const ValueId copied = g.transpose("copied", turned, {0, 1, 3, 2});
  const ValueId top = g.global_max_pool("top", parts[0]);
  h = g.concat("features", {g.flatten("flat1", top), g.flatten("flat2", copied)}, 1);
  g.softmax_cross_entropy("loss", g.linear("fc", h, 3), g.input("targets", {2}, DType::int32));
  return g.finish();
}

/// Arithmetic as files spell networks out: an activation gated by its channels' means, a layer norm and a
/// gelu in parts, operands that broadcast from either side, shared parameters and constants.
Graph arithmetic_net() {
  GraphBuilder g("arithmetic_net");
  const ValueId image = g.input("image", {2, 3, 4, 4});
  const ValueId one = g.constant("one", {});
  const ValueId row = g.parameter("row.weight", {1, 4});
  ValueId h = g.hardswish("hardswish", g.conv2d("conv", image, {.out_channels = 4, .bias = true}));
  ValueId gate = g.reduce_mean("squeeze", h, {3, 2});
  gate = g.hardsigmoid("gate", g.sub("shifted", gate, g.parameter("shift.bias", {4, 1, 1})), 0.3, 0.4);
  h = g.mul("excite", gate, h);
  h = g.leaky_relu("leaky", g.add("rows", h, row), 0.1);
  h = g.clip("relu6", g.scale("doubled", h, 2.0, 0.3), -0.6, 1.5);
  h = g.elu("elu", g.sub("minus", g.reshape("column", row, {4, 1}), h), 0.7);
  h = g.clip("floor", h, -0.5, std::numeric_limits<double>::infinity());
  h = g.reduce_sum("rows_summed", h, {2}, false);
  // (x - mean) / sqrt(var + eps), eps here sigmoid(row) + 1/2
  const ValueId centred = g.sub("centred", h, g.reduce_mean("mean", h, {2}));
  const ValueId variance = g.reduce_mean("variance", g.pow("squares", centred, 2), {2});
  const ValueId eps = g.scale("eps", g.sigmoid("positive", row), 1.0, 0.5);
  h = g.div("normal", centred, g.sqrt("deviation", g.add("with_eps", variance, eps)));
  h = g.mul("halves", h, g.add("one_more", g.erf("erf", g.mul("scaled", h, one)), one));
  h = g.log("log", g.add("softplus", g.exp("exp", g.neg("neg", h)), g.pow("tiny", g.exp("exp1", one), -1.5)));
  h = g.div("inverse", one, g.add("far_from_0", g.abs("abs", h), g.exp("exp2", row)));
  h = g.mul("square", h, h);
  h = g.sub("alike", h, g.tanh("tanh", h));
  h = g.div("last", h, g.exp("exp3", g.parameter("last.bias", {2, 4, 4})));
  const ValueId flat = g.flatten("flat", g.add("both", h, g.parameter("offset.bias", {2, 4, 4})));
  g.softmax_cross_entropy("loss", g.linear("fc", flat, 3), g.input("targets", {2}, DType::int32));
  return g.finish();
}

/// Windows over three axes, transposed convolutions, a pool with a window too long for indices of one byte.
Graph volume_net() {
  GraphBuilder g("volume_net");
  ValueId h = g.conv3d("conv0", g.input("volume", {2, 2, 4, 5, 4}), {.out_channels = 2});
  h = g.conv3d("conv1", h,
               {.out_channels = 4,
                .kernel = {3, 2, 3},
                .stride = {1, 2, 1},
                .padding = {1, 1, 0},
                .dilation = {1, 2, 1},
                .groups = 2,
                .bias = true,
                .padding_end = {1, 0, 2}});
  h = g.tanh("tanh", h);
  EXPECT_EQ(g.shape(h), (Shape{2, 4, 4, 2, 4}));
  const ValueId most = g.max_pool3d(
      "max", h, {.kernel = {2, 1, 2}, .stride = {1, 1, 2}, .padding = {1, 0, 0}, .ceil_mode = true});
  const ValueId mean = g.avg_pool3d("avg", h,
                                    {.kernel = {3, 2, 2},
                                     .stride = {2, 1, 3},
                                     .padding = {1, 0, 0},
                                     .ceil_mode = true,
                                     .count_include_pad = false});
  EXPECT_EQ(g.shape(mean), (Shape{2, 4, 3, 1, 2}));
  const ValueId up = g.conv_transpose3d("up", mean,
                                        {.out_channels = 4,
                                         .kernel = {2, 2, 1},
                                         .stride = {2, 1, 1},
                                         .padding = {1, 0, 0},
                                         .groups = 2,
                                         .bias = true,
                                         .padding_end = {0, 0, 0}});
  h = g.add("sum", most, up);
  const ValueId top = g.flatten("top.flat", g.global_max_pool("top", h));
  const ValueId middle = g.flatten("middle.flat", g.global_avg_pool("middle", h));
  h = g.conv_transpose2d("grow", g.reshape("plane", h, {2, 4, 5, 4}),
                         {.out_channels = 2,
                          .kernel = {3, 2},
                          .stride = {2, 1},
                          .padding = {1, 0},
                          .dilation = {1, 2},
                          .groups = 2,
                          .bias = true,
                          .output_padding = {1, 0}});
  EXPECT_EQ(g.shape(h), (Shape{2, 2, 10, 6}));
  h = g.pad("long", g.reshape("line", h, {2, 1, 1, 120}), {0, 0, 0, 70}, {0, 0, 0, 70}, -0.2);
  h = g.max_pool2d("longest", h, {.kernel = {1, 257}, .stride = {1, 41}, .padding = {0, 60}});
  h = g.concat("features", {top, middle, g.flatten("longest.flat", h)}, 1);
  g.softmax_cross_entropy("loss", g.linear("fc", h, 3), g.input("targets", {2}, DType::int32));
  return g.finish();
}

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

TEST(AutodiffGradient, VolumeNet) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) expect_true_gradients(volume_net(), {}, seed);
}

TEST(AutodiffGradient, OperandsThatBroadcastSumTheirGradientsAndOthersShareThem) {
  // x (2,2) and b (2): d(x + b) reaches x uncopied and b as the sum of its rows; a (2,2) in a - a * c reads c
  // alone, never a.
  GraphBuilder g("broadcast");
  const ValueId x = g.linear("x", g.input("in", {2, 2}), 2, false);
  const ValueId a = g.add("a", x, g.parameter("b", {2}));
  const ValueId s = g.sub("s", a, g.mul("m", a, g.constant("c", {2, 1})));
  g.softmax_cross_entropy("loss", s, g.input("targets", {2}, DType::int32));
  const Graph training = differentiate(g.finish());
  EXPECT_EQ(test::added_ops(training),
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
    const TrainingOptions some{Optimizer::sgd, test::RandomNetwork::some_trainable(seed)};
    expect_true_gradients(test::RandomNetwork(seed).build(), seed % 2 == 0 ? TrainingOptions{} : some, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(AutodiffGradient, SumOfAViewLaidOutOtherwise) {
  // The gradient of `sum` is row-major, its operand a transposed view: seen back in h's shape it has strides.
  GraphBuilder g("strided_sum");
  const ValueId h = g.linear("fc", g.input("x", {2, 3}), 4);
  g.permute("h_view", h, {1, 0});
  const ValueId other = g.reshape("other_view", g.linear("other", g.input("y", {2, 3}), 4), {4, 2});
  const ValueId sum = g.add("sum", other, other);
  g.softmax_cross_entropy("loss", g.linear("head", g.relu("relu", sum), 3),
                          g.input("targets", {4}, DType::int32));
  Graph forward = g.finish();
  test::replace_input(forward, "sum", 0, "h_view");
  const Graph training = differentiate(forward);
  EXPECT_EQ(training.values[find_value(training, "grad:fc")].strides, (Shape{1, 2}));
  expect_true_gradients(forward, {}, 6);
}

TEST(AutodiffGradient, EveryKindIsCovered) {
  std::set<std::string> seen;
  for (const Graph& network : {conv_net(), transformer(), layout_net(), arithmetic_net(), volume_net()}) {
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam}) {
      expect_true_gradients(network, {optimizer, nullptr}, 5, &seen);
    }
    expect_true_gradients(network, {Optimizer::sgd, ending_in(".bias")}, 5, &seen);
  }
  for (const std::string& kind : reference::kernel_kinds()) EXPECT_EQ(seen.count(kind), 1U) << kind;
  for (const GradientRule& rule : gradient_rules()) {
    EXPECT_EQ(seen.count(rule.kind), 1U) << rule.kind;
    for (const BackwardOp& op : rule.ops) {
      EXPECT_TRUE(op.kind.empty() || seen.count(op.kind) == 1) << op.kind;
    }
  }
}

/// fc (1 -> 2, no bias) on x = 3: logits (3a, 3b).
Graph two_weights() {
  GraphBuilder g("two_weights");
  const ValueId h = g.linear("fc", g.input("x", {1, 1}), 2, false);
  g.softmax_cross_entropy("loss", h, g.input("targets", {1}, DType::int32));
  return g.finish();
}

TEST(AutodiffUpdate, StepsByHand) {
  // a = b = 0: probabilities 1/2 each, target 0: dlogits (-1/2, 1/2), dweight (-3/2, 3/2).
  const auto after = [](Optimizer optimizer, int steps) {
    const Graph training = differentiate(two_weights(), {optimizer, nullptr});
    Interpreter run(training);
    for (const auto& entry : random_data(training, 0, 1)) run.set(entry.first, entry.second);
    run.set(find_value(training, "x"), {3.0});
    run.set(find_value(training, "fc.weight"), {0.0, 0.0});
    for (int step = 1; step <= steps; ++step) run.run(step);
    return run.get(find_value(training, "fc.weight")).data;
  };
  EXPECT_NEAR(after(Optimizer::sgd, 1)[0], 0.015, 1e-12);       // 0.01 x 1.5
  EXPECT_NEAR(after(Optimizer::momentum, 1)[0], 0.015, 1e-12);  // the velocity starts at zero
  EXPECT_NEAR(after(Optimizer::adam, 1)[0], 1e-3,
              1e-10);  // the first step is the rate, whatever the gradient
  // Second step, logits (0.045, -0.045): p0 = 1 / (1 + exp(-0.09)), dweight0 = 3 (p0 - 1).
  const double slope = 3.0 * (1.0 / (1.0 + std::exp(-0.09)) - 1.0);
  EXPECT_NEAR(after(Optimizer::sgd, 2)[0], 0.015 - 0.01 * slope, 1e-12);
  EXPECT_NEAR(after(Optimizer::momentum, 2)[0], 0.015 - 0.01 * (0.9 * -1.5 + slope), 1e-12);
}

TEST(AutodiffUpdate, RunningStatisticsMoveOnce) {
  // One channel, values 1 and 3: mean 2, unbiased variance ((1-2)² + (3-2)²) / 1 = 2. Momentum 0.1 from 0 and
  // 0.
  GraphBuilder g("stats");
  const ValueId h = g.linear("fc", g.batch_norm("bn", g.input("x", {2, 1})), 2, false);
  g.softmax_cross_entropy("loss", h, g.input("targets", {2}, DType::int32));
  const Graph training = differentiate(g.finish());
  Interpreter run(training);
  for (const auto& entry : random_data(training, 0, 2)) run.set(entry.first, entry.second);
  run.set(find_value(training, "x"), {1.0, 3.0});
  run.run();
  EXPECT_NEAR(run.get(find_value(training, "bn.running_mean")).data[0], 0.2, 1e-12);
  EXPECT_NEAR(run.get(find_value(training, "bn.running_var")).data[0], 0.2, 1e-9);
}

/// What a graph of one float input `x` computes.
std::vector<double> computed(GraphBuilder& g, ValueId x, const std::vector<double>& data, ValueId y) {
  const Graph graph = g.finish();
  Interpreter run(graph);
  run.set(x, data);
  run.run();
  return run.get(y).data;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& wanted) {
  ASSERT_EQ(actual.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(actual[i], wanted[i], 1e-12) << i;
}

// The kernels themselves, by hand: the differences above would not notice a backward and a forward kernel
// that are wrong alike.
TEST(ReferenceKernels, UnevenWindowsByHand) {
  const std::vector<double> row = {1, 2, 3, 4, 5};
  const auto average = [&row](bool ceil, bool include) {
    GraphBuilder g("avg");
    const ValueId x = g.input("x", {1, 1, 1, 5});
    const ValueId y = g.avg_pool2d("y", x,
                                   {.kernel = {1, 4},
                                    .stride = {1, 3},
                                    .padding = {0, 2},
                                    .padding_end = {0, 1},
                                    .ceil_mode = ceil,
                                    .count_include_pad = include});
    return computed(g, x, row, y);
  };
  // Windows of 4 every 3 over (0, 0, 1, 2, 3, 4, 5, 0): 0 0 1 2 and 2 3 4 5; rounded up one more: 5, padding
  // and two places outside of the padded row, which never count.
  expect_near(average(false, true), {3.0 / 4, 14.0 / 4});
  expect_near(average(false, false), {3.0 / 2, 14.0 / 4});
  expect_near(average(true, true), {3.0 / 4, 14.0 / 4, 5.0 / 2});
  expect_near(average(true, false), {3.0 / 2, 14.0 / 4, 5.0});

  GraphBuilder g("max");
  const ValueId x = g.input("x", {1, 1, 1, 5});
  const ValueId y =
      g.max_pool2d("y", x, {.kernel = {1, 2}, .stride = {1, 1}, .padding = {0, 1}, .dilation = {1, 2}});
  // Places (-1, 1), (0, 2), (1, 3), (2, 4), (3, 5).
  expect_near(computed(g, x, {5, 1, 3, 4, 2}, y), {1, 5, 4, 3, 4});
}

TEST(ReferenceKernels, TransposedConvolutionByHand) {
  GraphBuilder g("grow");
  const ValueId x = g.input("x", {1, 2, 1, 3});
  const ValueId y = g.conv_transpose2d("y", x,
                                       {.out_channels = 2,
                                        .kernel = {1, 3},
                                        .stride = {1, 2},
                                        .padding = {0, 1},
                                        .groups = 2,
                                        .bias = true,
                                        .output_padding = {0, 1}});
  const Graph graph = g.finish();
  Interpreter run(graph);
  run.set(x, {1, 2, 3, 1, 0, 0});
  run.set(find_value(graph, "y.weight"), {1, 10, 100, 1, 1, 1});
  run.set(find_value(graph, "y.bias"), {0.5, 0});
  run.run();
  // 1 10 100 . . . ., then 2 20 200 two places on, 3 30 300 four; the first place is padding, the one behind
  // the last would be, too, but for the output padding.
  expect_near(run.get(y).data, {10.5, 102.5, 20.5, 203.5, 30.5, 300.5, 1, 1, 0, 0, 0, 0});
}

TEST(ReferenceKernels, VolumesByHand) {
  GraphBuilder g("volume");
  const ValueId x = g.input("x", {1, 1, 2, 2, 2});
  const ValueId conv = g.conv3d("conv", x, {.kernel = {2, 1, 2}});
  const ValueId max = g.max_pool3d("max", x, {.kernel = {2, 2, 1}});
  const ValueId avg = g.avg_pool3d("avg", x, {.kernel = {1, 2, 2}});
  const Graph graph = g.finish();
  Interpreter run(graph);
  run.set(x, {1, 2, 3, 4, 5, 6, 8, 7});
  run.set(find_value(graph, "conv.weight"), {1, 10, 100, 1000});
  run.run();
  // Depth, then width: rows 1 2 and 5 6, rows 3 4 and 8 7.
  expect_near(run.get(conv).data, {1 + 20 + 500 + 6000, 3 + 40 + 800 + 7000});
  expect_near(run.get(max).data, {8, 7});
  expect_near(run.get(avg).data, {10.0 / 4, 26.0 / 4});
}

TEST(ReferenceKernels, NormsByHand) {
  // Channels 1, 2, 3; windows of 2 go one channel further: sums of squares 5, 13, 9; alpha / size = 0.5.
  GraphBuilder g("lrn");
  const ValueId x = g.input("x", {1, 3});
  const ValueId y = g.lrn("y", x, {.size = 2, .alpha = 1.0, .beta = 2.0, .bias = 0.5});
  expect_near(computed(g, x, {1, 2, 3}, y), {1.0 / 9, 2.0 / 49, 3.0 / 25});
}

TEST(ReferenceKernels, ArithmeticByHand) {
  GraphBuilder g("arithmetic");
  const ValueId x = g.input("x", {2, 2});
  const ValueId column = g.reduce_sum("column", x, {1});          // 3 / 7
  const ValueId row = g.reduce_mean("row", x, {0}, false);        // 2 3
  const ValueId outer = g.sub("outer", column, row);              // 1 0 / 5 4
  const ValueId ratio = g.div("ratio", x, row);                   // 1/2 2/3 / 3/2 4/3
  const ValueId product = g.mul("product", ratio, outer);         // 1/2 0 / 15/2 16/3
  const ValueId y = g.clip("y", g.add("sum", product, x), 2, 8);  // 3/2 2 / 21/2 28/3, clipped
  expect_near(computed(g, x, {1, 2, 3, 4}, y), {2, 2, 8, 8});
  GraphBuilder h("functions");
  const ValueId z = h.input("z", {4});
  const ValueId w = h.hardswish("w", h.hardsigmoid("s", h.leaky_relu("l", z, 0.5), 0.25, 0.5));
  // leaky -1 -4 1 8; hardsigmoid 1/4 0 3/4 1; x (x + 3) / 6
  expect_near(computed(h, z, {-2, -8, 1, 8}, w), {0.25 * 3.25 / 6, 0.0, 0.75 * 3.75 / 6, 4.0 / 6});
}

TEST(ReferenceKernels, CopiesByHand) {
  GraphBuilder g("copies");
  const ValueId x = g.input("x", {2, 3});
  const ValueId padded = g.pad("padded", x, {1, 0}, {0, 1}, 9);          // 9 9 9 9 / 1 2 3 9 / 4 5 6 9
  const ValueId turned = g.permute("turned", padded, {1, 0});            // 9 1 4 / 9 2 5 / 9 3 6 / 9 9 9
  const ValueId copied = g.transpose("copied", turned, {0, 1});          // the same, row-major
  const ValueId some = g.slice("some", copied, {0, 1}, {4, 3}, {2, 1});  // 1 4 / 3 6
  const ValueId y = g.concat("y", {some, some, x}, 1);
  expect_near(computed(g, x, {1, 2, 3, 4, 5, 6}, y), {1, 4, 1, 4, 1, 2, 3, 3, 6, 3, 6, 4, 5, 6});
}

}  // namespace
}  // namespace poet
