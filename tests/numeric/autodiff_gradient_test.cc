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
#include "poet/graph/nn.h"
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
  // The same gradient in every step that is accumulated: their mean is it, too.
  for (std::int64_t step = 1; step <= options.accumulate; ++step) run.run(step);

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
  h = nn::conv2d(g, "conv1", h,
                 {.out_channels = 4, .kernel = {3, 3}, .stride = {1, 2}, .padding = {1, 0}, .bias = true});
  h = nn::batch_norm(g, "bn1", h);
  h = nn::relu(g, "relu1", h);
  h = nn::max_pool2d(g, "max", h, {.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 0}});
  ValueId r =
      nn::conv2d(g, "conv2", h,
                 {.out_channels = 4, .kernel = {3, 3}, .padding = {2, 2}, .dilation = {2, 2}, .groups = 2});
  r = nn::batch_norm(g, "bn2", r);
  const ValueId skip = nn::conv2d(g, "downsample", h, {.out_channels = 4, .bias = true});
  h = nn::relu(g, "relu2", nn::add(g, "residual", r, skip));
  h = nn::avg_pool2d(g, "avg", h, {.kernel = {2, 2}, .stride = {2, 1}, .padding = {1, 1}});
  h = nn::dropout(g, "drop", h, 0.3);
  h = nn::global_avg_pool(g, "pool", h);
  h = nn::linear(g, "fc", nn::flatten(g, "flat", h), 3);
  nn::softmax_cross_entropy(g, "loss", h, g.input("targets", {2}, DType::int32));
  return g.finish();
}

/// One encoder block: embeddings, two heads on strided views, both residual sums, pooler.
Graph transformer() {
  GraphBuilder g("tiny_transformer");
  const std::int64_t batch = 2;
  const std::int64_t tokens = 3;
  const ValueId ids_in = g.input("ids", {batch, tokens}, DType::int32);
  const ValueId words = nn::embedding(g, "words", ids_in, 5, 4);
  const ValueId types = nn::embedding(g, "types", g.input("type_ids", {batch, tokens}, DType::int32), 3, 4);
  ValueId x = nn::layer_norm(g, "norm0", nn::add(g, "sum0", words, types), 1e-3);
  const ValueId q = nn::linear(g, "q", x, 4);
  const ValueId k = nn::linear(g, "k", x, 4);
  const ValueId v = nn::linear(g, "v", x, 4);
  const StridedShape split = reshaped(g.layout(q), {batch, tokens, 2, 2});
  const ValueId scores =
      nn::matmul(g, "scores", g.view("q_heads", q, permuted(split, {0, 2, 1, 3})),
                 g.view("k_heads", k, permuted(split, {0, 2, 3, 1})), {.alpha = 0.7, .storage_order = {}});
  const ValueId p = nn::dropout(g, "attention_drop", nn::softmax(g, "p", scores), 0.2);
  const ValueId context = nn::matmul(g, "context", p, g.view("v_heads", v, permuted(split, {0, 2, 1, 3})),
                                     {.alpha = 1.0, .storage_order = {0, 2, 1, 3}});
  ValueId h =
      g.view("merged", context, reshaped(permuted(g.layout(context), {0, 2, 1, 3}), {batch, tokens, 4}));
  x = nn::layer_norm(g, "norm1", nn::add(g, "sum1", nn::linear(g, "out", h, 4), x), 1e-3);
  h = nn::linear(g, "down", nn::gelu(g, "gelu", nn::linear(g, "up", x, 6)), 4);
  x = nn::layer_norm(g, "norm2", nn::add(g, "sum2", h, x), 1e-3);
  h = nn::tanh(g, "pooled", nn::linear(g, "pooler", nn::select(g, "first", x, 1), 4));
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "classifier", h, 3),
                            g.input("targets", {batch}, DType::int32));
  return g.finish();
}

/// Uneven windows, normalisations within an image, and copies of elements, on views and on parts that do not
/// train.
Graph layout_net() {
  GraphBuilder g("layout_net");
  const ValueId image = g.input("image", {2, 2, 7, 6});
  ValueId h = nn::conv2d(g, "conv1", image,
                         {.out_channels = 4,
                          .kernel = {3, 3},
                          .stride = {2, 1},
                          .padding = {0, 1},
                          .bias = true,
                          .padding_end = {1, 2}});
  h = nn::lrn(g, "lrn1", h, {.size = 3, .alpha = 0.9, .beta = 0.75, .bias = 1.0});
  h = nn::group_norm(g, "gn", h, 2, 1e-2);
  h = nn::lrn(g, "lrn2", h, {.size = 2, .alpha = 0.5, .beta = 0.5, .bias = 2.0});
  h = nn::max_pool2d(g, "max", h,
                     {.kernel = {2, 2},
                      .stride = {1, 2},
                      .padding = {0, 1},
                      .dilation = {1, 2},
                      .padding_end = {1, 0},
                      .ceil_mode = true});
  EXPECT_EQ(g.shape(h), (Shape{2, 4, 3, 4}));
  ValueId a = nn::avg_pool2d(g, "avg_image", h,
                             {.kernel = {2, 3},
                              .stride = {2, 2},
                              .padding = {1, 0},
                              .padding_end = {0, 1},
                              .ceil_mode = true,
                              .count_include_pad = false});
  a = nn::instance_norm(g, "in", a, 1e-2);
  const ValueId b =
      nn::avg_pool2d(g, "avg", h, {.kernel = {2, 2}, .stride = {2, 3}, .padding = {0, 0}, .ceil_mode = true});
  const ValueId corner = nn::slice(g, "corner", image, {0, 0, 0, 0}, {2, 2, 2, 2});
  h = nn::concat(g, "cat", {a, corner, b, a}, 1);
  EXPECT_EQ(g.shape(h), (Shape{2, 14, 2, 2}));
  h = nn::pad(g, "pad", h, {0, 1, 0, 1}, {0, 0, 1, 0}, 0.5);
  h = nn::slice(g, "slice", h, {0, 0, 0, 0}, {2, 15, 3, 3}, {1, 3, 1, 2});
  const std::vector<ValueId> parts = nn::split(g, "split", h, 1, {2, 3});
  const ValueId transposed = nn::permute(g, "transposed", parts[1], {0, 2, 1, 3});
  const ValueId copied = nn::transpose(g, "copied", transposed, {0, 1, 3, 2});
  const ValueId top = nn::global_max_pool(g, "top", parts[0]);
  h = nn::concat(g, "features", {nn::flatten(g, "flat1", top), nn::flatten(g, "flat2", copied)}, 1);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", h, 3), g.input("targets", {2}, DType::int32));
  return g.finish();
}

/// Arithmetic as files spell networks out: an activation gated by its channels' means, a layer norm and a
/// gelu in parts, operands that broadcast from either side, shared parameters and constants.
Graph arithmetic_net() {
  GraphBuilder g("arithmetic_net");
  const ValueId image = g.input("image", {2, 3, 4, 4});
  const ValueId one = g.constant("one", {});
  const ValueId row = g.parameter("row.weight", {1, 4});
  ValueId h =
      nn::unary(g, "hardswish", "hardswish", nn::conv2d(g, "conv", image, {.out_channels = 4, .bias = true}));
  ValueId gate = nn::reduce(g, "reduce_mean", "squeeze", h, {3, 2});
  gate =
      nn::unary(g, "hardsigmoid", "gate", nn::sub(g, "shifted", gate, g.parameter("shift.bias", {4, 1, 1})),
                {{"alpha", 0.3}, {"beta", 0.4}});
  h = nn::mul(g, "excite", gate, h);
  h = nn::unary(g, "leaky_relu", "leaky", nn::add(g, "rows", h, row), {{"alpha", 0.1}});
  h = nn::clip(g, "relu6", nn::scale(g, "doubled", h, 2.0, 0.3), -0.6, 1.5);
  h = nn::unary(g, "elu", "elu", nn::sub(g, "minus", nn::reshape(g, "column", row, {4, 1}), h),
                {{"alpha", 0.7}});
  h = nn::clip(g, "floor", h, -0.5, std::numeric_limits<double>::infinity());
  h = nn::reduce(g, "reduce_sum", "rows_summed", h, {2}, false);
  // (x - mean) / sqrt(var + eps), eps here sigmoid(row) + 1/2
  const ValueId centred = nn::sub(g, "centred", h, nn::reduce(g, "reduce_mean", "mean", h, {2}));
  const ValueId variance = nn::reduce(g, "reduce_mean", "variance",
                                      nn::unary(g, "pow", "squares", centred, {{"exponent", 2.0}}), {2});
  const ValueId eps = nn::scale(g, "eps", nn::unary(g, "sigmoid", "positive", row), 1.0, 0.5);
  h = nn::div(g, "normal", centred, nn::unary(g, "sqrt", "deviation", nn::add(g, "with_eps", variance, eps)));
  h = nn::mul(g, "halves", h,
              nn::add(g, "one_more", nn::unary(g, "erf", "erf", nn::mul(g, "scaled", h, one)), one));
  h = nn::unary(g, "log", "log",
                nn::add(g, "softplus", nn::unary(g, "exp", "exp", nn::neg(g, "neg", h)),
                        nn::unary(g, "pow", "tiny", nn::unary(g, "exp", "exp1", one), {{"exponent", -1.5}})));
  h = nn::div(g, "inverse", one,
              nn::add(g, "far_from_0", nn::unary(g, "abs", "abs", h), nn::unary(g, "exp", "exp2", row)));
  h = nn::mul(g, "square", h, h);
  h = nn::sub(g, "alike", h, nn::tanh(g, "tanh", h));
  h = nn::div(g, "last", h, nn::unary(g, "exp", "exp3", g.parameter("last.bias", {2, 4, 4})));
  const ValueId flat = nn::flatten(g, "flat", nn::add(g, "both", h, g.parameter("offset.bias", {2, 4, 4})));
  nn::mse_loss(g, "loss", nn::linear(g, "fc", flat, 3), g.input("targets", {2, 3}));
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
  const ValueId is_padding = nn::binary(g, "equal", "is_padding", ids_in, one);
  const ValueId counted =
      nn::cast(g, "counted", nn::unary(g, "logical_not", "is_word", is_padding), DType::int32);
  ValueId positions = nn::mul(g, "positions", nn::cumsum(g, "running", counted, 1), counted);
  positions = nn::unary(g, "abs", "abs", nn::neg(g, "neg", nn::add(g, "shifted", positions, one)));
  const ValueId before = nn::cumsum(g, "before", counted, 1, true, true);
  positions = nn::binary(g, "mod", "mod", nn::sub(g, "difference", positions, before),
                         nn::scale(g, "five", one, 0.0, 5.0));
  positions = nn::binary(g, "int_div", "half", nn::scale(g, "more", positions, 1.0, 9.0),
                         nn::scale(g, "two", one, 0.0, 2.0));
  positions = nn::binary(g, "mod", "again", positions, nn::scale(g, "fives", one, 0.0, 5.0));
  ValueId h = nn::gather(g, "by_position", g.parameter("table.weight", {4, 5}), positions, 1);
  h = nn::permute(g, "rows_view", h, {1, 2, 0});
  h = nn::linear(g, "fc", nn::transpose(g, "rows", h, {0, 1, 2}), 4);
  const ValueId first = g.output("first", "first", {{batch, tokens}, {}}, DType::int32);
  g.append("first", "first_occurrences", {}, {ids_in}, {first});
  h = nn::add(g, "with_first", h, nn::embedding(g, "by_first", first, batch * tokens, 4));
  // Attention scores with a mask that three conditions make, one of them of real numbers.
  const ValueId scores = nn::matmul(g, "scores", h, nn::permute(g, "transposed", h, {0, 2, 1}));
  const ValueId row = g.constant("row", {3}, DType::int32);
  const ValueId column = g.constant("column", {3, 1}, DType::int32);
  ValueId mask = nn::binary(g, "logical_or", "or", nn::binary(g, "less", "less", row, column),
                            nn::binary(g, "greater_or_equal", "ge", row, column));
  mask = nn::binary(g, "logical_and", "and", mask, nn::reshape(g, "given_row", given, {batch, 1, tokens}));
  mask = nn::binary(g, "logical_xor", "xor", mask,
                    nn::binary(g, "greater", "greater", scores, g.constant("threshold", {})));
  mask = nn::binary(g, "logical_or", "kept", mask, nn::binary(g, "less_or_equal", "le", row, column));
  const ValueId p = nn::softmax(g, "p", nn::where(g, "masked", mask, scores, g.constant("minus_many", {})));
  h = nn::matmul(g, "context", p, h);
  const ValueId present = nn::reshape(g, "given_column", given, {batch, tokens, 1});
  h = nn::where(g, "either", present, h, g.parameter("otherwise.bias", {4}));
  h = nn::slice(g, "narrow", h, {0, 0, 0}, {2, 3, 3});
  h = nn::where(g, "or_else", nn::binary(g, "equal", "same", row, column), g.parameter("first.bias", {3, 1}),
                h);
  // A stretched token in front of the others, and one token per sample, found by its id.
  const ValueId token = nn::expand(g, "token", g.parameter("token.bias", {1, 3}), {batch, 1, 3});
  h = nn::concat(g, "tokens", {token, h}, 1);
  h = nn::cumsum(g, "sums", nn::cumsum(g, "from_end", h, 2, true, true), 1);
  const ValueId last = nn::argmax(g, "last", ids_in, 1, false, true);
  const ValueId at = nn::reshape(g, "at", nn::argmax(g, "first", h, 2), {batch, 4, 1});
  ValueId picked = nn::gather_elements(g, "picked", h, at, 2);
  picked = nn::mul(g, "weighted", picked, nn::cast(g, "as_real", at, DType::float32));
  h = nn::gather(g, "some", nn::add(g, "sum", h, picked), last, 1);
  const ValueId whole = nn::cast(g, "whole", h, DType::int32);  // stops the gradient
  h = nn::add(g, "with_whole", h, nn::cast(g, "real_again", whole, DType::float32));
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "head", nn::flatten(g, "flat", h), 3),
                            g.input("targets", {batch}, DType::int32));
  return g.finish();
}

/// Images in other sizes and orders, with three kinds of resizing, and the activations between them; extremes
/// and stretched products at the end.
Graph resize_net() {
  GraphBuilder g("resize_net");
  const ValueId image = g.input("image", {2, 2, 4, 3});
  ValueId h = nn::unary(g, "silu", "silu", nn::conv2d(g, "conv", image, {.out_channels = 3, .bias = true}));
  ValueId up = nn::resize(g, "nearest", h, {7, 4}, {.coordinates = "asymmetric", .nearest = "floor"});
  up = nn::unary(g, "mish", "mish",
                 nn::resize(g, "linear", up, {3, 5}, {.mode = "linear", .coordinates = "half_pixel"}));
  up =
      nn::resize(g, "cubic", up, {4, 3},
                 {.mode = "cubic", .coordinates = "align_corners", .cubic_a = -0.5, .exclude_outside = true});
  h = nn::prelu(g, "prelu", nn::add(g, "skip", nn::flip(g, "flip", h, {2, 3}), up),
                g.parameter("slope.weight", {3, 1, 1}));
  ValueId row = nn::flatten(g, "row", h);
  row = nn::unary(g, "celu", "celu", nn::unary(g, "selu", "selu", row, {{"alpha", 1.7}, {"gamma", 1.1}}),
                  {{"alpha", 0.8}});
  row = nn::resize(g, "line", nn::reshape(g, "line_in", row, {2, 3, 12}), {5},
                   {.mode = "linear", .coordinates = "pytorch_half_pixel", .scales = {0.45}});
  row = nn::unary(g, "softplus", "softplus",
                  nn::add(g, "wave", nn::unary(g, "sin", "sin", row), nn::unary(g, "cos", "cos", row)));
  // Steps: 0 almost everywhere, so only what passes them by trains.
  ValueId steps = nn::unary(
      g, "sign", "sign",
      nn::unary(g, "round", "round", nn::unary(g, "floor", "floor", nn::unary(g, "ceil", "ceil", row))));
  row = nn::add(g, "stepped", row, nn::scale(g, "little", steps, 0.25));
  row = nn::log_softmax(g, "log_softmax", nn::unary(g, "softsign", "softsign", row));
  row = nn::add(g, "extremes", nn::reduce(g, "reduce_max", "max", row, {1}),
                nn::reduce(g, "reduce_min", "min", row, {2}));
  // (2,3,5) by (5,4), (4,5) by the result, and both stretched.
  const ValueId w = g.parameter("w.weight", {5, 4});
  ValueId m = nn::matmul(g, "right", row, w, {.alpha = 0.5, .storage_order = {}});
  m = nn::matmul(g, "left", nn::permute(g, "wT", g.parameter("v.weight", {3, 4}), {1, 0}), m);
  m = nn::matmul(g, "both", nn::reshape(g, "a", m, {2, 1, 4, 4}), g.parameter("u.weight", {1, 2, 4, 3}));
  m = nn::unary(g, "thresholded_relu", "threshold", m, {{"alpha", 0.1}});
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", nn::flatten(g, "flat", m), 3),
                            g.input("targets", {2}, DType::int32));
  return g.finish();
}

/// Every function of one element that has a slope.
Graph functions_net() {
  GraphBuilder g("functions_net");
  const ValueId x = nn::linear(g, "fc", g.input("x", {2, 3}), 4);
  const ValueId positive = nn::scale(g, "positive", nn::unary(g, "sigmoid", "of_positive", x), 1.0, 0.5);
  ValueId sum = x;
  for (const test::FunctionRow& row : test::function_rows()) {
    if (row.slope == nullptr) continue;
    const bool is_positive = row.domain == test::FunctionRow::Domain::positive;
    const ValueId y = nn::unary(g, row.kind, row.kind, is_positive ? positive : x, row.attributes);
    sum = nn::add(g, row.kind + std::string(".sum"), nn::scale(g, row.kind + std::string(".part"), y, 0.1),
                  sum);
  }
  nn::mse_loss(g, "loss", sum, g.input("targets", {2, 4}));
  return g.finish();
}

struct RecurrentCase {
  std::string kind;  // lstm, gru, rnn
  bool variant;      // linear before reset; relu; the loss reads an lstm's cells, without a bias nothing else
  nn::Direction direction;
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
    for (const nn::Direction direction :
         {nn::Direction::forward, nn::Direction::reverse, nn::Direction::bidirectional}) {
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
  const std::int64_t directions = wanted.direction == nn::Direction::bidirectional ? 2 : 1;
  const ValueId x = nn::linear(g, "embed", g.input("x", {3, 2, 2}), 2);
  nn::RecurrentOptions options;
  options.hidden_size = 3;
  options.direction = wanted.direction;
  options.bias = wanted.bias;
  if (wanted.states) {
    options.initial_h = g.parameter("h0", {directions, 2, 3});
    if (wanted.kind == "lstm")
      options.initial_c = nn::linear(g, "c0", g.input("start", {directions, 2, 1}), 3);
  }
  ValueId y;
  ValueId cells;
  if (wanted.kind == "lstm") {
    const nn::LstmOutputs out = nn::lstm(g, "layer", x, options);
    y = out.y;
    if (wanted.variant) cells = out.cells;
  }
  if (wanted.kind == "gru") y = nn::gru(g, "layer", x, options, wanted.variant);
  if (wanted.kind == "rnn") y = nn::rnn(g, "layer", x, options, wanted.variant);
  const auto with_last = [&](const std::string& name, ValueId states) {
    return nn::mul(g, name + ".both", states, nn::last_step(g, name + ".last", states, wanted.direction));
  };
  ValueId h;
  if (!cells.valid() || wanted.bias) h = with_last("y", y);
  if (cells.valid())
    h = h.valid() ? nn::add(g, "sum", h, with_last("cells", cells)) : with_last("cells", cells);
  nn::softmax_cross_entropy(g, "loss", nn::reshape(g, "rows", h, {6 * directions, 3}),
                            g.input("targets", {6 * directions}, DType::int32));
  return g.finish();
}

/// Windows over three axes, transposed convolutions, a pool with a window too long for indices of one byte.
Graph volume_net() {
  GraphBuilder g("volume_net");
  ValueId h = nn::conv3d(g, "conv0", g.input("volume", {2, 2, 4, 5, 4}), {.out_channels = 2});
  h = nn::conv3d(g, "conv1", h,
                 {.out_channels = 4,
                  .kernel = {3, 2, 3},
                  .stride = {1, 2, 1},
                  .padding = {1, 1, 0},
                  .dilation = {1, 2, 1},
                  .groups = 2,
                  .bias = true,
                  .padding_end = {1, 0, 2}});
  h = nn::tanh(g, "tanh", h);
  EXPECT_EQ(g.shape(h), (Shape{2, 4, 4, 2, 4}));
  const ValueId most = nn::max_pool3d(
      g, "max", h, {.kernel = {2, 1, 2}, .stride = {1, 1, 2}, .padding = {1, 0, 0}, .ceil_mode = true});
  const ValueId mean = nn::avg_pool3d(g, "avg", h,
                                      {.kernel = {3, 2, 2},
                                       .stride = {2, 1, 3},
                                       .padding = {1, 0, 0},
                                       .ceil_mode = true,
                                       .count_include_pad = false});
  EXPECT_EQ(g.shape(mean), (Shape{2, 4, 3, 1, 2}));
  const ValueId up = nn::conv_transpose3d(g, "up", mean,
                                          {.out_channels = 4,
                                           .kernel = {2, 2, 1},
                                           .stride = {2, 1, 1},
                                           .padding = {1, 0, 0},
                                           .groups = 2,
                                           .bias = true,
                                           .padding_end = {0, 0, 0}});
  h = nn::add(g, "sum", most, up);
  const ValueId top = nn::flatten(g, "top.flat", nn::global_max_pool(g, "top", h));
  const ValueId middle = nn::flatten(g, "middle.flat", nn::global_avg_pool(g, "middle", h));
  h = nn::conv_transpose2d(g, "grow", nn::reshape(g, "plane", h, {2, 4, 5, 4}),
                           {.out_channels = 2,
                            .kernel = {3, 2},
                            .stride = {2, 1},
                            .padding = {1, 0},
                            .dilation = {1, 2},
                            .groups = 2,
                            .bias = true,
                            .output_padding = {1, 0}});
  EXPECT_EQ(g.shape(h), (Shape{2, 2, 10, 6}));
  h = nn::pad(g, "long", nn::reshape(g, "line", h, {2, 1, 1, 120}), {0, 0, 0, 70}, {0, 0, 0, 70}, -0.2);
  h = nn::max_pool2d(g, "longest", h, {.kernel = {1, 257}, .stride = {1, 41}, .padding = {0, 60}});
  h = nn::concat(g, "features", {top, middle, nn::flatten(g, "longest.flat", h)}, 1);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", h, 3), g.input("targets", {2}, DType::int32));
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
  const ValueId x = nn::linear(g, "fc", g.input("in", {2, 2}), 2, false);
  const ValueId whole = nn::cast(g, "whole", x, DType::int32);
  const ValueId real = nn::cast(g, "real", whole, DType::float32);
  const ValueId mask = nn::cast(g, "mask", g.input("m", {2, 2}, DType::uint8), DType::float32);
  const ValueId y = nn::mul(g, "y", nn::add(g, "sum", x, real), nn::scale(g, "inverse", mask, -1.0, 1.0));
  nn::softmax_cross_entropy(g, "loss", y, g.input("targets", {2}, DType::int32));
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
  const ValueId x = nn::linear(g, "fc", g.input("in", {2, 2}), 2, false);
  const ValueId c = g.input("c", {2, 1}, DType::uint8);
  const ValueId y = nn::where(g, "y", c, x, g.parameter("b", {2}));
  nn::softmax_cross_entropy(g, "loss", y, g.input("targets", {2}, DType::int32));
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
  const ValueId h = nn::linear(g, "fc", g.input("x", {2, 3}), 4);
  nn::permute(g, "h_view", h, {1, 0});
  const ValueId other = nn::reshape(g, "other_view", nn::linear(g, "other", g.input("y", {2, 3}), 4), {4, 2});
  const ValueId sum = nn::add(g, "sum", other, other);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "head", nn::relu(g, "relu", sum), 3),
                            g.input("targets", {4}, DType::int32));
  Graph forward = g.finish();
  test::replace_input(forward, "sum", 0, "h_view");
  const Graph training = differentiate(forward);
  EXPECT_EQ(training.values[find_value(training, "grad:fc")].strides, (Shape{1, 2}));
  expect_true_gradients(forward, {}, 6);
}

/// One of each loss of numbers, and a cross-entropy with smoothed labels.
std::vector<Graph> loss_nets() {
  std::vector<Graph> nets;
  for (int loss = 0; loss < 5; ++loss) {
    GraphBuilder g("loss_net");
    const ValueId x = nn::linear(g, "fc", g.input("x", {4, 5}), 3);
    const ValueId targets = loss == 4 ? g.input("targets", {4}, DType::int32) : g.input("targets", {4, 3});
    if (loss == 0) nn::l1_loss(g, "loss", x, targets);
    if (loss == 1) nn::huber_loss(g, "loss", x, targets, 0.6);
    if (loss == 2) nn::bce_with_logits_loss(g, "loss", x, targets);
    if (loss == 3) nn::bce_loss(g, "loss", nn::unary(g, "sigmoid", "sigmoid", x), targets);
    if (loss == 4) nn::softmax_cross_entropy(g, "loss", x, targets);
    nets.push_back(g.finish());
    if (loss == 4)
      for (Op& op : nets.back().ops)
        if (op.kind == "softmax_cross_entropy") op.attributes["label_smoothing"] = 0.2;
  }
  return nets;
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

/// fc (1 -> 2, no bias) on x = 3: logits (3a, 3b).
Graph two_weights() {
  GraphBuilder g("two_weights");
  const ValueId h = nn::linear(g, "fc", g.input("x", {1, 1}), 2, false);
  nn::softmax_cross_entropy(g, "loss", h, g.input("targets", {1}, DType::int32));
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

TEST(AutodiffUpdate, ClippingAndAccumulatingByHand) {
  // As above: two steps with the same gradient (-3/2, 3/2) of norm sqrt(4.5), clipped to 1, and one update.
  const auto after = [](std::optional<double> clip_norm, int steps) {
    TrainingOptions options;
    options.accumulate = 2;
    options.clip_norm = clip_norm;
    const Graph training = differentiate(two_weights(), options);
    Interpreter run(training);
    for (const auto& entry : random_data(training, 0, 1)) run.set(entry.first, entry.second);
    run.set(find_value(training, "x"), {3.0});
    run.set(find_value(training, "fc.weight"), {0.0, 0.0});
    for (int step = 1; step <= steps; ++step) run.run(step);
    return run.get(find_value(training, "fc.weight")).data;
  };
  EXPECT_EQ(after(std::nullopt, 1)[0], 0.0);
  EXPECT_NEAR(after(std::nullopt, 2)[0], 0.015, 1e-12);
  EXPECT_EQ(after(std::nullopt, 3)[0], after(std::nullopt, 2)[0]);
  EXPECT_NEAR(after(1.0, 2)[0], 0.01 * 1.5 / (std::sqrt(4.5) + 1e-6), 1e-12);
  EXPECT_NEAR(after(5.0, 2)[0], 0.015, 1e-12);
}

TEST(AutodiffUpdate, RunningStatisticsMoveOnce) {
  // One channel, values 1 and 3: mean 2, unbiased variance ((1-2)² + (3-2)²) / 1 = 2. Momentum 0.1 from 0 and
  // 0.
  GraphBuilder g("stats");
  const ValueId h = nn::linear(g, "fc", nn::batch_norm(g, "bn", g.input("x", {2, 1})), 2, false);
  nn::softmax_cross_entropy(g, "loss", h, g.input("targets", {2}, DType::int32));
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

void expect_all_near(const std::vector<double>& actual, const std::vector<double>& wanted) {
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
        nn::cast(g, "w", nn::unary(g, "logical_not", "n", nn::binary(g, "equal", "e", x, one)), DType::int32);
    const ValueId y = nn::mul(g, "y", nn::cumsum(g, "c", words, 1), words);
    expect_all_near(computed_from(g, {{x, {5, 1, 7}}, {one, {1}}}, y), {1, 0, 2});
  }
  {
    GraphBuilder g("reverse");  // without the own one, from the end
    const ValueId x = g.input("x", {2, 3});
    const ValueId y = nn::cumsum(g, "y", x, 1, true, true);
    expect_all_near(computed_from(g, {{x, {1, 2, 3, 4, 5, 6}}}, y), {5, 3, 0, 11, 6, 0});
  }
  {
    GraphBuilder g("gather");  // columns 2, 0 and the last of each row
    const ValueId x = g.input("x", {2, 3});
    const ValueId i = g.input("i", {3}, DType::int32);
    const ValueId y = nn::gather(g, "y", x, i, 1);
    expect_all_near(computed_from(g, {{x, {1, 2, 3, 4, 5, 6}}, {i, {2, 0, -1}}}, y), {3, 1, 3, 6, 4, 6});
  }
  {
    GraphBuilder g("elements");
    const ValueId x = g.input("x", {2, 3});
    const ValueId i = g.input("i", {2, 2}, DType::int32);
    const ValueId y = nn::gather_elements(g, "y", x, i, 1);
    expect_all_near(computed_from(g, {{x, {1, 2, 3, 4, 5, 6}}, {i, {2, 0, 1, -1}}}, y), {3, 1, 5, 6});
  }
  {
    GraphBuilder g("rounding");  // -7 / 2 towards zero; the remainder has the divisor's sign
    const ValueId a = g.input("a", {4}, DType::int32);
    const ValueId b = g.input("b", {4}, DType::int32);
    const ValueId q = nn::binary(g, "int_div", "q", a, b);
    const ValueId r = nn::binary(g, "mod", "r", a, b);
    const ValueId y = nn::concat(g, "y", {q, r}, 0);
    expect_all_near(computed_from(g, {{a, {-7, 7, -7, 7}}, {b, {2, 2, -2, -3}}}, y),
                    {-3, 3, 3, -2, 1, 1, -1, -2});
  }
  {
    GraphBuilder g("argmax");
    const ValueId x = g.input("x", {2, 3});
    const ValueId y =
        nn::concat(g, "y", {nn::argmax(g, "first", x, 1), nn::argmax(g, "last", x, 1, true, true)}, 1);
    expect_all_near(computed_from(g, {{x, {3, 1, 3, 0, 2, 1}}}, y), {0, 2, 1, 1});
  }
  {
    GraphBuilder g("logic");
    const ValueId a = g.input("a", {4}, DType::uint8);
    const ValueId b = g.input("b", {4}, DType::uint8);
    const ValueId y =
        nn::concat(g, "y",
                   {nn::binary(g, "logical_and", "and", a, b), nn::binary(g, "logical_or", "or", a, b),
                    nn::binary(g, "logical_xor", "xor", a, b)},
                   0);
    expect_all_near(computed_from(g, {{a, {0, 0, 2, 1}}, {b, {0, 1, 0, 2}}}, y),
                    {0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0});
  }
  {
    GraphBuilder g("compare");
    const ValueId a = g.input("a", {3});
    const ValueId b = g.input("b", {});
    const ValueId y =
        nn::concat(g, "y",
                   {nn::binary(g, "less", "lt", a, b), nn::binary(g, "less_or_equal", "le", a, b),
                    nn::binary(g, "greater", "gt", a, b), nn::binary(g, "greater_or_equal", "ge", a, b),
                    nn::binary(g, "equal", "eq", a, b)},
                   0);
    expect_all_near(computed_from(g, {{a, {1, 2, 3}}, {b, {2}}}, y),
                    {1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0});
  }
  {
    GraphBuilder g("where");
    const ValueId c = g.input("c", {2, 1}, DType::uint8);
    const ValueId x = g.input("x", {2});
    const ValueId m = g.input("m", {});
    const ValueId y = nn::softmax(g, "p", nn::where(g, "y", c, nn::expand(g, "e", x, {2, 2}), m));
    expect_all_near(computed_from(g, {{c, {1, 0}}, {x, {0, 0}}, {m, {5}}}, y), {0.5, 0.5, 0.5, 0.5});
  }
}

// The kernels themselves, by hand: the differences above would not notice a backward and a forward kernel
// that are wrong alike.
TEST(ReferenceKernels, UnevenWindowsByHand) {
  const std::vector<double> row = {1, 2, 3, 4, 5};
  const auto average = [&row](bool ceil, bool include) {
    GraphBuilder g("avg");
    const ValueId x = g.input("x", {1, 1, 1, 5});
    const ValueId y = nn::avg_pool2d(g, "y", x,
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
  expect_all_near(average(false, true), {3.0 / 4, 14.0 / 4});
  expect_all_near(average(false, false), {3.0 / 2, 14.0 / 4});
  expect_all_near(average(true, true), {3.0 / 4, 14.0 / 4, 5.0 / 2});
  expect_all_near(average(true, false), {3.0 / 2, 14.0 / 4, 5.0});

  GraphBuilder g("max");
  const ValueId x = g.input("x", {1, 1, 1, 5});
  const ValueId y =
      nn::max_pool2d(g, "y", x, {.kernel = {1, 2}, .stride = {1, 1}, .padding = {0, 1}, .dilation = {1, 2}});
  // Places (-1, 1), (0, 2), (1, 3), (2, 4), (3, 5).
  expect_all_near(computed(g, x, {5, 1, 3, 4, 2}, y), {1, 5, 4, 3, 4});
}

TEST(ReferenceKernels, TransposedConvolutionByHand) {
  GraphBuilder g("grow");
  const ValueId x = g.input("x", {1, 2, 1, 3});
  const ValueId y = nn::conv_transpose2d(g, "y", x,
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
  expect_all_near(run.get(y).data, {10.5, 102.5, 20.5, 203.5, 30.5, 300.5, 1, 1, 0, 0, 0, 0});
}

TEST(ReferenceKernels, VolumesByHand) {
  GraphBuilder g("volume");
  const ValueId x = g.input("x", {1, 1, 2, 2, 2});
  const ValueId conv = nn::conv3d(g, "conv", x, {.kernel = {2, 1, 2}});
  const ValueId max = nn::max_pool3d(g, "max", x, {.kernel = {2, 2, 1}});
  const ValueId avg = nn::avg_pool3d(g, "avg", x, {.kernel = {1, 2, 2}});
  const Graph graph = g.finish();
  Interpreter run(graph);
  run.set(x, {1, 2, 3, 4, 5, 6, 8, 7});
  run.set(find_value(graph, "conv.weight"), {1, 10, 100, 1000});
  run.run();
  // Depth, then width: rows 1 2 and 5 6, rows 3 4 and 8 7.
  expect_all_near(run.get(conv).data, {1 + 20 + 500 + 6000, 3 + 40 + 800 + 7000});
  expect_all_near(run.get(max).data, {8, 7});
  expect_all_near(run.get(avg).data, {10.0 / 4, 26.0 / 4});
}

TEST(ReferenceKernels, NormsByHand) {
  // Channels 1, 2, 3; windows of 2 go one channel further: sums of squares 5, 13, 9; alpha / size = 0.5.
  GraphBuilder g("lrn");
  const ValueId x = g.input("x", {1, 3});
  const ValueId y = nn::lrn(g, "y", x, {.size = 2, .alpha = 1.0, .beta = 2.0, .bias = 0.5});
  expect_all_near(computed(g, x, {1, 2, 3}, y), {1.0 / 9, 2.0 / 49, 3.0 / 25});
}

TEST(ReferenceKernels, ArithmeticByHand) {
  GraphBuilder g("arithmetic");
  const ValueId x = g.input("x", {2, 2});
  const ValueId column = nn::reduce(g, "reduce_sum", "column", x, {1});     // 3 / 7
  const ValueId row = nn::reduce(g, "reduce_mean", "row", x, {0}, false);   // 2 3
  const ValueId outer = nn::sub(g, "outer", column, row);                   // 1 0 / 5 4
  const ValueId ratio = nn::div(g, "ratio", x, row);                        // 1/2 2/3 / 3/2 4/3
  const ValueId product = nn::mul(g, "product", ratio, outer);              // 1/2 0 / 15/2 16/3
  const ValueId y = nn::clip(g, "y", nn::add(g, "sum", product, x), 2, 8);  // 3/2 2 / 21/2 28/3, clipped
  expect_all_near(computed(g, x, {1, 2, 3, 4}, y), {2, 2, 8, 8});
  GraphBuilder h("functions");
  const ValueId z = h.input("z", {4});
  const ValueId w =
      nn::unary(h, "hardswish", "w",
                nn::unary(h, "hardsigmoid", "s", nn::unary(h, "leaky_relu", "l", z, {{"alpha", 0.5}}),
                          {{"alpha", 0.25}, {"beta", 0.5}}));
  // leaky -1 -4 1 8; hardsigmoid 1/4 0 3/4 1; x (x + 3) / 6
  expect_all_near(computed(h, z, {-2, -8, 1, 8}, w), {0.25 * 3.25 / 6, 0.0, 0.75 * 3.75 / 6, 4.0 / 6});
}

// Expectations of ONNX's own tests of Resize, or by hand where they have none.
TEST(ReferenceKernels, ResizesByHand) {
  const auto resized = [](const Shape& shape, const std::vector<double>& data,
                          const std::vector<std::int64_t>& sizes, const nn::ResizeOptions& options) {
    GraphBuilder g("resize");
    const ValueId x = g.input("x", shape);
    return computed(g, x, data, nn::resize(g, "y", x, sizes, options));
  };
  const std::vector<double> four = {1, 2, 3, 4};
  expect_all_near(resized({1, 1, 2, 2}, four, {4, 6}, {.coordinates = "half_pixel"}),
                  {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4});
  expect_all_near(resized({1, 1, 2, 2}, four, {4, 4}, {.mode = "linear", .coordinates = "half_pixel"}),
                  {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  const double third = 1.0 / 3;
  expect_all_near(resized({1, 1, 4}, four, {3}, {.mode = "linear", .coordinates = "align_corners"}),
                  {1, 2.5, 4});
  // Places (x + 1/2) 4/3 - 1/2 = 1/6, 3/2, 17/6; places 4/3 x = 0, 4/3, 8/3.
  expect_all_near(resized({1, 1, 4}, four, {3}, {.mode = "linear"}), {1 + third / 2, 2.5, 3.5 + third});
  expect_all_near(resized({1, 1, 4}, four, {3}, {.mode = "linear", .coordinates = "asymmetric"}),
                  {1, 2 + third, 3 + 2 * third});
  // One element of five is the middle one by half pixels, the first by PyTorch's and by corners.
  for (const auto& [coordinates, wanted] : std::map<std::string, double>{
           {"half_pixel", 3}, {"pytorch_half_pixel", 1}, {"align_corners", 1}, {"asymmetric", 1}}) {
    expect_all_near(resized({1, 1, 5}, {1, 2, 3, 4, 5}, {1}, {.mode = "linear", .coordinates = coordinates}),
                    {wanted});
  }
  // Places 0, 1/2, 1, 3/2, 2 and 5/2 of 3 elements.
  const auto nearest = [&](const std::string& how) {
    return resized({1, 1, 3}, {1, 2, 3}, {6}, {.coordinates = "asymmetric", .nearest = how});
  };
  expect_all_near(nearest("floor"), {1, 1, 2, 2, 3, 3});
  expect_all_near(nearest("ceil"), {1, 2, 2, 3, 3, 3});
  expect_all_near(nearest("round_prefer_floor"), {1, 1, 2, 2, 3, 3});
  expect_all_near(nearest("round_prefer_ceil"), {1, 2, 2, 3, 3, 3});
  // Half way between 2 and 3 the weights of a = -3/4 are -3/32, 19/32, 19/32, -3/32: (-1 + 4) / 32 less.
  const std::vector<double> odd = {1, 2, 4, 9};
  expect_all_near(resized({1, 1, 4}, odd, {3}, {.mode = "cubic", .coordinates = "align_corners"}),
                  {1, (19.0 * 6 - 3.0 * 10) / 32, 9});
  // Half way before the first element: the border thrice, or without those that are not there.
  const nn::ResizeOptions half = {.mode = "cubic", .coordinates = "half_pixel", .scales = {2}};
  // Place -1/4: distances 7/4, 3/4, 1/4, 5/4 with weights of a = -3/4: -9/256, 67/256 and so on.
  const double w[] = {-9.0 / 256, 67.0 / 256, 225.0 / 256, -27.0 / 256};
  EXPECT_NEAR(w[0] + w[1] + w[2] + w[3], 1.0, 1e-15);
  EXPECT_NEAR(resized({1, 1, 4}, odd, {8}, half)[0], (w[0] + w[1] + w[2]) * 1 + w[3] * 2, 1e-12);
  nn::ResizeOptions inside = half;
  inside.exclude_outside = true;
  EXPECT_NEAR(resized({1, 1, 4}, odd, {8}, inside)[0], (w[2] * 1 + w[3] * 2) / (w[2] + w[3]), 1e-12);
}

TEST(ReferenceKernels, ExtremesShareTheirGradient) {
  // max of (b, b, c) with b = 2, c = 1 by one parameter of (2, 2, 1): each b gets half.
  GraphBuilder g("ties");
  const ValueId p = g.parameter("p", {1, 3});
  const ValueId top = nn::reduce(g, "reduce_max", "top", p, {1});
  const ValueId logits = nn::concat(g, "logits", {top, g.input("x", {1, 1})}, 1);
  nn::softmax_cross_entropy(g, "loss", logits, g.input("targets", {1}, DType::int32));
  const Graph training = differentiate(g.finish());
  Interpreter run(training);
  run.set(find_value(training, "p"), {2, 2, 1});
  run.set(find_value(training, "x"), {2});
  run.set(find_value(training, "targets"), {0});
  run.run();
  // Two equal logits, the first wanted: -1/2.
  expect_all_near(run.get(find_value(training, "grad:p")).data, {-0.25, -0.25, 0});
}

TEST(ReferenceKernels, ActivationsByHand) {
  GraphBuilder g("activations");
  const ValueId x = g.input("x", {4});
  const ValueId y =
      nn::concat(g, "y",
                 {nn::unary(g, "softsign", "a", x),
                  nn::unary(g, "thresholded_relu", "b", x, {{"alpha", 0.5}}), nn::unary(g, "sign", "c", x),
                  nn::unary(g, "round", "d", x), nn::prelu(g, "e", x, nn::scale(g, "f", x, -1.0)),
                  nn::flip(g, "g", x, {0}), nn::reduce(g, "reduce_min", "h", x, {0})},
                 0);
  expect_all_near(computed(g, x, {-1, 0.5, 2.5, 0}, y),
                  {-0.5, 1.0 / 3, 2.5 / 3.5, 0, 0, 0,   2.5, 0,  -1, 1, 1, 0, -1, 0, 2, 0,  //
                   -1,   0.5,     2.5,       0, 0, 2.5, 0.5, -1, -1});
  GraphBuilder h("logarithms");
  const ValueId z = h.input("z", {1, 2});
  const double e = std::exp(1.0);
  const ValueId w = nn::concat(
      h, "w",
      {nn::log_softmax(h, "a", z), nn::unary(h, "softplus", "b", z), nn::unary(h, "silu", "c", z),
       nn::unary(h, "mish", "d", z), nn::unary(h, "selu", "e", z, {{"alpha", 2.0}, {"gamma", 3.0}}),
       nn::unary(h, "celu", "f", z, {{"alpha", 0.5}}), nn::unary(h, "sin", "g", z),
       nn::unary(h, "cos", "h", z)},
      0);
  const double s0 = std::log(2.0);
  const double s1 = std::log(1.0 + 1 / e);
  expect_all_near(computed(h, z, {0, -1}, w),
                  {-s1, -1 - s1, s0, s1, 0, -1 / (1 + e), 0, -std::tanh(s1), 0, 6 * (1 / e - 1), 0,
                   0.5 * (1 / (e * e) - 1), 0, -std::sin(1.0), 1, std::cos(1.0)});
}

TEST(ReferenceKernels, CopiesByHand) {
  GraphBuilder g("copies");
  const ValueId x = g.input("x", {2, 3});
  const ValueId padded = nn::pad(g, "padded", x, {1, 0}, {0, 1}, 9);          // 9 9 9 9 / 1 2 3 9 / 4 5 6 9
  const ValueId transposed = nn::permute(g, "transposed", padded, {1, 0});    // 9 1 4 / 9 2 5 / 9 3 6 / 9 9 9
  const ValueId copied = nn::transpose(g, "copied", transposed, {0, 1});      // the same, row-major
  const ValueId some = nn::slice(g, "some", copied, {0, 1}, {4, 3}, {2, 1});  // 1 4 / 3 6
  const ValueId y = nn::concat(g, "y", {some, some, x}, 1);
  expect_all_near(computed(g, x, {1, 2, 3, 4, 5, 6}, y), {1, 4, 1, 4, 1, 2, 3, 3, 6, 3, 6, 4, 5, 6});
}

}  // namespace
}  // namespace poet
