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
#include "tests/support/function_rows.h"
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
  const ValueId transposed = g.permute("transposed", parts[1], {0, 2, 1, 3});
  const ValueId copied = g.transpose("copied", transposed, {0, 1, 3, 2});
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
  ValueId h = g.unary("hardswish", "hardswish", g.conv2d("conv", image, {.out_channels = 4, .bias = true}));
  ValueId gate = g.reduce("reduce_mean", "squeeze", h, {3, 2});
  gate = g.unary("hardsigmoid", "gate", g.sub("shifted", gate, g.parameter("shift.bias", {4, 1, 1})),
                 {{"alpha", 0.3}, {"beta", 0.4}});
  h = g.mul("excite", gate, h);
  h = g.unary("leaky_relu", "leaky", g.add("rows", h, row), {{"alpha", 0.1}});
  h = g.clip("relu6", g.scale("doubled", h, 2.0, 0.3), -0.6, 1.5);
  h = g.unary("elu", "elu", g.sub("minus", g.reshape("column", row, {4, 1}), h), {{"alpha", 0.7}});
  h = g.clip("floor", h, -0.5, std::numeric_limits<double>::infinity());
  h = g.reduce("reduce_sum", "rows_summed", h, {2}, false);
  // (x - mean) / sqrt(var + eps), eps here sigmoid(row) + 1/2
  const ValueId centred = g.sub("centred", h, g.reduce("reduce_mean", "mean", h, {2}));
  const ValueId variance =
      g.reduce("reduce_mean", "variance", g.unary("pow", "squares", centred, {{"exponent", 2.0}}), {2});
  const ValueId eps = g.scale("eps", g.unary("sigmoid", "positive", row), 1.0, 0.5);
  h = g.div("normal", centred, g.unary("sqrt", "deviation", g.add("with_eps", variance, eps)));
  h = g.mul("halves", h, g.add("one_more", g.unary("erf", "erf", g.mul("scaled", h, one)), one));
  h = g.unary("log", "log",
              g.add("softplus", g.unary("exp", "exp", g.neg("neg", h)),
                    g.unary("pow", "tiny", g.unary("exp", "exp1", one), {{"exponent", -1.5}})));
  h = g.div("inverse", one, g.add("far_from_0", g.unary("abs", "abs", h), g.unary("exp", "exp2", row)));
  h = g.mul("square", h, h);
  h = g.sub("alike", h, g.tanh("tanh", h));
  h = g.div("last", h, g.unary("exp", "exp3", g.parameter("last.bias", {2, 4, 4})));
  const ValueId flat = g.flatten("flat", g.add("both", h, g.parameter("offset.bias", {2, 4, 4})));
  g.mse_loss("loss", g.linear("fc", flat, 3), g.input("targets", {2, 3}));
  return g.finish();
}

/// Masks and positions that the step computes, choices between operands that broadcast, tables read by index.
Graph integers_net() {
  GraphBuilder g("integers_net");
  const std::int64_t batch = 2;
  const std::int64_t tokens = 3;
  const ValueId ids_in = g.input("ids", {batch, tokens}, DType::int32);
  const ValueId given = g.input("given_mask", {batch, tokens}, DType::uint8);
  const ValueId one = g.constant("one", {}, DType::int32);
  // Positions of what is not padding, as RoBERTa counts them, below 5.
  const ValueId is_padding = g.binary("equal", "is_padding", ids_in, one);
  const ValueId counted = g.cast("counted", g.unary("logical_not", "is_word", is_padding), DType::int32);
  ValueId positions = g.mul("positions", g.cumsum("running", counted, 1), counted);
  positions = g.unary("abs", "abs", g.neg("neg", g.add("shifted", positions, one)));
  const ValueId before = g.cumsum("before", counted, 1, true, true);
  positions = g.binary("mod", "mod", g.sub("difference", positions, before), g.scale("five", one, 0.0, 5.0));
  positions =
      g.binary("int_div", "half", g.scale("more", positions, 1.0, 9.0), g.scale("two", one, 0.0, 2.0));
  positions = g.binary("mod", "again", positions, g.scale("fives", one, 0.0, 5.0));
  ValueId h = g.gather("by_position", g.parameter("table.weight", {4, 5}), positions, 1);
  h = g.permute("rows_view", h, {1, 2, 0});
  h = g.linear("fc", g.transpose("rows", h, {0, 1, 2}), 4);
  // Attention scores with a mask that three conditions make, one of them of real numbers.
  const ValueId scores = g.matmul("scores", h, g.permute("transposed", h, {0, 2, 1}));
  const ValueId row = g.constant("row", {3}, DType::int32);
  const ValueId column = g.constant("column", {3, 1}, DType::int32);
  ValueId mask = g.binary("logical_or", "or", g.binary("less", "less", row, column),
                          g.binary("greater_or_equal", "ge", row, column));
  mask = g.binary("logical_and", "and", mask, g.reshape("given_row", given, {batch, 1, tokens}));
  mask = g.binary("logical_xor", "xor", mask,
                  g.binary("greater", "greater", scores, g.constant("threshold", {})));
  mask = g.binary("logical_or", "kept", mask, g.binary("less_or_equal", "le", row, column));
  const ValueId p = g.softmax("p", g.where("masked", mask, scores, g.constant("minus_many", {})));
  h = g.matmul("context", p, h);
  const ValueId present = g.reshape("given_column", given, {batch, tokens, 1});
  h = g.where("either", present, h, g.parameter("otherwise.bias", {4}));
  h = g.slice("narrow", h, {0, 0, 0}, {2, 3, 3});
  h = g.where("or_else", g.binary("equal", "same", row, column), g.parameter("first.bias", {3, 1}), h);
  // A stretched token in front of the others, and one token per sample, found by its id.
  const ValueId token = g.expand("token", g.parameter("token.bias", {1, 3}), {batch, 1, 3});
  h = g.concat("tokens", {token, h}, 1);
  h = g.cumsum("sums", g.cumsum("from_end", h, 2, true, true), 1);
  const ValueId last = g.argmax("last", ids_in, 1, false, true);
  const ValueId at = g.reshape("at", g.argmax("first", h, 2), {batch, 4, 1});
  ValueId picked = g.gather_elements("picked", h, at, 2);
  picked = g.mul("weighted", picked, g.cast("as_real", at, DType::float32));
  h = g.gather("some", g.add("sum", h, picked), last, 1);
  const ValueId whole = g.cast("whole", h, DType::int32);  // stops the gradient
  h = g.add("with_whole", h, g.cast("real_again", whole, DType::float32));
  g.softmax_cross_entropy("loss", g.linear("head", g.flatten("flat", h), 3),
                          g.input("targets", {batch}, DType::int32));
  return g.finish();
}

/// Images in other sizes and orders, with three kinds of resizing, and the activations between them; extremes
/// and stretched products at the end.
Graph resize_net() {
  GraphBuilder g("resize_net");
  const ValueId image = g.input("image", {2, 2, 4, 3});
  ValueId h = g.unary("silu", "silu", g.conv2d("conv", image, {.out_channels = 3, .bias = true}));
  ValueId up = g.resize("nearest", h, {7, 4}, {.coordinates = "asymmetric", .nearest = "floor"});
  up = g.unary("mish", "mish",
               g.resize("linear", up, {3, 5}, {.mode = "linear", .coordinates = "half_pixel"}));
  up = g.resize("cubic", up, {4, 3},
                {.mode = "cubic", .coordinates = "align_corners", .cubic_a = -0.5, .exclude_outside = true});
  h = g.prelu("prelu", g.add("skip", g.flip("flip", h, {2, 3}), up), g.parameter("slope.weight", {3, 1, 1}));
  ValueId row = g.flatten("row", h);
  row = g.unary("celu", "celu", g.unary("selu", "selu", row, {{"alpha", 1.7}, {"gamma", 1.1}}),
                {{"alpha", 0.8}});
  row = g.resize("line", g.reshape("line_in", row, {2, 3, 12}), {5},
                 {.mode = "linear", .coordinates = "pytorch_half_pixel", .scales = {0.45}});
  row =
      g.unary("softplus", "softplus", g.add("wave", g.unary("sin", "sin", row), g.unary("cos", "cos", row)));
  // Steps: 0 almost everywhere, so only what passes them by trains.
  ValueId steps = g.unary("sign", "sign",
                          g.unary("round", "round", g.unary("floor", "floor", g.unary("ceil", "ceil", row))));
  row = g.add("stepped", row, g.scale("little", steps, 0.25));
  row = g.log_softmax("log_softmax", g.unary("softsign", "softsign", row));
  row = g.add("extremes", g.reduce("reduce_max", "max", row, {1}), g.reduce("reduce_min", "min", row, {2}));
  // (2,3,5) by (5,4), (4,5) by the result, and both stretched.
  const ValueId w = g.parameter("w.weight", {5, 4});
  ValueId m = g.matmul("right", row, w, {.alpha = 0.5, .storage_order = {}});
  m = g.matmul("left", g.permute("wT", g.parameter("v.weight", {3, 4}), {1, 0}), m);
  m = g.matmul("both", g.reshape("a", m, {2, 1, 4, 4}), g.parameter("u.weight", {1, 2, 4, 3}));
  m = g.unary("thresholded_relu", "threshold", m, {{"alpha", 0.1}});
  g.softmax_cross_entropy("loss", g.linear("fc", g.flatten("flat", m), 3),
                          g.input("targets", {2}, DType::int32));
  return g.finish();
}

/// Every function of one element that has a slope.
Graph functions_net() {
  GraphBuilder g("functions_net");
  const ValueId x = g.linear("fc", g.input("x", {2, 3}), 4);
  const ValueId positive = g.scale("positive", g.unary("sigmoid", "of_positive", x), 1.0, 0.5);
  ValueId sum = x;
  for (const test::FunctionRow& row : test::function_rows()) {
    if (row.slope == nullptr) continue;
    const bool is_positive = row.domain == test::FunctionRow::Domain::positive;
    const ValueId y = g.unary(row.kind, row.kind, is_positive ? positive : x, row.attributes);
    sum = g.add(row.kind + std::string(".sum"), g.scale(row.kind + std::string(".part"), y, 0.1), sum);
  }
  g.mse_loss("loss", sum, g.input("targets", {2, 4}));
  return g.finish();
}

struct RecurrentCase {
  std::string kind;  // lstm, gru, rnn
  bool variant;      // linear before reset; relu; the loss reads an lstm's cells, without a bias nothing else
  Direction direction;
  bool bias;
  bool states;  // initial ones: h a parameter, c of a layer

  [[nodiscard]] std::string name() const {
    return kind + (variant ? "_variant_" : "_") + std::to_string(static_cast<int>(direction)) +
           (bias ? "_bias" : "") + (states ? "_states" : "");
  }
};

std::vector<RecurrentCase> recurrent_cases() {
  std::vector<RecurrentCase> cases;
  for (const char* kind : {"lstm", "gru", "rnn"}) {
    for (const Direction direction : {Direction::forward, Direction::reverse, Direction::bidirectional}) {
      for (const int bits : {0, 1, 2, 3, 4, 5, 6, 7}) {
        const bool variant = (bits & 4) != 0;
        cases.push_back({kind, variant, direction, (bits & 1) != 0, (bits & 2) != 0});
      }
    }
  }
  return cases;
}

/// Three steps, two samples: the loss reads the states of every step, and the last ones once more.
Graph recurrent_net(const RecurrentCase& wanted) {
  GraphBuilder g(wanted.name());
  const std::int64_t directions = wanted.direction == Direction::bidirectional ? 2 : 1;
  const ValueId x = g.linear("embed", g.input("x", {3, 2, 2}), 2);
  RecurrentOptions options;
  options.hidden_size = 3;
  options.direction = wanted.direction;
  options.bias = wanted.bias;
  if (wanted.states) {
    options.initial_h = g.parameter("h0", {directions, 2, 3});
    if (wanted.kind == "lstm") options.initial_c = g.linear("c0", g.input("start", {directions, 2, 1}), 3);
  }
  ValueId y;
  ValueId cells;
  if (wanted.kind == "lstm") {
    const LstmOutputs out = g.lstm("layer", x, options);
    y = out.y;
    if (wanted.variant) cells = out.cells;
  }
  if (wanted.kind == "gru") y = g.gru("layer", x, options, wanted.variant);
  if (wanted.kind == "rnn") y = g.rnn("layer", x, options, wanted.variant);
  const auto with_last = [&](const std::string& name, ValueId states) {
    return g.mul(name + ".both", states, g.last_step(name + ".last", states, wanted.direction));
  };
  ValueId h;
  if (!cells.valid() || wanted.bias) h = with_last("y", y);
  if (cells.valid()) h = h.valid() ? g.add("sum", h, with_last("cells", cells)) : with_last("cells", cells);
  g.softmax_cross_entropy("loss", g.reshape("rows", h, {6 * directions, 3}),
                          g.input("targets", {6 * directions}, DType::int32));
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

TEST(AutodiffGradient, IntegersNet) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) expect_true_gradients(integers_net(), {}, seed);
}

TEST(AutodiffGradient, IntegersNeedNoGradientAndStopIt) {
  // x -> int -> real again: nothing flows back through either cast, nor to a float that came from a mask.
  GraphBuilder g("stop");
  const ValueId x = g.linear("fc", g.input("in", {2, 2}), 2, false);
  const ValueId whole = g.cast("whole", x, DType::int32);
  const ValueId real = g.cast("real", whole, DType::float32);
  const ValueId mask = g.cast("mask", g.input("m", {2, 2}, DType::uint8), DType::float32);
  const ValueId y = g.mul("y", g.add("sum", x, real), g.scale("inverse", mask, -1.0, 1.0));
  g.softmax_cross_entropy("loss", y, g.input("targets", {2}, DType::int32));
  const Graph training = differentiate(g.finish());
  EXPECT_EQ(test::added_ops(training),
            (std::vector<std::string>{
                "loss:backward softmax_cross_entropy_backward(loss.probabilities, targets) -> grad:y",
                "y:backward_a mul_backward(grad:y, inverse) -> grad:sum",
                "fc:backward_weight linear_backward_weight(grad:sum, in) -> grad:fc.weight",
                "fc.weight:update sgd_update(fc.weight, grad:fc.weight) ! fc.weight",
            }));
}

TEST(AutodiffGradient, AChoiceReadsItsConditionAlone) {
  GraphBuilder g("choice");
  const ValueId x = g.linear("fc", g.input("in", {2, 2}), 2, false);
  const ValueId c = g.input("c", {2, 1}, DType::uint8);
  const ValueId y = g.where("y", c, x, g.parameter("b", {2}));
  g.softmax_cross_entropy("loss", y, g.input("targets", {2}, DType::int32));
  const Graph training = differentiate(g.finish());
  EXPECT_EQ(test::added_ops(training),
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
  g.bind("conv.weight", g.mul("w", v, g.unary("exp", "e", g.parameter("g.weight", {3, 1, 1, 1}))));
  g.bind("norm.weight", g.reshape("flat", g.scale("twice", g.parameter("s.weight", {3, 1}), 2.0), {3}));
  const ValueId h = g.conv2d("conv", g.input("x", {2, 2, 4, 4}), {.out_channels = 3, .kernel = {2, 2}});
  g.mse_loss("loss", g.group_norm("norm", h, 1, 1e-2), g.input("targets", {2, 3, 3, 3}));
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
  for (const Graph& network : {conv_net(), transformer(), layout_net(), arithmetic_net(), integers_net(),
                               resize_net(), volume_net(), functions_net()}) {
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam}) {
      expect_true_gradients(network, {optimizer, nullptr}, 5, &seen);
    }
    expect_true_gradients(network, {Optimizer::sgd, ending_in(".bias")}, 5, &seen);
  }
  for (const RecurrentCase& each : recurrent_cases())
    expect_true_gradients(recurrent_net(each), {}, 5, &seen);
  for (const std::string& kind : reference::kernel_kinds()) EXPECT_EQ(seen.count(kind), 1U) << kind;
  for (const GradientRule& rule : gradient_rules()) {
    if (rule.kind == "opaque") continue;  // nobody knows what it computes
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

std::vector<double> computed_from(GraphBuilder& g,
                                  const std::vector<std::pair<ValueId, std::vector<double>>>& data,
                                  ValueId y) {
  const Graph graph = g.finish();
  Interpreter run(graph);
  for (const auto& [v, numbers] : data) run.set(v, numbers);
  run.run();
  return run.get(y).data;
}

TEST(ReferenceKernels, IntegersByHand) {
  {
    GraphBuilder g("cumsum");  // ids 5 1 7, padding 1: positions 1 0 2
    const ValueId x = g.input("x", {1, 3}, DType::int32);
    const ValueId one = g.constant("one", {}, DType::int32);
    const ValueId words =
        g.cast("w", g.unary("logical_not", "n", g.binary("equal", "e", x, one)), DType::int32);
    const ValueId y = g.mul("y", g.cumsum("c", words, 1), words);
    expect_near(computed_from(g, {{x, {5, 1, 7}}, {one, {1}}}, y), {1, 0, 2});
  }
  {
    GraphBuilder g("reverse");  // without the own one, from the end
    const ValueId x = g.input("x", {2, 3});
    const ValueId y = g.cumsum("y", x, 1, true, true);
    expect_near(computed_from(g, {{x, {1, 2, 3, 4, 5, 6}}}, y), {5, 3, 0, 11, 6, 0});
  }
  {
    GraphBuilder g("gather");  // columns 2, 0 and the last of each row
    const ValueId x = g.input("x", {2, 3});
    const ValueId i = g.input("i", {3}, DType::int32);
    const ValueId y = g.gather("y", x, i, 1);
    expect_near(computed_from(g, {{x, {1, 2, 3, 4, 5, 6}}, {i, {2, 0, -1}}}, y), {3, 1, 3, 6, 4, 6});
  }
  {
    GraphBuilder g("elements");
    const ValueId x = g.input("x", {2, 3});
    const ValueId i = g.input("i", {2, 2}, DType::int32);
    const ValueId y = g.gather_elements("y", x, i, 1);
    expect_near(computed_from(g, {{x, {1, 2, 3, 4, 5, 6}}, {i, {2, 0, 1, -1}}}, y), {3, 1, 5, 6});
  }
  {
    GraphBuilder g("rounding");  // -7 / 2 towards zero; the remainder has the divisor's sign
    const ValueId a = g.input("a", {4}, DType::int32);
    const ValueId b = g.input("b", {4}, DType::int32);
    const ValueId q = g.binary("int_div", "q", a, b);
    const ValueId r = g.binary("mod", "r", a, b);
    const ValueId y = g.concat("y", {q, r}, 0);
    expect_near(computed_from(g, {{a, {-7, 7, -7, 7}}, {b, {2, 2, -2, -3}}}, y),
                {-3, 3, 3, -2, 1, 1, -1, -2});
  }
  {
    GraphBuilder g("argmax");
    const ValueId x = g.input("x", {2, 3});
    const ValueId y = g.concat("y", {g.argmax("first", x, 1), g.argmax("last", x, 1, true, true)}, 1);
    expect_near(computed_from(g, {{x, {3, 1, 3, 0, 2, 1}}}, y), {0, 2, 1, 1});
  }
  {
    GraphBuilder g("logic");
    const ValueId a = g.input("a", {4}, DType::uint8);
    const ValueId b = g.input("b", {4}, DType::uint8);
    const ValueId y = g.concat("y",
                               {g.binary("logical_and", "and", a, b), g.binary("logical_or", "or", a, b),
                                g.binary("logical_xor", "xor", a, b)},
                               0);
    expect_near(computed_from(g, {{a, {0, 0, 2, 1}}, {b, {0, 1, 0, 2}}}, y),
                {0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0});
  }
  {
    GraphBuilder g("compare");
    const ValueId a = g.input("a", {3});
    const ValueId b = g.input("b", {});
    const ValueId y = g.concat(
        "y",
        {g.binary("less", "lt", a, b), g.binary("less_or_equal", "le", a, b), g.binary("greater", "gt", a, b),
         g.binary("greater_or_equal", "ge", a, b), g.binary("equal", "eq", a, b)},
        0);
    expect_near(computed_from(g, {{a, {1, 2, 3}}, {b, {2}}}, y),
                {1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0});
  }
  {
    GraphBuilder g("where");
    const ValueId c = g.input("c", {2, 1}, DType::uint8);
    const ValueId x = g.input("x", {2});
    const ValueId m = g.input("m", {});
    const ValueId y = g.softmax("p", g.where("y", c, g.expand("e", x, {2, 2}), m));
    expect_near(computed_from(g, {{c, {1, 0}}, {x, {0, 0}}, {m, {5}}}, y), {0.5, 0.5, 0.5, 0.5});
  }
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
  const ValueId column = g.reduce("reduce_sum", "column", x, {1});    // 3 / 7
  const ValueId row = g.reduce("reduce_mean", "row", x, {0}, false);  // 2 3
  const ValueId outer = g.sub("outer", column, row);                  // 1 0 / 5 4
  const ValueId ratio = g.div("ratio", x, row);                       // 1/2 2/3 / 3/2 4/3
  const ValueId product = g.mul("product", ratio, outer);             // 1/2 0 / 15/2 16/3
  const ValueId y = g.clip("y", g.add("sum", product, x), 2, 8);      // 3/2 2 / 21/2 28/3, clipped
  expect_near(computed(g, x, {1, 2, 3, 4}, y), {2, 2, 8, 8});
  GraphBuilder h("functions");
  const ValueId z = h.input("z", {4});
  const ValueId w = h.unary("hardswish", "w",
                            h.unary("hardsigmoid", "s", h.unary("leaky_relu", "l", z, {{"alpha", 0.5}}),
                                    {{"alpha", 0.25}, {"beta", 0.5}}));
  // leaky -1 -4 1 8; hardsigmoid 1/4 0 3/4 1; x (x + 3) / 6
  expect_near(computed(h, z, {-2, -8, 1, 8}, w), {0.25 * 3.25 / 6, 0.0, 0.75 * 3.75 / 6, 4.0 / 6});
}

// Expectations of ONNX's own tests of Resize, or by hand where they have none.
TEST(ReferenceKernels, ResizesByHand) {
  const auto resized = [](const Shape& shape, const std::vector<double>& data,
                          const std::vector<std::int64_t>& sizes, const ResizeOptions& options) {
    GraphBuilder g("resize");
    const ValueId x = g.input("x", shape);
    return computed(g, x, data, g.resize("y", x, sizes, options));
  };
  const std::vector<double> four = {1, 2, 3, 4};
  expect_near(resized({1, 1, 2, 2}, four, {4, 6}, {.coordinates = "half_pixel"}),
              {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4});
  expect_near(resized({1, 1, 2, 2}, four, {4, 4}, {.mode = "linear", .coordinates = "half_pixel"}),
              {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  const double third = 1.0 / 3;
  expect_near(resized({1, 1, 4}, four, {3}, {.mode = "linear", .coordinates = "align_corners"}), {1, 2.5, 4});
  // Places (x + 1/2) 4/3 - 1/2 = 1/6, 3/2, 17/6; places 4/3 x = 0, 4/3, 8/3.
  expect_near(resized({1, 1, 4}, four, {3}, {.mode = "linear"}), {1 + third / 2, 2.5, 3.5 + third});
  expect_near(resized({1, 1, 4}, four, {3}, {.mode = "linear", .coordinates = "asymmetric"}),
              {1, 2 + third, 3 + 2 * third});
  // One element of five is the middle one by half pixels, the first by PyTorch's and by corners.
  for (const auto& [coordinates, wanted] : std::map<std::string, double>{
           {"half_pixel", 3}, {"pytorch_half_pixel", 1}, {"align_corners", 1}, {"asymmetric", 1}}) {
    expect_near(resized({1, 1, 5}, {1, 2, 3, 4, 5}, {1}, {.mode = "linear", .coordinates = coordinates}),
                {wanted});
  }
  // Places 0, 1/2, 1, 3/2, 2 and 5/2 of 3 elements.
  const auto nearest = [&](const std::string& how) {
    return resized({1, 1, 3}, {1, 2, 3}, {6}, {.coordinates = "asymmetric", .nearest = how});
  };
  expect_near(nearest("floor"), {1, 1, 2, 2, 3, 3});
  expect_near(nearest("ceil"), {1, 2, 2, 3, 3, 3});
  expect_near(nearest("round_prefer_floor"), {1, 1, 2, 2, 3, 3});
  expect_near(nearest("round_prefer_ceil"), {1, 2, 2, 3, 3, 3});
  // Half way between 2 and 3 the weights of a = -3/4 are -3/32, 19/32, 19/32, -3/32: (-1 + 4) / 32 less.
  const std::vector<double> odd = {1, 2, 4, 9};
  expect_near(resized({1, 1, 4}, odd, {3}, {.mode = "cubic", .coordinates = "align_corners"}),
              {1, (19.0 * 6 - 3.0 * 10) / 32, 9});
  // Half way before the first element: the border thrice, or without those that are not there.
  const ResizeOptions half = {.mode = "cubic", .coordinates = "half_pixel", .scales = {2}};
  // Place -1/4: distances 7/4, 3/4, 1/4, 5/4 with weights of a = -3/4: -9/256, 67/256 and so on.
  const double w[] = {-9.0 / 256, 67.0 / 256, 225.0 / 256, -27.0 / 256};
  EXPECT_NEAR(w[0] + w[1] + w[2] + w[3], 1.0, 1e-15);
  EXPECT_NEAR(resized({1, 1, 4}, odd, {8}, half)[0], (w[0] + w[1] + w[2]) * 1 + w[3] * 2, 1e-12);
  ResizeOptions inside = half;
  inside.exclude_outside = true;
  EXPECT_NEAR(resized({1, 1, 4}, odd, {8}, inside)[0], (w[2] * 1 + w[3] * 2) / (w[2] + w[3]), 1e-12);
}

TEST(ReferenceKernels, ExtremesShareTheirGradient) {
  // max of (b, b, c) with b = 2, c = 1 by one parameter of (2, 2, 1): each b gets half.
  GraphBuilder g("ties");
  const ValueId p = g.parameter("p", {1, 3});
  const ValueId top = g.reduce("reduce_max", "top", p, {1});
  const ValueId logits = g.concat("logits", {top, g.input("x", {1, 1})}, 1);
  g.softmax_cross_entropy("loss", logits, g.input("targets", {1}, DType::int32));
  const Graph training = differentiate(g.finish());
  Interpreter run(training);
  run.set(find_value(training, "p"), {2, 2, 1});
  run.set(find_value(training, "x"), {2});
  run.set(find_value(training, "targets"), {0});
  run.run();
  // Two equal logits, the first wanted: -1/2.
  expect_near(run.get(find_value(training, "grad:p")).data, {-0.25, -0.25, 0});
}

TEST(ReferenceKernels, ActivationsByHand) {
  GraphBuilder g("activations");
  const ValueId x = g.input("x", {4});
  const ValueId y =
      g.concat("y",
               {g.unary("softsign", "a", x), g.unary("thresholded_relu", "b", x, {{"alpha", 0.5}}),
                g.unary("sign", "c", x), g.unary("round", "d", x), g.prelu("e", x, g.scale("f", x, -1.0)),
                g.flip("g", x, {0}), g.reduce("reduce_min", "h", x, {0})},
               0);
  expect_near(computed(g, x, {-1, 0.5, 2.5, 0}, y),
              {-0.5, 1.0 / 3, 2.5 / 3.5, 0, 0, 0,   2.5, 0,  -1, 1, 1, 0, -1, 0, 2, 0,  //
               -1,   0.5,     2.5,       0, 0, 2.5, 0.5, -1, -1});
  GraphBuilder h("logarithms");
  const ValueId z = h.input("z", {1, 2});
  const double e = std::exp(1.0);
  const ValueId w =
      h.concat("w",
               {h.log_softmax("a", z), h.unary("softplus", "b", z), h.unary("silu", "c", z),
                h.unary("mish", "d", z), h.unary("selu", "e", z, {{"alpha", 2.0}, {"gamma", 3.0}}),
                h.unary("celu", "f", z, {{"alpha", 0.5}}), h.unary("sin", "g", z), h.unary("cos", "h", z)},
               0);
  const double s0 = std::log(2.0);
  const double s1 = std::log(1.0 + 1 / e);
  expect_near(computed(h, z, {0, -1}, w),
              {-s1, -1 - s1, s0, s1, 0, -1 / (1 + e), 0, -std::tanh(s1), 0, 6 * (1 / e - 1), 0,
               0.5 * (1 / (e * e) - 1), 0, -std::sin(1.0), 1, std::cos(1.0)});
}

TEST(ReferenceKernels, CopiesByHand) {
  GraphBuilder g("copies");
  const ValueId x = g.input("x", {2, 3});
  const ValueId padded = g.pad("padded", x, {1, 0}, {0, 1}, 9);          // 9 9 9 9 / 1 2 3 9 / 4 5 6 9
  const ValueId transposed = g.permute("transposed", padded, {1, 0});    // 9 1 4 / 9 2 5 / 9 3 6 / 9 9 9
  const ValueId copied = g.transpose("copied", transposed, {0, 1});      // the same, row-major
  const ValueId some = g.slice("some", copied, {0, 1}, {4, 3}, {2, 1});  // 1 4 / 3 6
  const ValueId y = g.concat("y", {some, some, x}, 1);
  expect_near(computed(g, x, {1, 2, 3, 4, 5, 6}, y), {1, 4, 1, 4, 1, 2, 3, 3, 6, 3, 6, 4, 5, 6});
}

}  // namespace
}  // namespace poet
