#include "poet/graph/builder.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace poet {
namespace {

const Op& op_named(const Graph& graph, const std::string& name) {
  for (const Op& op : graph.ops) {
    if (op.name == name) return op;
  }
  throw std::runtime_error("no op " + name);
}

std::vector<Shape> shapes(const Graph& graph, const std::vector<ValueId>& list) {
  std::vector<Shape> result;
  for (const ValueId v : list) result.push_back(graph.values[v].shape);
  return result;
}

TEST(Builder, Conv2d) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {2, 6, 11, 9});
  g.conv2d("conv", x,
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
  g.linear("fc", g.input("x", {2, 3, 4}), 5);
  g.linear("plain", g.input("z", {4}), 1, false);
  const Graph graph = g.finish();
  EXPECT_EQ(shapes(graph, op_named(graph, "fc").outputs), (std::vector<Shape>{{2, 3, 5}}));
  EXPECT_EQ(shapes(graph, op_named(graph, "fc").inputs), (std::vector<Shape>{{2, 3, 4}, {5, 4}, {5}}));
  EXPECT_EQ(op_named(graph, "plain").inputs.size(), 2U);
}

TEST(Builder, BatchNormUpdatesItsRunningStatisticsInAnOpOfItsOwn) {
  GraphBuilder g("g");
  g.batch_norm("bn", g.input("x", {2, 3, 4, 5}), {.eps = 1e-3, .momentum = 0.2});
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
  g.layer_norm("ln", g.input("x", {2, 3, 4}), 1e-12);
  const Graph graph = g.finish();
  EXPECT_EQ(shapes(graph, op_named(graph, "ln").outputs), (std::vector<Shape>{{2, 3, 4}, {2, 3}, {2, 3}}));
  EXPECT_EQ(shapes(graph, op_named(graph, "ln").inputs), (std::vector<Shape>{{2, 3, 4}, {4}, {4}}));
}

TEST(Builder, Pools) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {1, 2, 112, 7});
  g.max_pool2d("max", x, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
  g.avg_pool2d("avg", x, {.kernel = {2, 3}, .stride = {2, 2}, .padding = {0, 0}});
  g.global_avg_pool("global", x);
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
  x = g.relu("relu", x);
  x = g.gelu("gelu", x);
  x = g.tanh("tanh", x);
  x = g.softmax("softmax", x);
  const ValueId a = g.dropout("drop1", x, 0.1);
  const ValueId b = g.dropout("drop2", x, 0.5);
  x = g.add("add", a, b);
  EXPECT_EQ(g.shape(x), (Shape{2, 3}));
  const Graph graph = g.finish();
  const Op& first = op_named(graph, "drop1");
  EXPECT_EQ(graph.values[first.outputs[1]].dtype, DType::uint8);
  EXPECT_EQ(graph.values[first.outputs[1]].shape, (Shape{2, 3}));
  EXPECT_EQ(std::get<double>(first.attributes.at("p")), 0.1);
  EXPECT_NE(std::get<std::int64_t>(first.attributes.at("seed")),
            std::get<std::int64_t>(op_named(graph, "drop2").attributes.at("seed")));
}

TEST(Builder, EmbeddingSelectAndLoss) {
  GraphBuilder g("g");
  ValueId x = g.embedding("table", g.input("ids", {2, 3}, DType::int32), 100, 8);
  EXPECT_EQ(g.shape(x), (Shape{2, 3, 8}));
  x = g.select("first", x, 0);
  EXPECT_EQ(g.shape(x), (Shape{2, 8}));
  const ValueId loss = g.softmax_cross_entropy("loss", x, g.input("targets", {2}, DType::int32));
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
  const ValueId heads = g.permute("heads", g.reshape("split", q, {1, 3, 2, 2}), {0, 2, 1, 3});
  const ValueId turned = g.permute("turned", heads, {0, 1, 3, 2});
  const ValueId scores = g.matmul("scores", heads, turned, {.alpha = 0.5, .storage_order = {}});
  const ValueId context = g.matmul("context", scores, heads, {.alpha = 1.0, .storage_order = {0, 2, 1, 3}});
  const ValueId merged = g.reshape("merged", g.permute("by_token", context, {0, 2, 1, 3}), {1, 3, 4});
  const Graph graph = g.finish();
  EXPECT_EQ(graph.ops.size(), 3U);  // the input and two products: views are no ops
  EXPECT_EQ(graph.values[heads].shape, (Shape{1, 2, 3, 2}));
  EXPECT_EQ(graph.values[heads].strides, (Shape{12, 2, 4, 1}));
  EXPECT_EQ(graph.values[turned].shape, (Shape{1, 2, 2, 3}));
  EXPECT_EQ(graph.values[turned].strides, (Shape{12, 2, 1, 4}));
  EXPECT_EQ(graph.values[scores].shape, (Shape{1, 2, 3, 3}));
  EXPECT_TRUE(graph.values[scores].strides.empty());
  EXPECT_EQ(graph.values[context].shape, (Shape{1, 2, 3, 2}));
  EXPECT_EQ(graph.values[context].strides, (Shape{12, 2, 4, 1}));
  EXPECT_TRUE(graph.values[merged].strides.empty());
  EXPECT_EQ(storage(graph, merged), context);
  EXPECT_EQ(storage(graph, turned), q);
}

TEST(Builder, FlattenIsAView) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {2, 3, 4, 5});
  const ValueId flat = g.flatten("flat", x);
  const Graph graph = g.finish();
  EXPECT_EQ(graph.values[flat].shape, (Shape{2, 60}));
  EXPECT_EQ(graph.values[flat].alias_of, x);
  EXPECT_EQ(graph.ops.size(), 1U);
}

}  // namespace
}  // namespace poet
