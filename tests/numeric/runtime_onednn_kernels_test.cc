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
#include "poet/base/numbers.h"
#include "poet/graph/in_place.h"
#include "poet/graph/nn.h"
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
  nn::mse_loss(g, "loss", x, g.input("targets", shape));
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
std::set<std::string> check_convolution(const Shape& image, const nn::ConvOptions& options) {
  GraphBuilder g("convolution");
  ValueId x = g.input("image", image);
  x = nn::mul(g, "scaled", x, g.parameter("scale.weight", image));  // so that dx is wanted
  x = image.size() == 4 ? nn::conv2d(g, "conv", x, options) : nn::conv3d(g, "conv", x, options);
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
  const std::vector<std::pair<Shape, nn::ConvOptions>> cases = {
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
    ValueId x = nn::mul(g, "scaled", g.input("image", image), g.parameter("scale.weight", image));
    x = image.size() == 4 ? nn::conv_transpose2d(g, "conv", x, options)
                          : nn::conv_transpose3d(g, "conv", x, options);
    const std::string kind = image.size() == 4 ? "conv_transpose2d" : "conv_transpose3d";
    expect_kinds(check(with_loss(g, x)), {kind, kind + "_backward_input", kind + "_backward_weight"});
  }
}

TEST_F(OneDnnKernels, LayerNorms) {
  for (const Shape& shape : {Shape{5, 7}, Shape{2, 3, 16}, Shape{3, 300}, Shape{70, 33}}) {
    GraphBuilder g("norms");
    ValueId x = nn::layer_norm(g, "norm1", g.input("x", shape), 1e-5);
    x = nn::layer_norm(g, "norm2", nn::tanh(g, "tanh", x), 0.01);
    expect_kinds(check(with_loss(g, x)), {"layer_norm", "layer_norm_backward"});
  }
}

TEST_F(OneDnnKernels, GradientOfABiasAlone) {
  GraphBuilder g("frozen_weights");
  ValueId x = g.input("image", {3, 4, 9, 9});
  x = nn::conv2d(g, "conv", x, {.out_channels = 5, .kernel = {3, 3}, .bias = true});
  x = nn::relu(g, "relu", x);
  x = nn::linear(g, "fc", x, 37);
  const auto kinds =
      check(with_loss(g, x), {.optimizer = Optimizer::sgd,
                              .trainable = [](const std::string& name) { return name.ends_with(".bias"); }});
  expect_kinds(kinds, {"conv2d_backward_bias", "linear_backward_bias"});
}

TEST_F(OneDnnKernels, LinearLayers) {
  for (const Shape& shape : {Shape{5, 7}, Shape{2, 3, 16}, Shape{1, 40}, Shape{70, 33}, Shape{40, 500}}) {
    GraphBuilder g("linear");
    ValueId x = nn::linear(g, "fc1", g.input("x", shape), 19);
    x = nn::linear(g, "fc2", x, 32, false);
    x = nn::linear(g, "fc3", x, 3);
    expect_kinds(check(with_loss(g, x)), {"linear", "linear_backward_input", "linear_backward_weight"});
  }
}

/// More than one block along each side, columns shorter than a block, rows fewer than a tile's.
TEST_F(OneDnnKernels, ProductsInBlocks) {
  for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{
           {300, 430, 70}, {5, 2100, 45}, {300, 20, 130}, {37, 33, 290}, {1, 70, 1}}) {
    GraphBuilder g("products");
    ValueId x =
        nn::mul(g, "x", g.input("in", {sizes[0], sizes[1]}), g.parameter("x.weight", {sizes[0], sizes[1]}));
    x = nn::matmul(g, "product", x, g.parameter("product.weight", {sizes[1], sizes[2]}));
    x = nn::linear(g, "fc", x, sizes[1]);
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
  ValueId x = nn::conv2d(g, "conv", g.input("in", {3, 6, 20, 20}),
                         {.out_channels = 50, .kernel = {3, 3}, .bias = true});
  x = nn::conv2d(g, "depthwise", nn::batch_norm(g, "bn", x),
                 {.out_channels = 50, .kernel = {3, 3}, .groups = 50});
  x = nn::layer_norm(g, "ln", nn::linear(g, "fc", nn::flatten(g, "flat", x), 40), 1e-5);
  const Graph graph = differentiate(with_loss(g, x));
  const Checked checked(graph, 3);
  EXPECT_EQ(checked.check_threads(), 12);
}

TEST_F(OneDnnKernels, ProductsOfViews) {
  GraphBuilder g("attention");
  const ValueId x = g.input("x", {2, 5, 12});
  const ValueId q = nn::linear(g, "q", x, 12);
  const ValueId k = nn::linear(g, "k", x, 12);
  const ValueId v = nn::linear(g, "v", x, 12);
  const StridedShape heads = reshaped(g.layout(q), {2, 5, 3, 4});
  const ValueId scores =
      nn::matmul(g, "scores", g.view("q_heads", q, permuted(heads, {0, 2, 1, 3})),
                 g.view("k_heads", k, permuted(heads, {0, 2, 3, 1})), {.alpha = 0.5, .storage_order = {}});
  const ValueId p = nn::softmax(g, "p", scores);
  const ValueId context = nn::matmul(g, "context", p, g.view("v_heads", v, permuted(heads, {0, 2, 1, 3})),
                                     {.alpha = 1.0, .storage_order = {0, 2, 1, 3}});
  const ValueId merged =
      g.view("merged", context, reshaped(permuted(g.layout(context), {0, 2, 1, 3}), {2, 5, 12}));
  expect_kinds(check(with_loss(g, nn::log_softmax(g, "log", nn::linear(g, "out", merged, 6)))),
               {"matmul", "softmax", "log_softmax"});
}

TEST_F(OneDnnKernels, ProductsWithStretchedAxes) {
  GraphBuilder g("broadcast");
  ValueId x = g.input("x", {3, 2, 4, 5});
  x = nn::matmul(g, "a", x, g.parameter("a.weight", {5, 6}), {.alpha = 2.0, .storage_order = {}});
  x = nn::matmul(g, "b", g.parameter("b.weight", {2, 7, 4}), x);
  x = nn::matmul(g, "c", x, g.parameter("c.weight", {3, 1, 6, 2}));
  expect_kinds(check(with_loss(g, x)), {"matmul"});
}

TEST_F(OneDnnKernels, BatchNorms) {
  for (const Shape& shape :
       {Shape{2, 3, 4, 5}, Shape{4, 17}, Shape{3, 2, 131}, Shape{1, 4, 7, 7}, Shape{2, 2, 200, 190}}) {
    GraphBuilder g("norms");
    ValueId x = nn::batch_norm(g, "bn1", g.input("x", shape));
    x = nn::batch_norm(g, "bn2", nn::tanh(g, "tanh", x), {.eps = 0.01, .momentum = 0.1});
    expect_kinds(check(with_loss(g, x)), {"batch_norm", "batch_norm_backward"});
  }
}

TEST_F(OneDnnKernels, BatchNormsOfWhichPartsTrain) {
  for (const std::string trained : {"bn2.weight", "bn2.bias", "first.bias"}) {
    GraphBuilder g("parts");
    ValueId x = nn::linear(g, "first", g.input("x", {6, 5}), 4);
    x = nn::batch_norm(g, "bn2", x);
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
    const ValueId x = nn::add(g, "x", g.input("in", shape), g.parameter("offset.bias", shape));
    std::vector<ValueId> all;
    const ValueId positive = nn::scale(g, "positive", nn::unary(g, "sigmoid", "sigmoid", x), 2.0, 0.25);
    all.push_back(nn::relu(g, "relu", x));
    all.push_back(nn::unary(g, "leaky_relu", "leaky", x, {{"alpha", 0.2}}));
    all.push_back(nn::unary(g, "elu", "elu", x, {{"alpha", 0.7}}));
    all.push_back(nn::tanh(g, "tanh", x));
    all.push_back(nn::unary(g, "exp", "exp", x));
    all.push_back(nn::unary(g, "sqrt", "sqrt", positive));
    all.push_back(nn::unary(g, "log", "log", positive));
    all.push_back(nn::clip(g, "clip", x, -0.4, 0.7));
    all.push_back(nn::clip(g, "floor", x, 0.1, std::numeric_limits<double>::infinity()));
    all.push_back(nn::clip(g, "roof", x, -std::numeric_limits<double>::infinity(), 0.1));
    all.push_back(nn::gelu(g, "gelu", x));
    all.push_back(nn::unary(g, "abs", "abs", x));
    all.push_back(nn::unary(g, "silu", "silu", x));
    all.push_back(nn::unary(g, "mish", "mish", x));
    all.push_back(nn::unary(g, "hardswish", "hardswish", nn::scale(g, "wide", x, 4.0)));
    all.push_back(nn::unary(g, "softplus", "softplus", x));
    all.push_back(nn::scale(g, "shift", x, 1.0, 0.5));
    ValueId sum = positive;
    int count = 0;
    for (const ValueId v : all) sum = nn::add(g, "sum" + std::to_string(count++), sum, v);
    expect_kinds(check(with_loss(g, sum)), {"relu",
                                            "relu_backward",
                                            "leaky_relu",
                                            "leaky_relu_backward",
                                            "elu",
                                            "elu_backward",
                                            "tanh",
                                            "tanh_backward",
                                            "exp",
                                            "exp_backward",
                                            "sqrt",
                                            "sqrt_backward",
                                            "log",
                                            "log_backward",
                                            "clip",
                                            "clip_backward",
                                            "gelu",
                                            "gelu_backward",
                                            "abs",
                                            "abs_backward",
                                            "silu",
                                            "silu_backward",
                                            "mish",
                                            "mish_backward",
                                            "hardswish",
                                            "hardswish_backward",
                                            "shift",
                                            "sigmoid",
                                            "sigmoid_backward",
                                            "scale",
                                            "scale_backward",
                                            "add"});
  }
}

struct FunctionResults {
  std::string of;  // the op's kind and its kernel
  std::string kind;
  std::vector<double> y;
};

/// What every library's kernel makes of the numbers, for each op that reads nothing but x.
std::vector<FunctionResults> results_of(const Graph& graph, ValueId x, const std::vector<double>& numbers) {
  std::vector<FunctionResults> results;
  const Value& value = graph.values[x];
  for (const KernelLibrary library : {KernelLibrary::fast, KernelLibrary::lean, KernelLibrary::reference}) {
    for (const OpId id : ids<OpId>(graph.ops.size())) {
      const Op& op = graph.ops[id];
      if (op.inputs.size() != 1 || op.inputs[0] != x) continue;
      const auto kernel = make_kernel(graph, id, {.library = library, .threads = 1, .isa = {}});
      results.push_back({op.kind + " by " + kernel->implementation(), op.kind,
                         as_floats(value, run(*kernel, graph, op, {stored(value, numbers)}, 0)[0])});
    }
  }
  return results;
}

/// A logarithm may follow: what is positive keeps its digits where it is small.
TEST_F(OneDnnKernels, SmallResultsKeepTheirDigits) {
  std::vector<double> numbers;
  for (int i = -320; i <= 40; ++i) numbers.push_back(0.25 * i);
  GraphBuilder g("small");
  const ValueId x = g.input("in", {std::ssize(numbers)});
  ValueId sum = nn::add(g, "x", x, g.parameter("x.bias", {std::ssize(numbers)}));
  for (const char* kind : {"exp", "sigmoid", "softplus"})
    sum = nn::add(g, std::string(kind) + "_sum", sum, nn::unary(g, kind, kind, x));
  const Graph graph = with_loss(g, sum);
  for (const auto& [of, kind, y] : results_of(graph, x, numbers)) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double e = std::exp(numbers[i]);
      const double expected = kind == "exp" ? e : kind == "sigmoid" ? e / (1 + e) : std::log1p(e);
      EXPECT_NEAR(y[i], expected, 2e-5 * expected) << of << " of " << numbers[i];
    }
  }
}

/// Of infinite numbers alone, too.
TEST_F(OneDnnKernels, ExtremesAreElements) {
  for (const char* kind : {"reduce_max", "reduce_min"}) {
    const double far = kind == std::string("reduce_max") ? -kInfinity : kInfinity;
    GraphBuilder g("extremes");
    const ValueId x = g.input("in", {2, 40});
    const ValueId most = nn::reduce(g, kind, kind, x, {1});
    const Graph graph = with_loss(g, nn::add(g, "sum", most, g.parameter("x.bias", {2, 1})));
    std::vector<double> numbers(80, far);
    for (std::size_t i = 40; i < 80; ++i) numbers[i] = far > 0 ? 3 : -3;
    for (const auto& [of, kind_of, y] : results_of(graph, x, numbers))
      EXPECT_EQ(y, (std::vector<double>{far, far > 0 ? 3.0 : -3.0})) << of;
  }
}

TEST_F(OneDnnKernels, Arithmetic) {
  for (const Shape& other :
       {Shape{2, 3, 5}, Shape{5}, Shape{3, 1}, Shape{2, 1, 1}, Shape{}, Shape{1, 3, 5}}) {
    GraphBuilder g("arithmetic");
    const ValueId x = nn::add(g, "x", g.input("in", {2, 3, 5}), g.parameter("x.bias", {2, 3, 5}));
    const ValueId y =
        nn::scale(g, "above", nn::unary(g, "sigmoid", "gate", g.parameter("y.weight", other)), 1.0, 0.5);
    ValueId z = nn::add(g, "added", x, y);
    z = nn::sub(g, "from", nn::sub(g, "less", z, y), nn::mul(g, "product", y, x));
    z = nn::div(g, "quotient", z, y);
    z = nn::div(g, "other_quotient", z,
                nn::scale(g, "same_shape", nn::unary(g, "sigmoid", "gate2", x), 1.0, 0.5));
    z = nn::mul(g, "square", z, z);
    expect_kinds(check(with_loss(g, z)), {"add", "sub", "mul", "div", "mul_backward", "div_backward_a"});
  }
}

TEST_F(OneDnnKernels, Reductions) {
  GraphBuilder g("reductions");
  ValueId x = nn::add(g, "x", g.input("in", {3, 4, 5, 6}), g.parameter("x.bias", {3, 4, 5, 6}));
  x = nn::sub(g, "centred", x, nn::reduce(g, "reduce_mean", "mean", x, {3}));
  x = nn::sub(g, "centred2", x, nn::reduce(g, "reduce_mean", "mean2", x, {2, 3}));
  x = nn::add(g, "a", x, nn::reduce(g, "reduce_max", "max", x, {3}));
  x = nn::add(g, "b", x, nn::reduce(g, "reduce_min", "min", x, {2, 3}));
  x = nn::reduce(g, "reduce_sum", "sum", x, {3}, false);
  expect_kinds(check(with_loss(g, x)), {"reduce_mean", "reduce_sum"});
}

TEST_F(OneDnnKernels, AveragePools) {
  const std::vector<nn::PoolOptions> pools = {
      {.kernel = {2, 2}},
      {.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 0}},
      {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .count_include_pad = false},
      {.kernel = {2, 3}, .stride = {2, 2}, .padding = {0, 1}, .padding_end = {1, 0}},
      {.kernel = {2, 2}, .stride = {3, 2}, .ceil_mode = true},
      {.kernel = {2, 2}, .stride = {3, 2}, .ceil_mode = true, .count_include_pad = false},
      {.kernel = {2, 2}, .stride = {1, 1}, .dilation = {2, 1}},
  };
  std::set<std::string> kinds;
  for (const nn::PoolOptions& pool : pools) {
    GraphBuilder g("pools");
    ValueId x = nn::add(g, "x", g.input("in", {2, 3, 9, 7}), g.parameter("x.bias", {2, 3, 9, 7}));
    x = nn::global_avg_pool(g, "global", nn::avg_pool2d(g, "pool", x, pool));
    kinds.merge(check(with_loss(g, x)));
  }
  GraphBuilder g("volumes");
  ValueId x = nn::add(g, "x", g.input("in", {2, 3, 4, 5, 6}), g.parameter("x.bias", {2, 3, 4, 5, 6}));
  x = nn::avg_pool3d(g, "pool", x, {.kernel = {2, 2, 3}});
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
  const ValueId x = nn::add(g, "x", g.input("in", {5}), g.parameter("x.bias", {5}));
  const ValueId both = nn::add(g, "both", nn::relu(g, "relu", x), nn::clip(g, "clip", x, 0.0, 6.0));
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
  ValueId sum = nn::add(g, "x", x, g.parameter("x.bias", {40}));
  int count = 0;
  for (const ValueId v : {nn::relu(g, "relu", x), nn::clip(g, "clip", x, 0, 6),
                          nn::unary(g, "leaky_relu", "leaky", x, {{"alpha", 0.2}}),
                          nn::unary(g, "elu", "elu", x, {{"alpha", 0.7}}), nn::tanh(g, "tanh", x),
                          nn::unary(g, "sigmoid", "sigmoid", x), nn::gelu(g, "gelu", x),
                          nn::unary(g, "silu", "silu", x), nn::unary(g, "exp", "exp", x),
                          nn::unary(g, "sqrt", "sqrt", x), nn::unary(g, "softplus", "softplus", x),
                          nn::unary(g, "hardswish", "hardswish", x), nn::unary(g, "mish", "mish", x)})
    sum = nn::add(g, "sum" + std::to_string(count++), sum, v);
  const Graph graph = with_loss(g, sum);
  for (const auto& [of, kind, y] : results_of(graph, x, numbers))
    for (const std::size_t i : {3U, 38U}) EXPECT_FALSE(std::isfinite(y[i])) << of << ": " << y[i];
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
