// oneDNN's kernels, and the wide loops beside them, against float64 formulas: every op of small training
// graphs, computed on buffers between guards, at several addresses, again and in place, with and without
// copies into other layouts.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/graph/builder.h"
#include "poet/graph/in_place.h"
#include "poet/runtime/kernels/kernel.h"
#include "tests/support/kernel_runs.h"
#include "tests/support/random_network.h"
#include "tests/support/reference_kernels.h"
#ifdef POET_HAS_ONEDNN
#include "poet/runtime/kernels/onednn/onednn.h"

namespace poet::runtime {
namespace {

using test::as_floats;
using test::Contents;
using test::run;
using test::stored;

/// Float64 results of one step on random numbers, and the checks of kernels on its ops.
class Checked {
 public:
  Checked(const Graph& graph, std::uint64_t seed) : graph_(graph), truth_(graph) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0.1, 0.8);
    for (const ValueId v : ids<ValueId>(graph.values.size())) {
      const Value& value = graph.values[v];
      if (value.alias_of.valid()) continue;
      if (!is_persistent(value.persistence) && value.persistence != Persistence::input) continue;
      std::vector<double> numbers;
      for (std::int64_t i = 0; i < element_count(value.shape); ++i) {
        // Float32 numbers, so that both start from the same.
        numbers.push_back(value.dtype == DType::float32
                              ? static_cast<double>(static_cast<float>(normal(random)))
                              : static_cast<double>(random() % 3));
      }
      truth_.set(v, numbers);
    }
    truth_.run();
  }

  /// Every op that has a kernel; their kinds join `kinds`.
  void check(const KernelOptions& options, std::set<std::string>& kinds) const {
    for (const OpId id : ids<OpId>(graph_.ops.size())) {
      const std::unique_ptr<Kernel> kernel = make_onednn_kernel(graph_, id, options);
      if (!kernel) continue;
      const Op& op = graph_.ops[id];
      SCOPED_TRACE(graph_.name + ": " + op.name + ", a " + op.kind + " by " + kernel->implementation());
      kinds.insert(op.kind);
      check(*kernel, id);
    }
  }

  /// How many kernels without oneDNN's primitives gave the same bits with three threads as with one.
  [[nodiscard]] int check_threads() const {
    int count = 0;
    for (const OpId id : ids<OpId>(graph_.ops.size())) {
      const auto one =
          make_onednn_kernel(graph_, id, {.library = KernelLibrary::lean, .threads = 1, .isa = {}});
      const auto three =
          make_onednn_kernel(graph_, id, {.library = KernelLibrary::lean, .threads = 3, .isa = {}});
      if (!one || !one->implementation().starts_with("wide")) continue;
      const Op& op = graph_.ops[id];
      Contents inputs;
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        inputs.push_back(stored(graph_.values[op.inputs[i]], truth_.input_at_run(id, i).data));
      }
      EXPECT_EQ(run(*one, graph_, op, inputs, 0), run(*three, graph_, op, inputs, 0)) << op.name;
      ++count;
    }
    return count;
  }

 private:
  void check(Kernel& kernel, OpId id) const {
    const Op& op = graph_.ops[id];
    Contents inputs;
    double largest_input = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      for (const double number : truth_.input_at_run(id, i).data) {
        largest_input = std::max(largest_input, std::abs(number));
      }
      inputs.push_back(stored(graph_.values[op.inputs[i]], truth_.input_at_run(id, i).data));
    }
    const Contents results = run(kernel, graph_, op, inputs, 0);
    for (std::size_t o = 0; o < results.size(); ++o) {
      const Value& value = graph_.values[op.outputs[o]];
      const std::vector<double> expected = truth_.get(op.outputs[o]).data;
      const std::vector<double> actual = as_floats(value, results[o]);
      double largest = 0;
      for (const double number : expected) largest = std::max(largest, std::abs(number));
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(actual[i], expected[i], 2e-5 * (largest + 0.05) + 4e-6 * largest_input)
            << "output " << o << "[" << i << "]";
      }
    }
    EXPECT_EQ(run(kernel, graph_, op, inputs, 0), results) << "again";
    for (const std::size_t offset : {4U, 20U, 60U}) {
      EXPECT_EQ(run(kernel, graph_, op, inputs, offset), results) << "at " << offset << " mod 64";
    }
    for (const std::size_t position : overwritable_inputs(graph_, op)) {
      EXPECT_EQ(run(kernel, graph_, op, inputs, 0, position), results) << "over input " << position;
      EXPECT_EQ(run(kernel, graph_, op, inputs, 4, position), results) << "over input " << position;
    }
  }

  const Graph& graph_;
  reference::Interpreter truth_;
};

/// The kinds that had kernels.
std::set<std::string> check(const Graph& forward, const TrainingOptions& options = {},
                            std::uint64_t seed = 1) {
  const Graph graph = differentiate(forward, options);
  const Checked checked(graph, seed);
  std::set<std::string> kinds;
  for (const KernelLibrary library : {KernelLibrary::fast, KernelLibrary::lean}) {
    SCOPED_TRACE(library == KernelLibrary::fast ? "fast" : "lean");
    checked.check({.library = library, .threads = 1, .isa = {}}, kinds);
  }
  return kinds;
}

/// (x - target)² on whatever was computed.
Graph with_loss(GraphBuilder& g, ValueId x) {
  const Shape shape = g.shape(x);
  g.mse_loss("loss", x, g.input("targets", shape));
  return g.finish();
}

void expect_kinds(const std::set<std::string>& kinds, const std::vector<std::string>& wanted) {
  for (const std::string& kind : wanted) EXPECT_TRUE(kinds.contains(kind)) << "no kernel for " << kind;
}

class OneDnnKernels : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { set_up_kernels({}); }
};

/// A convolution between two others, so that all gradients are there.
std::set<std::string> check_convolution(const Shape& image, const ConvOptions& options) {
  GraphBuilder g("convolution");
  ValueId x = g.input("image", image);
  x = g.mul("scaled", x, g.parameter("scale.weight", image));  // so that dx is wanted
  x = image.size() == 4 ? g.conv2d("conv", x, options) : g.conv3d("conv", x, options);
  return check(with_loss(g, x));
}

TEST_F(OneDnnKernels, Convolutions) {
  const std::vector<std::string> all = {"conv2d", "conv2d_backward_input", "conv2d_backward_weight"};
  expect_kinds(check_convolution({2, 3, 9, 7}, {.out_channels = 5, .kernel = {3, 3}, .bias = true}), all);
  // Channels in whole blocks of 16, and almost.
  expect_kinds(check_convolution({2, 32, 6, 6}, {.out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}}),
               all);
  expect_kinds(check_convolution(
                   {1, 17, 5, 8},
                   {.out_channels = 33, .kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 0}, .bias = true}),
               all);
  // One by one, in large and small planes.
  expect_kinds(check_convolution({2, 16, 14, 14}, {.out_channels = 32, .bias = true}), all);
  expect_kinds(check_convolution({3, 20, 13, 11}, {.out_channels = 7}), all);
  expect_kinds(check_convolution({2, 48, 7, 7}, {.out_channels = 24, .stride = {2, 2}}), all);
  // Steps that skip taps, that skip positions, that meet dilated taps or miss them.
  for (const std::int64_t stride : {2, 3, 4}) {
    for (const std::int64_t dilation : {1, 2, 3}) {
      expect_kinds(check_convolution({2, 3, 13, 12}, {.out_channels = 4,
                                                      .kernel = {3, 2},
                                                      .stride = {stride, 2},
                                                      .padding = {1, 0},
                                                      .dilation = {dilation, stride}}),
                   all);
    }
  }
  // Groups, one channel each, and dilation.
  expect_kinds(
      check_convolution({2, 8, 9, 9}, {.out_channels = 12, .kernel = {3, 3}, .padding = {1, 1}, .groups = 4}),
      all);
  for (const std::int64_t stride : {1, 2}) {
    for (const std::int64_t size : {5, 14, 33}) {
      expect_kinds(check_convolution({2, 18, size, size + 1}, {.out_channels = 18,
                                                               .kernel = {3, 3},
                                                               .stride = {stride, stride},
                                                               .padding = {1, 1},
                                                               .groups = 18}),
                   all);
    }
  }
  expect_kinds(check_convolution({2, 6, 11, 10}, {.out_channels = 12,
                                                  .kernel = {3, 5},
                                                  .stride = {2, 1},
                                                  .padding = {2, 0},
                                                  .dilation = {2, 1},
                                                  .groups = 6,
                                                  .bias = true,
                                                  .padding_end = {1, 3}}),
               all);
  expect_kinds(
      check_convolution(
          {2, 3, 8, 9},
          {.out_channels = 4, .kernel = {2, 3}, .padding = {0, 1}, .bias = true, .padding_end = {1, 2}}),
      all);
}

TEST_F(OneDnnKernels, ConvolutionsOfVolumes) {
  const std::vector<std::string> all = {"conv3d", "conv3d_backward_input", "conv3d_backward_weight"};
  expect_kinds(
      check_convolution({1, 3, 4, 5, 6},
                        {.out_channels = 5, .kernel = {3, 2, 3}, .padding = {1, 0, 1}, .bias = true}),
      all);
  expect_kinds(check_convolution({2, 16, 3, 4, 5},
                                 {.out_channels = 16, .kernel = {2, 2, 2}, .stride = {1, 2, 1}, .groups = 2}),
               all);
}

TEST_F(OneDnnKernels, TransposedConvolutions) {
  const std::vector<std::pair<Shape, ConvOptions>> cases = {
      {{2, 3, 5, 4}, {.out_channels = 4, .kernel = {3, 3}, .bias = true}},
      {{2, 4, 5, 6},
       {.out_channels = 6,
        .kernel = {3, 2},
        .stride = {2, 3},
        .padding = {1, 0},
        .dilation = {1, 2},
        .groups = 2,
        .bias = true,
        .output_padding = {1, 2}}},
      {{1, 2, 3, 4, 3}, {.out_channels = 3, .kernel = {2, 3, 2}, .stride = {2, 1, 2}, .padding = {0, 1, 0}}},
      {{2, 2, 3, 3}, {.out_channels = 3, .kernel = {1, 2}, .stride = {3, 3}, .bias = true}},
  };
  for (const auto& [image, options] : cases) {
    GraphBuilder g("transposed");
    ValueId x = g.mul("scaled", g.input("image", image), g.parameter("scale.weight", image));
    x = image.size() == 4 ? g.conv_transpose2d("conv", x, options) : g.conv_transpose3d("conv", x, options);
    const std::string kind = image.size() == 4 ? "conv_transpose2d" : "conv_transpose3d";
    expect_kinds(check(with_loss(g, x)), {kind, kind + "_backward_input", kind + "_backward_weight"});
  }
}

TEST_F(OneDnnKernels, LayerNorms) {
  for (const Shape& shape : {Shape{5, 7}, Shape{2, 3, 16}, Shape{3, 300}, Shape{70, 33}}) {
    GraphBuilder g("norms");
    ValueId x = g.layer_norm("norm1", g.input("x", shape), 1e-5);
    x = g.layer_norm("norm2", g.tanh("tanh", x), 0.01);
    expect_kinds(check(with_loss(g, x)), {"layer_norm", "layer_norm_backward"});
  }
}

TEST_F(OneDnnKernels, GradientOfABiasAlone) {
  GraphBuilder g("frozen_weights");
  ValueId x = g.input("image", {3, 4, 9, 9});
  x = g.conv2d("conv", x, {.out_channels = 5, .kernel = {3, 3}, .bias = true});
  x = g.relu("relu", x);
  x = g.linear("fc", x, 37);
  const auto kinds =
      check(with_loss(g, x), {.optimizer = Optimizer::sgd,
                              .trainable = [](const std::string& name) { return name.ends_with(".bias"); }});
  expect_kinds(kinds, {"conv2d_backward_bias", "linear_backward_bias"});
}

TEST_F(OneDnnKernels, LinearLayers) {
  for (const Shape& shape : {Shape{5, 7}, Shape{2, 3, 16}, Shape{1, 40}, Shape{70, 33}, Shape{40, 500}}) {
    GraphBuilder g("linear");
    ValueId x = g.linear("fc1", g.input("x", shape), 19);
    x = g.linear("fc2", x, 32, false);
    x = g.linear("fc3", x, 3);
    expect_kinds(check(with_loss(g, x)), {"linear", "linear_backward_input", "linear_backward_weight"});
  }
}

/// More than one block along each side, columns shorter than a block, rows fewer than a tile's.
TEST_F(OneDnnKernels, ProductsInBlocks) {
  for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{
           {300, 430, 70}, {5, 2100, 45}, {300, 20, 130}, {37, 33, 290}, {1, 70, 1}}) {
    GraphBuilder g("products");
    ValueId x =
        g.mul("x", g.input("in", {sizes[0], sizes[1]}), g.parameter("x.weight", {sizes[0], sizes[1]}));
    x = g.matmul("product", x, g.parameter("product.weight", {sizes[1], sizes[2]}));
    x = g.linear("fc", x, sizes[1]);
    expect_kinds(check(with_loss(g, x)), {"matmul", "linear"});
  }
}

TEST_F(OneDnnKernels, ConvolutionsInBlocks) {
  const std::vector<std::string> all = {"conv2d", "conv2d_backward_input", "conv2d_backward_weight"};
  expect_kinds(check_convolution({3, 50, 5, 4},
                                 {.out_channels = 280, .kernel = {3, 3}, .padding = {1, 1}, .bias = true}),
               all);
  expect_kinds(check_convolution({2, 300, 12, 11}, {.out_channels = 20}), all);
  expect_kinds(
      check_convolution({2, 3, 47, 48},
                        {.out_channels = 3, .kernel = {5, 5}, .padding = {2, 2}, .groups = 3, .bias = true}),
      all);
}

/// Loops and products share work out by what is written, so the number of threads shows in no bit.
TEST_F(OneDnnKernels, ThreadsDoNotShowInLoopsAndProducts) {
  GraphBuilder g("threads");
  ValueId x =
      g.conv2d("conv", g.input("in", {3, 6, 20, 20}), {.out_channels = 50, .kernel = {3, 3}, .bias = true});
  x = g.conv2d("depthwise", g.batch_norm("bn", x), {.out_channels = 50, .kernel = {3, 3}, .groups = 50});
  x = g.layer_norm("ln", g.linear("fc", g.flatten("flat", x), 40), 1e-5);
  const Graph graph = differentiate(with_loss(g, x));
  const Checked checked(graph, 3);
  EXPECT_EQ(checked.check_threads(), 12);
}

TEST_F(OneDnnKernels, ProductsOfViews) {
  GraphBuilder g("attention");
  const ValueId x = g.input("x", {2, 5, 12});
  const ValueId q = g.linear("q", x, 12);
  const ValueId k = g.linear("k", x, 12);
  const ValueId v = g.linear("v", x, 12);
  const StridedShape heads = reshaped(g.layout(q), {2, 5, 3, 4});
  const ValueId scores =
      g.matmul("scores", g.view("q_heads", q, permuted(heads, {0, 2, 1, 3})),
               g.view("k_heads", k, permuted(heads, {0, 2, 3, 1})), {.alpha = 0.5, .storage_order = {}});
  const ValueId p = g.softmax("p", scores);
  const ValueId context = g.matmul("context", p, g.view("v_heads", v, permuted(heads, {0, 2, 1, 3})),
                                   {.alpha = 1.0, .storage_order = {0, 2, 1, 3}});
  const ValueId merged =
      g.view("merged", context, reshaped(permuted(g.layout(context), {0, 2, 1, 3}), {2, 5, 12}));
  expect_kinds(check(with_loss(g, g.log_softmax("log", g.linear("out", merged, 6)))),
               {"matmul", "softmax", "log_softmax"});
}

TEST_F(OneDnnKernels, ProductsWithStretchedAxes) {
  GraphBuilder g("broadcast");
  ValueId x = g.input("x", {3, 2, 4, 5});
  x = g.matmul("a", x, g.parameter("a.weight", {5, 6}), {.alpha = 2.0, .storage_order = {}});
  x = g.matmul("b", g.parameter("b.weight", {2, 7, 4}), x);
  x = g.matmul("c", x, g.parameter("c.weight", {3, 1, 6, 2}));
  expect_kinds(check(with_loss(g, x)), {"matmul"});
}

TEST_F(OneDnnKernels, BatchNorms) {
  for (const Shape& shape :
       {Shape{2, 3, 4, 5}, Shape{4, 17}, Shape{3, 2, 131}, Shape{1, 4, 7, 7}, Shape{2, 2, 200, 190}}) {
    GraphBuilder g("norms");
    ValueId x = g.batch_norm("bn1", g.input("x", shape));
    x = g.batch_norm("bn2", g.tanh("tanh", x), {.eps = 0.01, .momentum = 0.1});
    expect_kinds(check(with_loss(g, x)), {"batch_norm", "batch_norm_backward"});
  }
}

TEST_F(OneDnnKernels, BatchNormsOfWhichPartsTrain) {
  for (const std::string trained : {"bn2.weight", "bn2.bias", "first.bias"}) {
    GraphBuilder g("parts");
    ValueId x = g.linear("first", g.input("x", {6, 5}), 4);
    x = g.batch_norm("bn2", x);
    expect_kinds(
        check(with_loss(g, x), {.optimizer = Optimizer::sgd,
                                .trainable = [trained](const std::string& name) { return name == trained; }}),
        {"batch_norm_backward"});
  }
}

/// Elementwise functions of one shape after another, each followed by a sum with the input so that numbers
/// stay apart.
TEST_F(OneDnnKernels, Activations) {
  for (const Shape& shape : {Shape{3, 5}, Shape{1}, Shape{2, 3, 4, 7}, Shape{1000}}) {
    GraphBuilder g("activations");
    const ValueId x = g.add("x", g.input("in", shape), g.parameter("offset.bias", shape));
    std::vector<ValueId> all;
    const ValueId positive = g.scale("positive", g.unary("sigmoid", "sigmoid", x), 2.0, 0.25);
    all.push_back(g.relu("relu", x));
    all.push_back(g.unary("leaky_relu", "leaky", x, {{"alpha", 0.2}}));
    all.push_back(g.unary("elu", "elu", x, {{"alpha", 0.7}}));
    all.push_back(g.tanh("tanh", x));
    all.push_back(g.unary("exp", "exp", x));
    all.push_back(g.unary("sqrt", "sqrt", positive));
    all.push_back(g.unary("log", "log", positive));
    all.push_back(g.clip("clip", x, -0.4, 0.7));
    all.push_back(g.clip("floor", x, 0.1, std::numeric_limits<double>::infinity()));
    all.push_back(g.clip("roof", x, -std::numeric_limits<double>::infinity(), 0.1));
    all.push_back(g.gelu("gelu", x));
    all.push_back(g.unary("abs", "abs", x));
    all.push_back(g.unary("silu", "silu", x));
    all.push_back(g.unary("mish", "mish", x));
    all.push_back(g.unary("hardswish", "hardswish", g.scale("wide", x, 4.0)));
    all.push_back(g.unary("softplus", "softplus", x));
    all.push_back(g.scale("shift", x, 1.0, 0.5));
    ValueId sum = positive;
    int count = 0;
    for (const ValueId v : all) sum = g.add("sum" + std::to_string(count++), sum, v);
    expect_kinds(check(with_loss(g, sum)),
                 {"relu",      "relu_backward",      "leaky_relu", "leaky_relu_backward",
                  "elu",       "elu_backward",       "tanh",       "tanh_backward",
                  "exp",       "exp_backward",       "sqrt",       "sqrt_backward",
                  "log",       "log_backward",       "clip",       "clip_backward",
                  "gelu",      "gelu_backward",      "abs",        "abs_backward",
                  "silu",      "silu_backward",      "mish",       "mish_backward",
                  "hardswish", "hardswish_backward", "softplus",   "shift",
                  "sigmoid",   "sigmoid_backward",   "scale",      "scale_backward",
                  "add"});
  }
}

TEST_F(OneDnnKernels, Arithmetic) {
  for (const Shape& other :
       {Shape{2, 3, 5}, Shape{5}, Shape{3, 1}, Shape{2, 1, 1}, Shape{}, Shape{1, 3, 5}}) {
    GraphBuilder g("arithmetic");
    const ValueId x = g.add("x", g.input("in", {2, 3, 5}), g.parameter("x.bias", {2, 3, 5}));
    const ValueId y = g.scale("above", g.unary("sigmoid", "gate", g.parameter("y.weight", other)), 1.0, 0.5);
    ValueId z = g.add("added", x, y);
    z = g.sub("from", g.sub("less", z, y), g.mul("product", y, x));
    z = g.div("quotient", z, y);
    z = g.div("other_quotient", z, g.scale("same_shape", g.unary("sigmoid", "gate2", x), 1.0, 0.5));
    z = g.mul("square", z, z);
    expect_kinds(check(with_loss(g, z)), {"add", "sub", "mul", "div", "mul_backward", "div_backward_a"});
  }
}

TEST_F(OneDnnKernels, Reductions) {
  GraphBuilder g("reductions");
  ValueId x = g.add("x", g.input("in", {3, 4, 5, 6}), g.parameter("x.bias", {3, 4, 5, 6}));
  x = g.sub("centred", x, g.reduce("reduce_mean", "mean", x, {3}));
  x = g.sub("centred2", x, g.reduce("reduce_mean", "mean2", x, {2, 3}));
  x = g.add("a", x, g.reduce("reduce_max", "max", x, {3}));
  x = g.add("b", x, g.reduce("reduce_min", "min", x, {2, 3}));
  x = g.reduce("reduce_sum", "sum", x, {3}, false);
  expect_kinds(check(with_loss(g, x)), {"reduce_mean", "reduce_sum", "reduce_max", "reduce_min"});
}

TEST_F(OneDnnKernels, AveragePools) {
  const std::vector<PoolOptions> pools = {
      {.kernel = {2, 2}},
      {.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 0}},
      {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .count_include_pad = false},
      {.kernel = {2, 3}, .stride = {2, 2}, .padding = {0, 1}, .padding_end = {1, 0}},
      {.kernel = {2, 2}, .stride = {3, 2}, .ceil_mode = true},
      {.kernel = {2, 2}, .stride = {3, 2}, .ceil_mode = true, .count_include_pad = false},
      {.kernel = {2, 2}, .stride = {1, 1}, .dilation = {2, 1}},
  };
  std::set<std::string> kinds;
  for (const PoolOptions& pool : pools) {
    GraphBuilder g("pools");
    ValueId x = g.add("x", g.input("in", {2, 3, 9, 7}), g.parameter("x.bias", {2, 3, 9, 7}));
    x = g.global_avg_pool("global", g.avg_pool2d("pool", x, pool));
    kinds.merge(check(with_loss(g, x)));
  }
  GraphBuilder g("volumes");
  ValueId x = g.add("x", g.input("in", {2, 3, 4, 5, 6}), g.parameter("x.bias", {2, 3, 4, 5, 6}));
  x = g.avg_pool3d("pool", x, {.kernel = {2, 2, 3}});
  kinds.merge(check(with_loss(g, x)));
  expect_kinds(kinds, {"avg_pool2d", "avg_pool2d_backward", "avg_pool3d", "avg_pool3d_backward",
                       "global_avg_pool", "global_avg_pool_backward"});
}

TEST_F(OneDnnKernels, RandomNetworks) {
  std::set<std::string> kinds;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Graph forward = test::RandomNetwork(seed).build();
    kinds.merge(check(forward, {}, seed));
  }
  expect_kinds(kinds, {"linear", "matmul", "add"});
}

/// The derivatives at kinks are those of docs/operators.md: 0 for relu at 0 and for clip on its bounds.
TEST_F(OneDnnKernels, Kinks) {
  GraphBuilder g("kinks");
  const ValueId x = g.add("x", g.input("in", {5}), g.parameter("x.bias", {5}));
  const ValueId both = g.add("both", g.relu("relu", x), g.clip("clip", x, 0.0, 6.0));
  const Graph graph = differentiate(with_loss(g, both));
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const Op& op = graph.ops[id];
    if (op.kind != "relu_backward" && op.kind != "clip_backward") continue;
    const auto kernel = make_onednn_kernel(graph, id, {});
    ASSERT_TRUE(kernel);
    const Value& value = graph.values[op.inputs[0]];
    const Contents results =
        run(*kernel, graph, op, {stored(value, {2, 3, 4, 5, 6}), stored(value, {0, 6, 1, 5, 0})}, 0);
    const std::vector<double> expected =
        op.kind == "relu_backward" ? std::vector<double>{0, 3, 4, 5, 0} : std::vector<double>{0, 0, 4, 5, 0};
    EXPECT_EQ(as_floats(value, results[0]), expected) << op.kind;
  }
}

/// A network that diverges must show it: no function makes a finite number of what is none (oneDNN's exp
/// makes infinity).
TEST_F(OneDnnKernels, NothingFiniteComesOfWhatIsNoNumber) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> numbers(40, 0.3);
  numbers[3] = numbers[38] = kNone;
  GraphBuilder g("diverged");
  const ValueId x = g.input("in", {40});
  ValueId sum = g.add("x", x, g.parameter("x.bias", {40}));
  int count = 0;
  for (const ValueId v :
       {g.relu("relu", x), g.clip("clip", x, 0, 6), g.unary("leaky_relu", "leaky", x, {{"alpha", 0.2}}),
        g.unary("elu", "elu", x, {{"alpha", 0.7}}), g.tanh("tanh", x), g.unary("sigmoid", "sigmoid", x),
        g.gelu("gelu", x), g.unary("silu", "silu", x), g.unary("exp", "exp", x), g.unary("sqrt", "sqrt", x),
        g.unary("softplus", "softplus", x), g.unary("hardswish", "hardswish", x), g.unary("mish", "mish", x)})
    sum = g.add("sum" + std::to_string(count++), sum, v);
  const Graph graph = with_loss(g, sum);
  for (const KernelLibrary library : {KernelLibrary::fast, KernelLibrary::lean, KernelLibrary::reference}) {
    for (const OpId id : ids<OpId>(graph.ops.size())) {
      const Op& op = graph.ops[id];
      if (op.inputs.size() != 1 || op.inputs[0] != x) continue;
      const auto kernel = make_kernel(graph, id, {.library = library, .threads = 1, .isa = {}});
      const Value& value = graph.values[x];
      const std::vector<double> y = as_floats(value, run(*kernel, graph, op, {stored(value, numbers)}, 0)[0]);
      for (const std::size_t i : {3U, 38U})
        EXPECT_FALSE(std::isfinite(y[i])) << op.kind << " by " << kernel->implementation() << ": " << y[i];
    }
  }
}

TEST_F(OneDnnKernels, UnknownInstructionSetIsRefusedWithTheKnownOnes) {
  try {
    set_up_kernels({.library = KernelLibrary::fast, .threads = 1, .isa = "mmx"});
    FAIL() << "accepted";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("\"mmx\""), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("avx2"), std::string::npos) << e.what();
  }
  EXPECT_THROW(set_up_kernels({.library = KernelLibrary::fast, .threads = 0, .isa = {}}), InputError);
}

TEST_F(OneDnnKernels, DescriptionNamesTheVersion) {
  EXPECT_TRUE(onednn_description().starts_with("oneDNN 2.")) << onednn_description();
}

}  // namespace
}  // namespace poet::runtime

#else

TEST(OneDnnKernels, Absent) { GTEST_SKIP() << "built without oneDNN"; }

#endif
