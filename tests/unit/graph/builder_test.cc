#include "poet/graph/nn.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "tests/support/graph_text.h"

namespace poet {
namespace {

using test::op_named;
using test::shapes;

TEST(Builder, Conv2d) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {2, 6, 11, 9});
  nn::conv2d(g, "conv", x,
             {.out_channels = 8,
              .kernel = {3, 5},
              .stride = {2, 1},
              .padding = {1, 0},
              .dilation = {2, 1},
              .groups = 2,
              .bias = true});
  const Graph graph = g.finish();
  const Op& conv = op_named(graph, "conv");
  // Height: (11 + 2 - 2 (3 - 1) - 1) / 2 + 1 = 8 / 2 + 1 = 5. Width: (9 - (5 - 1) - 1) / 1 + 1 = 5.
  EXPECT_EQ(shapes(graph, conv.outputs), (std::vector<Shape>{{2, 8, 5, 5}}));
  EXPECT_EQ(shapes(graph, conv.inputs), (std::vector<Shape>{{2, 6, 11, 9}, {8, 3, 3, 5}, {8}}));
  EXPECT_EQ(graph.values[conv.inputs[1]].name, "conv.weight");
  EXPECT_EQ(graph.values[conv.inputs[2]].name, "conv.bias");
  EXPECT_EQ(graph.values[conv.inputs[1]].persistence, Persistence::parameter);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(conv.attributes.at("stride")),
            (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(conv.attributes.at("padding")),
            (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(conv.attributes.at("dilation")),
            (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(std::get<std::int64_t>(conv.attributes.at("groups")), 2);
  EXPECT_EQ(graph.values[conv.outputs[0]].bytes, Bytes(2 * 8 * 5 * 5 * 4));
}

TEST(Builder, LinearActsOnTheLastAxis) {
  GraphBuilder g("g");
  nn::linear(g, "fc", g.input("x", {2, 3, 4}), 5);
  nn::linear(g, "plain", g.input("z", {4}), 1, false);
  const Graph graph = g.finish();
  EXPECT_EQ(shapes(graph, op_named(graph, "fc").outputs), (std::vector<Shape>{{2, 3, 5}}));
  EXPECT_EQ(shapes(graph, op_named(graph, "fc").inputs), (std::vector<Shape>{{2, 3, 4}, {5, 4}, {5}}));
  EXPECT_EQ(op_named(graph, "plain").inputs.size(), 2U);
}

TEST(Builder, BatchNormUpdatesItsRunningStatisticsInAnOpOfItsOwn) {
  GraphBuilder g("g");
  nn::batch_norm(g, "bn", g.input("x", {2, 3, 4, 5}), {.eps = 1e-3, .momentum = 0.2});
  const Graph graph = g.finish();
  ASSERT_EQ(graph.ops.size(), 3U);
  const Op& norm = graph.ops[OpId(1)];
  const Op& stats = graph.ops[OpId(2)];
  EXPECT_EQ(norm.kind, "batch_norm");
  EXPECT_TRUE(norm.recomputable);
  EXPECT_EQ(shapes(graph, norm.outputs), (std::vector<Shape>{{2, 3, 4, 5}, {3}, {3}}));
  EXPECT_EQ(stats.kind, "batch_norm_stats");
  EXPECT_EQ(stats.pass, Pass::update);
  EXPECT_FALSE(stats.recomputable);
  EXPECT_EQ(stats.inputs[0], norm.outputs[1]);
  EXPECT_EQ(stats.inputs[1], norm.outputs[2]);
  EXPECT_EQ(stats.updates, (std::vector<ValueId>{stats.inputs[2], stats.inputs[3]}));
  EXPECT_EQ(graph.values[stats.updates[0]].name, "bn.running_mean");
  EXPECT_EQ(graph.values[stats.updates[1]].name, "bn.running_var");
  EXPECT_EQ(graph.values[stats.updates[0]].persistence, Persistence::optimizer_state);
  EXPECT_EQ(std::get<std::int64_t>(stats.attributes.at("count")), 2 * 4 * 5);
  EXPECT_EQ(std::get<double>(stats.attributes.at("momentum")), 0.2);
  EXPECT_EQ(std::get<double>(norm.attributes.at("eps")), 1e-3);
}

TEST(Builder, LayerNormSavesStatisticsPerRow) {
  GraphBuilder g("g");
  nn::layer_norm(g, "ln", g.input("x", {2, 3, 4}), 1e-12);
  const Graph graph = g.finish();
  EXPECT_EQ(shapes(graph, op_named(graph, "ln").outputs), (std::vector<Shape>{{2, 3, 4}, {2, 3}, {2, 3}}));
  EXPECT_EQ(shapes(graph, op_named(graph, "ln").inputs), (std::vector<Shape>{{2, 3, 4}, {4}, {4}}));
}

TEST(Builder, Pools) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {1, 2, 112, 7});
  nn::max_pool2d(g, "max", x, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
  nn::avg_pool2d(g, "avg", x, {.kernel = {2, 3}, .stride = {2, 2}, .padding = {0, 0}});
  nn::global_avg_pool(g, "global", x);
  const Graph graph = g.finish();
  // (112 + 2 - 3) / 2 + 1 = 56 (rounded down), (7 + 2 - 3) / 2 + 1 = 4; an index is a byte.
  const Op& max = op_named(graph, "max");
  EXPECT_EQ(shapes(graph, max.outputs), (std::vector<Shape>{{1, 2, 56, 4}, {1, 2, 56, 4}}));
  EXPECT_EQ(graph.values[max.outputs[1]].dtype, DType::uint8);
  EXPECT_EQ(graph.values[max.outputs[1]].bytes, Bytes(2 * 56 * 4));
  EXPECT_EQ(shapes(graph, op_named(graph, "avg").outputs), (std::vector<Shape>{{1, 2, 56, 3}}));
  EXPECT_EQ(shapes(graph, op_named(graph, "global").outputs), (std::vector<Shape>{{1, 2, 1, 1}}));
}

TEST(Builder, ElementwiseKeepsShapesAndDropoutsHaveSeedsOfTheirOwn) {
  GraphBuilder g("g");
  ValueId x = g.input("x", {2, 3});
  x = nn::relu(g, "relu", x);
  x = nn::gelu(g, "gelu", x);
  x = nn::tanh(g, "tanh", x);
  x = nn::softmax(g, "softmax", x);
  const ValueId a = nn::dropout(g, "drop1", x, 0.1);
  const ValueId b = nn::dropout(g, "drop2", x, 0.5);
  x = nn::add(g, "add", a, b);
  EXPECT_EQ(g.shape(x), (Shape{2, 3}));
  const Graph graph = g.finish();
  const Op& first = op_named(graph, "drop1");
  EXPECT_EQ(graph.values[first.outputs[1]].dtype, DType::uint8);
  EXPECT_EQ(graph.values[first.outputs[1]].shape, (Shape{2, 3}));
  EXPECT_EQ(std::get<double>(first.attributes.at("p")), 0.1);
  EXPECT_NE(std::get<std::int64_t>(first.attributes.at("seed")),
            std::get<std::int64_t>(op_named(graph, "drop2").attributes.at("seed")));
}

TEST(Builder, ArithmeticBroadcasts) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {2, 3, 4, 5});
  const ValueId gate = g.input("gate", {2, 3, 1, 1});
  const ValueId row = g.parameter("row", {5});
  const ValueId one = g.constant("one", {});
  EXPECT_EQ(g.shape(nn::mul(g, "gated", x, gate)), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(g.shape(nn::sub(g, "both", gate, g.parameter("column", {4, 1}))), (Shape{2, 3, 4, 1}));
  EXPECT_EQ(g.shape(nn::div(g, "inverse", one, x)), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(g.shape(nn::add(g, "longer", row, x)), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(g.shape(nn::add(g, "scalars", one, one)), Shape{});
  const Graph graph = g.finish();
  EXPECT_EQ(op_named(graph, "longer").inputs, (std::vector<ValueId>{row, x}));
  EXPECT_EQ(graph.values[row].persistence, Persistence::parameter);
  EXPECT_EQ(graph.values[row].bytes, Bytes(20));
  EXPECT_EQ(graph.values[one].persistence, Persistence::optimizer_state);
  EXPECT_EQ(graph.values[one].bytes, Bytes(4));
}

TEST(Builder, FunctionsOfOneOperandKeepItsShape) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {2, 3});
  nn::scale(g, "scale", x, 2, 0.5);
  nn::scale(g, "shift", x, 1, 3);
  nn::neg(g, "neg", x);
  nn::unary(g, "pow", "pow", x, {{"exponent", 2.0}});
  nn::clip(g, "relu6", x, 0, 6);
  nn::clip(g, "floor", x, -1, std::numeric_limits<double>::infinity());
  nn::unary(g, "leaky_relu", "leaky", x, {{"alpha", 0.01}});
  nn::unary(g, "elu", "elu", x, {{"alpha", 1.0}});
  nn::unary(g, "hardsigmoid", "hardsigmoid", x, {{"alpha", 0.2}, {"beta", 0.5}});
  for (const ValueId y :
       {nn::unary(g, "sigmoid", "a", x), nn::unary(g, "erf", "b", x), nn::unary(g, "exp", "c", x),
        nn::unary(g, "log", "d", x), nn::unary(g, "sqrt", "e", x), nn::unary(g, "abs", "f", x),
        nn::unary(g, "hardswish", "g", x)}) {
    EXPECT_EQ(g.shape(y), (Shape{2, 3}));
  }
  const Graph graph = g.finish();
  EXPECT_EQ(op_named(graph, "scale").attributes, (Attributes{{"alpha", 2.0}, {"beta", 0.5}}));
  EXPECT_EQ(op_named(graph, "scale").kind, "scale");
  EXPECT_EQ(op_named(graph, "shift").kind, "shift");
  EXPECT_EQ(op_named(graph, "shift").attributes, (Attributes{{"beta", 3.0}}));
  EXPECT_EQ(op_named(graph, "neg").kind, "scale");
  EXPECT_EQ(op_named(graph, "neg").attributes, (Attributes{{"alpha", -1.0}, {"beta", 0.0}}));
  EXPECT_EQ(op_named(graph, "pow").attributes, (Attributes{{"exponent", 2.0}}));
  EXPECT_EQ(op_named(graph, "relu6").attributes, (Attributes{{"min", 0.0}, {"max", 6.0}}));
  EXPECT_EQ(op_named(graph, "floor").attributes, (Attributes{{"min", -1.0}}));
  EXPECT_EQ(op_named(graph, "leaky").attributes, (Attributes{{"alpha", 0.01}}));
  EXPECT_EQ(op_named(graph, "elu").attributes, (Attributes{{"alpha", 1.0}}));
  EXPECT_EQ(op_named(graph, "hardsigmoid").attributes, (Attributes{{"alpha", 0.2}, {"beta", 0.5}}));
}

TEST(Builder, Reductions) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {2, 3, 4});
  EXPECT_EQ(g.shape(nn::reduce(g, "reduce_sum", "a", x, {2, 0})), (Shape{1, 3, 1}));
  EXPECT_EQ(g.shape(nn::reduce(g, "reduce_mean", "b", x, {1}, false)), (Shape{2, 4}));
  EXPECT_EQ(g.shape(nn::reduce(g, "reduce_mean", "c", x, {0, 1, 2}, false)), Shape{});
  const Graph graph = g.finish();
  EXPECT_EQ(op_named(graph, "a").attributes,
            (Attributes{{"axes", std::vector<std::int64_t>{0, 2}}, {"keepdims", std::int64_t{1}}}));
  EXPECT_EQ(op_named(graph, "b").attributes,
            (Attributes{{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}}));
}

TEST(Builder, EmbeddingSelectAndLoss) {
  GraphBuilder g("g");
  ValueId x = nn::embedding(g, "table", g.input("ids", {2, 3}, DType::int32), 100, 8);
  EXPECT_EQ(g.shape(x), (Shape{2, 3, 8}));
  x = nn::select(g, "first", x, 0);
  EXPECT_EQ(g.shape(x), (Shape{2, 8}));
  const ValueId loss = nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {2}, DType::int32));
  EXPECT_EQ(g.shape(loss), Shape{1});
  const Graph graph = g.finish();
  EXPECT_EQ(shapes(graph, op_named(graph, "loss").outputs), (std::vector<Shape>{{1}, {2, 8}}));
  EXPECT_EQ(shapes(graph, op_named(graph, "table").inputs), (std::vector<Shape>{{2, 3}, {100, 8}}));
}

TEST(Builder, InputsAreDataThatCannotBeRecomputed) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {2, 3});
  const Graph graph = g.finish();
  EXPECT_EQ(graph.values[x].persistence, Persistence::input);
  EXPECT_FALSE(graph.ops[OpId(0)].recomputable);
}

// Two heads of two channels over three tokens: what an attention layer does, without copies.
TEST(Builder, MatmulReadsAndWritesStridedViews) {
  GraphBuilder g("g");
  const ValueId q = g.input("q", {1, 3, 4});
  const ValueId heads = nn::permute(g, "heads", nn::reshape(g, "split", q, {1, 3, 2, 2}), {0, 2, 1, 3});
  const ValueId transposed = nn::permute(g, "transposed", heads, {0, 1, 3, 2});
  const ValueId scores = nn::matmul(g, "scores", heads, transposed, {.alpha = 0.5, .storage_order = {}});
  const ValueId context =
      nn::matmul(g, "context", scores, heads, {.alpha = 1.0, .storage_order = {0, 2, 1, 3}});
  const ValueId merged =
      nn::reshape(g, "merged", nn::permute(g, "by_token", context, {0, 2, 1, 3}), {1, 3, 4});
  const Graph graph = g.finish();
  EXPECT_EQ(graph.ops.size(), 3U);  // the input and two products: views are no ops
  EXPECT_EQ(graph.values[heads].shape, (Shape{1, 2, 3, 2}));
  EXPECT_EQ(graph.values[heads].strides, (Shape{12, 2, 4, 1}));
  EXPECT_EQ(graph.values[transposed].shape, (Shape{1, 2, 2, 3}));
  EXPECT_EQ(graph.values[transposed].strides, (Shape{12, 2, 1, 4}));
  EXPECT_EQ(graph.values[scores].shape, (Shape{1, 2, 3, 3}));
  EXPECT_TRUE(graph.values[scores].strides.empty());
  EXPECT_EQ(graph.values[context].shape, (Shape{1, 2, 3, 2}));
  EXPECT_EQ(graph.values[context].strides, (Shape{12, 2, 4, 1}));
  EXPECT_TRUE(graph.values[merged].strides.empty());
  EXPECT_EQ(storage(graph, merged), context);
  EXPECT_EQ(storage(graph, transposed), q);
}

TEST(Builder, UnevenPaddingHasAnAttributeOfItsOwnWhereItDiffers) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {1, 2, 7, 6});
  nn::conv2d(g, "even", x, {.kernel = {3, 3}, .padding = {1, 1}, .padding_end = {1, 1}});
  nn::conv2d(g, "uneven", x, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {0, 1}, .padding_end = {1, 2}});
  const Graph graph = g.finish();
  EXPECT_EQ(op_named(graph, "even").attributes.count("padding_end"), 0U);
  const Op& uneven = op_named(graph, "uneven");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(uneven.attributes.at("padding")),
            (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(uneven.attributes.at("padding_end")),
            (std::vector<std::int64_t>{1, 2}));
  // (7 + 0 + 1 - 3) / 2 + 1 = 3 and (6 + 1 + 2 - 3) / 2 + 1 = 4.
  EXPECT_EQ(shapes(graph, uneven.outputs), (std::vector<Shape>{{1, 1, 3, 4}}));
}

TEST(Builder, PoolsWithCeilingAndDilation) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {1, 2, 6, 5});
  const auto pooled = [&](const nn::PoolOptions& options) {
    return g.shape(nn::max_pool2d(g, "p", x, options));
  };
  // (6 - 3) / 2 = 1.5 and (5 - 3) / 2 = 1.
  EXPECT_EQ(pooled({.kernel = {3, 3}, .stride = {2, 2}, .padding = {0, 0}}), (Shape{1, 2, 2, 2}));
  EXPECT_EQ(pooled({.kernel = {3, 3}, .stride = {2, 2}, .padding = {0, 0}, .ceil_mode = true}),
            (Shape{1, 2, 3, 2}));
  // (6 + 2 - 2) / 3 = 2 and (5 + 2 - 2) / 3 = 1.67: the third window would start at 5, behind the last
  // element.
  EXPECT_EQ(pooled({.kernel = {2, 2}, .stride = {3, 3}, .padding = {1, 1}, .ceil_mode = true}),
            (Shape{1, 2, 3, 2}));
  // A window reaches over 5 elements: 6 - 5 + 1 and 5 - 5 + 1.
  EXPECT_EQ(pooled({.kernel = {3, 3}, .stride = {1, 1}, .padding = {0, 0}, .dilation = {2, 2}}),
            (Shape{1, 2, 2, 1}));
  nn::avg_pool2d(g, "plain", x, {});
  nn::avg_pool2d(g, "inside", x, {.count_include_pad = false});
  const Graph graph = g.finish();
  EXPECT_EQ(op_named(graph, "plain").attributes.size(), 3U);  // kernel, stride, padding: no more than needed
  EXPECT_EQ(std::get<std::int64_t>(op_named(graph, "inside").attributes.at("count_include_pad")), 0);
}

/// One axis of a pool: an image, windows, padding on both sides.
struct PoolAxis {
  std::int64_t size, kernel, stride, before, after, dilation;
  bool ceil;

  [[nodiscard]] std::int64_t padded() const { return before + size + after; }
  /// One past the last place that window `o` reaches, counted from the first place of padding.
  [[nodiscard]] std::int64_t end(std::int64_t o) const { return o * stride + dilation * (kernel - 1) + 1; }
  /// By the definition: the windows that fit and, rounded up, one that begins on an element or before it,
  /// where the last of them leaves places over.
  [[nodiscard]] std::int64_t windows() const {
    std::int64_t count = 0;
    while (end(count) <= padded()) ++count;
    const bool left_over = count > 0 && end(count - 1) < padded();
    return count + (ceil && left_over && count * stride < before + size ? 1 : 0);
  }
  [[nodiscard]] bool holds_an_element(std::int64_t o) const {
    for (std::int64_t k = 0; k < kernel; ++k) {
      const std::int64_t place = o * stride + k * dilation - before;
      if (place >= 0 && place < size) return true;
    }
    return false;
  }
};

/// -1 when the builder refuses it.
std::int64_t built_windows(const PoolAxis& a) {
  GraphBuilder g("g");
  try {
    return g.shape(nn::max_pool2d(g, "p", g.input("x", {1, 1, a.size, 1}),
                                  {.kernel = {a.kernel, 1},
                                   .stride = {a.stride, 1},
                                   .padding = {a.before, 0},
                                   .dilation = {a.dilation, 1},
                                   .padding_end = {a.after, 0},
                                   .ceil_mode = a.ceil}))[2];
  } catch (const InputError&) {
    return -1;
  }
}

TEST(Builder, PoolsAreWhatCountingWindowsGives) {
  int accepted = 0;
  int refused = 0;
  for (int code = 0; code < 6 * 3 * 4 * 4 * 4 * 2 * 2; ++code) {
    int rest = code;
    const auto digit = [&rest](int base) { return std::exchange(rest, rest / base) % base; };
    const PoolAxis a{1 + digit(6), 1 + digit(3), 1 + digit(4), digit(4),
                     digit(4),     1 + digit(2), digit(2) == 1};
    bool sound = a.windows() > 0;
    for (std::int64_t o = 0; o < a.windows(); ++o) sound = sound && a.holds_an_element(o);
    const std::int64_t built = built_windows(a);
    (built < 0 ? refused : accepted) += 1;
    // A dilation of more than the image is refused with padding, whether or not it hits an element.
    if (built < 0 && (!sound || a.dilation > a.size)) continue;
    ASSERT_TRUE(sound && built == a.windows())
        << built << " windows, not " << a.windows() << ": size " << a.size << " kernel " << a.kernel
        << " stride " << a.stride << " padding " << a.before << ", " << a.after << " dilation " << a.dilation
        << " ceil " << a.ceil;
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 500);
}

TEST(Builder, Convolutions) {
  GraphBuilder g("g");
  nn::conv3d(g, "volume", g.input("v", {2, 6, 5, 11, 9}),
             {.out_channels = 8,
              .kernel = {2, 3, 5},
              .stride = {1, 2, 1},
              .padding = {0, 1, 0},
              .dilation = {3, 2, 1},
              .groups = 2});
  const ValueId x = g.input("x", {2, 6, 4, 5});
  nn::conv_transpose2d(g, "grown", x,
                       {.out_channels = 9,
                        .kernel = {3, 2},
                        .stride = {2, 3},
                        .padding = {1, 0},
                        .dilation = {1, 2},
                        .groups = 3,
                        .bias = true,
                        .output_padding = {1, 0}});
  nn::conv_transpose2d(g, "cut", x,
                       {.kernel = {3, 2}, .stride = {2, 3}, .padding = {1, 0}, .padding_end = {0, 2}});
  nn::conv_transpose3d(g, "grown_volume", g.input("u", {1, 4, 2, 3, 1}),
                       {.out_channels = 5, .kernel = {2, 2, 2}, .stride = {2, 2, 2}});
  const Graph graph = g.finish();
  const Op& volume = op_named(graph, "volume");
  // 5 - 3 (2 - 1) = 2, and two axes as those of Conv2d above.
  EXPECT_EQ(volume.kind, "conv3d");
  EXPECT_EQ(shapes(graph, volume.outputs), (std::vector<Shape>{{2, 8, 2, 5, 5}}));
  EXPECT_EQ(graph.values[volume.inputs[1]].shape, (Shape{8, 3, 2, 3, 5}));
  // 2 (4 - 1) + 3 + 1 - 2 = 8 and 3 (5 - 1) + 2 + 1 = 15. The weight is from input to output channels.
  const Op& grown = op_named(graph, "grown");
  EXPECT_EQ(shapes(graph, grown.outputs), (std::vector<Shape>{{2, 9, 8, 15}}));
  EXPECT_EQ(shapes(graph, grown.inputs), (std::vector<Shape>{{2, 6, 4, 5}, {6, 3, 3, 2}, {9}}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(grown.attributes.at("output_padding")),
            (std::vector<std::int64_t>{1, 0}));
  // 2 (4 - 1) + 3 - 1 = 8 and 3 (5 - 1) + 2 - 2 = 12.
  const Op& cut = op_named(graph, "cut");
  EXPECT_EQ(shapes(graph, cut.outputs), (std::vector<Shape>{{2, 1, 8, 12}}));
  EXPECT_EQ(cut.attributes.count("output_padding"), 0U);
  EXPECT_EQ(shapes(graph, op_named(graph, "grown_volume").outputs), (std::vector<Shape>{{1, 5, 4, 6, 2}}));
}

TEST(Builder, AConvolutionLeadsBackFromATransposedOne) {
  int tried = 0;
  for (int code = 0; code < 4 * 3 * 3 * 2 * 2 * 3; ++code) {
    int rest = code;
    const auto digit = [&rest](int base) { return std::exchange(rest, rest / base) % base; };
    const std::int64_t size = 1 + digit(4);
    const std::int64_t kernel = 1 + digit(3);
    const std::int64_t stride = 1 + digit(3);
    const std::int64_t dilation = 1 + digit(2);
    const std::int64_t padding = digit(2);
    const std::int64_t extra = digit(3);
    // Of the sizes that lead to `size` there are as many as the stride.
    if (extra >= stride || stride * (size - 1) + dilation * (kernel - 1) + 1 + extra <= 2 * padding) continue;
    GraphBuilder g("g");
    const ValueId y = nn::conv_transpose2d(g, "up", g.input("x", {1, 1, 1, size}),
                                           {.kernel = {1, kernel},
                                            .stride = {1, stride},
                                            .padding = {0, padding},
                                            .dilation = {1, dilation},
                                            .output_padding = {0, extra}});
    const ValueId x = nn::conv2d(
        g, "down", y,
        {.kernel = {1, kernel}, .stride = {1, stride}, .padding = {0, padding}, .dilation = {1, dilation}});
    EXPECT_EQ(g.shape(x).back(), size)
        << "by way of " << g.shape(y).back() << ", kernel " << kernel << " stride " << stride << " dilation "
        << dilation << " padding " << padding << " output padding " << extra;
    ++tried;
  }
  EXPECT_GT(tried, 200);
}

TEST(Builder, PoolsOfVolumesAndOfLongWindows) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {1, 2, 9, 8, 8});
  const ValueId row = g.input("row", {1, 2, 1, 600});
  // (9 + 2 - 3) / 2 + 1 = 5, (8 - 2) / 2 + 1 = 4, (8 - 2) / 3 + 1 = 3.
  nn::max_pool3d(g, "max", x, {.kernel = {3, 2, 2}, .stride = {2, 2, 3}, .padding = {1, 0, 0}});
  nn::avg_pool3d(g, "avg", x,
                 {.kernel = {3, 2, 2}, .stride = {2, 2, 3}, .padding = {1, 0, 0}, .ceil_mode = true});
  nn::max_pool3d(g, "cubes", x, {.kernel = {8, 8, 8}});
  nn::max_pool2d(g, "byte", row, {.kernel = {1, 256}});
  nn::max_pool2d(g, "more", row, {.kernel = {1, 257}});
  nn::global_max_pool(g, "top", x);
  nn::global_avg_pool(g, "mean", nn::reshape(g, "line", row, {1, 2, 600}));
  const Graph graph = g.finish();
  const auto indices = [&](const char* op) { return graph.values[op_named(graph, op).outputs.at(1)]; };
  EXPECT_EQ(shapes(graph, op_named(graph, "max").outputs),
            (std::vector<Shape>{{1, 2, 5, 4, 3}, {1, 2, 5, 4, 3}}));
  EXPECT_EQ(indices("max").dtype, DType::uint8);
  EXPECT_EQ(shapes(graph, op_named(graph, "avg").outputs), (std::vector<Shape>{{1, 2, 5, 4, 3}}));
  // 512 places; without a stride the windows lie side by side.
  EXPECT_EQ(indices("cubes").shape, (Shape{1, 2, 1, 1, 1}));
  EXPECT_EQ(indices("cubes").dtype, DType::int32);
  EXPECT_EQ(indices("byte").bytes, Bytes(2 * 2));
  EXPECT_EQ(indices("more").bytes, Bytes(2 * 2 * 4));
  EXPECT_EQ(indices("top").shape, (Shape{1, 2, 1, 1, 1}));
  EXPECT_EQ(shapes(graph, op_named(graph, "mean").outputs), (std::vector<Shape>{{1, 2, 1}}));
}

TEST(Builder, CopiesOfElements) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {2, 3, 5});
  const ValueId y = g.input("y", {2, 4, 5});
  const ValueId joined = nn::concat(g, "joined", {x, y, x}, 1);
  EXPECT_EQ(g.shape(joined), (Shape{2, 10, 5}));
  EXPECT_EQ(g.shape(nn::slice(g, "slice", joined, {1, 0, 0}, {2, 10, 4}, {1, 3, 2})), (Shape{1, 4, 2}));
  const std::vector<ValueId> parts = nn::split(g, "split", joined, 1, {3, 7});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(g.shape(parts[1]), (Shape{2, 7, 5}));
  EXPECT_EQ(g.shape(nn::pad(g, "pad", x, {0, 1, 2}, {3, 0, 1}, 1.5)), (Shape{5, 4, 8}));
  const ValueId transposed = nn::permute(g, "transposed", x, {2, 0, 1});
  const ValueId copied = nn::transpose(g, "copied", transposed, {1, 0, 2});
  EXPECT_EQ(g.shape(copied), (Shape{2, 5, 3}));
  EXPECT_EQ(g.layout(copied), (StridedShape{{2, 5, 3}, {}}));
  const Graph graph = g.finish();
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(op_named(graph, "joined").attributes.at("sizes")),
            (std::vector<std::int64_t>{3, 4, 3}));
  const Op& split = op_named(graph, "split");
  EXPECT_EQ(split.outputs, parts);
  EXPECT_EQ(std::get<std::int64_t>(split.attributes.at("axis")), 1);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(split.attributes.at("sizes")),
            (std::vector<std::int64_t>{3, 7}));
  EXPECT_EQ(graph.values[parts[1]].name, "split.1");
  EXPECT_EQ(std::get<double>(op_named(graph, "pad").attributes.at("value")), 1.5);
  EXPECT_EQ(op_named(graph, "copied").inputs, std::vector<ValueId>{transposed});
}

TEST(Builder, OpaqueOperatorsAreWhatTheyReadAndWrite) {
  GraphBuilder g("g");
  const ValueId ids_in = g.input("ids", {4}, DType::int32);
  const ValueId w = g.parameter("w", {3, 2});
  const std::vector<ValueId> made =
      nn::opaque(g, "magic", "com.acme.Magic", {ids_in, w}, {{{4, 2}}, {{7}, DType::int32}});
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(g.shape(made[0]), (Shape{4, 2}));
  const Graph graph = g.finish();
  const Op& op = op_named(graph, "magic");
  EXPECT_EQ(op.kind, "opaque");
  EXPECT_FALSE(op.recomputable);
  EXPECT_EQ(op.attributes.at("operator"), Attribute(std::string("com.acme.Magic")));
  EXPECT_EQ(graph.values[made[1]].name, "magic.1");
  EXPECT_EQ(graph.values[made[1]].dtype, DType::int32);
}

TEST(Builder, NormsWithinAnImage) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {2, 6, 3, 3});
  nn::group_norm(g, "gn", x, 3, 1e-5);
  nn::instance_norm(g, "in", x, 1e-5);
  nn::lrn(g, "lrn", x, {});
  nn::global_max_pool(g, "top", x);
  const Graph graph = g.finish();
  EXPECT_EQ(shapes(graph, op_named(graph, "gn").outputs), (std::vector<Shape>{{2, 6, 3, 3}, {2, 3}, {2, 3}}));
  EXPECT_EQ(shapes(graph, op_named(graph, "gn").inputs), (std::vector<Shape>{{2, 6, 3, 3}, {6}, {6}}));
  EXPECT_EQ(op_named(graph, "in").kind, "group_norm");
  EXPECT_EQ(std::get<std::int64_t>(op_named(graph, "in").attributes.at("groups")), 6);
  EXPECT_EQ(shapes(graph, op_named(graph, "lrn").outputs), (std::vector<Shape>{{2, 6, 3, 3}}));
  EXPECT_EQ(shapes(graph, op_named(graph, "top").outputs), (std::vector<Shape>{{2, 6, 1, 1}, {2, 6, 1, 1}}));
  EXPECT_EQ(graph.values[op_named(graph, "top").outputs[1]].dtype, DType::int32);
}

TEST(Builder, FlattenIsAView) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {2, 3, 4, 5});
  const ValueId flat = nn::flatten(g, "flat", x);
  const Graph graph = g.finish();
  EXPECT_EQ(graph.values[flat].shape, (Shape{2, 60}));
  EXPECT_EQ(graph.values[flat].alias_of, x);
  EXPECT_EQ(graph.ops.size(), 1U);
}

}  // namespace
}  // namespace poet
