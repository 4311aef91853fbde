// Graphs in parts, by hand: which parts, of what name, in what order.

#include "poet/split/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/graph/nn.h"
#include "poet/graph/parts.h"
#include "poet/split/loops.h"

namespace poet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// x (1, 8) -> 16 -> 2 classes. first.weight has 512 bytes, second.weight 128, all else at most 64.
Graph two_layers() {
  GraphBuilder g("two");
  ValueId x = g.input("x", {1, 8});
  x = nn::relu(g, "relu", nn::linear(g, "first", x, 16));
  x = nn::linear(g, "second", x, 2);
  nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {1}, DType::int32));
  return differentiate(g.finish());
}

std::vector<std::string> parts_of(const Graph& graph, const std::string& tensor) {
  std::vector<std::string> names;
  for (const Value& value : graph.values)
    if (tensor_name(value) == tensor) names.push_back(value.name);
  return names;
}

std::size_t place_of(const Graph& graph, const std::string& op) {
  const auto found =
      std::find_if(graph.ops.begin(), graph.ops.end(), [&](const Op& o) { return o.name == op; });
  EXPECT_NE(found, graph.ops.end()) << op;
  return static_cast<std::size_t>(found - graph.ops.begin());
}

TEST(Split, NothingIsCutThatFits) {
  const Graph whole = two_layers();
  SplitReport report;
  const Graph same = split(whole, {Bytes(512)}, &report);
  EXPECT_EQ(same.ops.size(), whole.ops.size());
  EXPECT_EQ(same.values.size(), whole.values.size());
  EXPECT_EQ(report.tensors, 0U);
  EXPECT_THAT(report.unsplit, IsEmpty());
  EXPECT_EQ(report.largest_value, Bytes(512));
  // The update of first.weight by its gradient.
  EXPECT_EQ(report.working_set, Bytes(1024));
  EXPECT_EQ(report.largest_op, "first.weight:update");
}

TEST(Split, OpsAreCountedBeforeTheyAreMade) {
  const Graph whole = two_layers();
  for (const std::int64_t part : {512, 256, 64, 16})
    EXPECT_EQ(ops_in_parts(whole, Bytes(part)), static_cast<double>(split(whole, {Bytes(part)}).ops.size()))
        << part;
}

TEST(Split, HalvesAreNamedAndSummedInOrder) {
  SplitReport report;
  const Graph parts = split(two_layers(), {Bytes(256)}, &report);
  // Its output channels are first's own; its input channels are those of x, an op less.
  EXPECT_THAT(parts_of(parts, "first.weight"), ElementsAre("first.weight[:,0:4]", "first.weight[:,4:8]"));
  EXPECT_THAT(parts_of(parts, "x"), ElementsAre("x[:,0:4]", "x[:,4:8]"));
  EXPECT_THAT(parts_of(parts, "second.weight"), ElementsAre("second.weight"));
  const Op& first = parts.ops[OpId(place_of(parts, "first+[0:4]"))];
  const Op& second = parts.ops[OpId(place_of(parts, "first+[4:8]"))];
  // x, weight, bias; then x, weight and what the first has left.
  ASSERT_EQ(first.inputs.size(), 3U);
  EXPECT_EQ(parts.values[first.inputs[2]].name, "first.bias");
  EXPECT_FALSE(first.attributes.contains("accumulate"));
  ASSERT_EQ(second.inputs.size(), 3U);
  EXPECT_EQ(second.inputs[2], first.outputs[0]);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(second.attributes.at("accumulate")),
            std::vector<std::int64_t>{0});
  EXPECT_EQ(report.largest_value, Bytes(256));
  EXPECT_EQ(report.tensors, 3U);  // x, first.weight, its gradient
}

TEST(Split, ABiasHasOneGradient) {
  const Graph parts = split(two_layers(), {Bytes(256)});
  const Op& with_bias = parts.ops[OpId(place_of(parts, "first:backward_weight[0:4]"))];
  const Op& without = parts.ops[OpId(place_of(parts, "first:backward_weight[4:8]"))];
  EXPECT_EQ(with_bias.outputs.size(), 2U);
  EXPECT_EQ(without.outputs.size(), 1U);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(without.attributes.at("gradients")),
            std::vector<std::int64_t>{1});
}

TEST(Split, UpdatesFollowTheirGradients) {
  const Graph parts = split(two_layers(), {Bytes(64)});
  int updates = 0;
  for (std::size_t i = 0; i < parts.ops.size(); ++i) {
    const Op& op = parts.ops[OpId(i)];
    if (op.kind != "sgd_update" || tensor_name(parts.values[op.inputs[0]]) != "first.weight") continue;
    ++updates;
    const auto gradient = static_cast<std::size_t>(parts.values[op.inputs[1]].producer.index);
    EXPECT_LE(i - gradient, 2U) << op.name;
  }
  EXPECT_GE(updates, 8);
}

TEST(Split, OneStreamOfChannelsIsCutAlike) {
  GraphBuilder g("residual");
  // 8 channels of 4 x 4: 512 bytes.
  ValueId x = g.input("x", {1, 8, 4, 4});
  const ValueId stem =
      nn::relu(g, "relu", nn::conv2d(g, "stem", x, {.out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}}));
  x = nn::batch_norm(g, "norm",
                     nn::conv2d(g, "conv", stem, {.out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}}));
  x = nn::add(g, "add", x, stem);
  x = nn::linear(g, "head", nn::flatten(g, "flat", nn::global_avg_pool(g, "pool", x)), 2);
  nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {1}, DType::int32));
  const Graph parts = split(differentiate(g.finish()), {Bytes(144)});  // 4 filters of 36 bytes
  for (const std::string tensor : {"stem", "conv", "norm", "add", "relu"}) {
    EXPECT_THAT(parts_of(parts, tensor),
                ElementsAre(tensor + "[:,0:2]", tensor + "[:,2:4]", tensor + "[:,4:6]", tensor + "[:,6:8]"));
  }
  EXPECT_EQ(parts_of(parts, "conv.weight").size(), 16U);
  EXPECT_THAT(parts_of(parts, "head.weight"), ElementsAre("head.weight[:,0:2]", "head.weight[:,2:4]",
                                                          "head.weight[:,4:6]", "head.weight[:,6:8]"));
}

/// 16 tokens of 128 channels, normalised, and a layer that reads them.
Graph normalised_tokens() {
  GraphBuilder g("normalised");
  ValueId x = nn::layer_norm(g, "norm", g.input("x", {1, 16, 128}), 1e-5);
  x = nn::select(g, "first", nn::linear(g, "layer", x, 128), 0);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "head", x, 2), g.input("targets", {1}, DType::int32));
  return differentiate(g.finish());
}

std::ptrdiff_t ops_of(const Graph& graph, const std::string& kind, const std::string& name) {
  return std::count_if(graph.ops.begin(), graph.ops.end(),
                       [&](const Op& op) { return op.kind == kind && op.name.starts_with(name); });
}

// 1024 bytes, 256 numbers, are two rows of the norm. By whole rows the layer would have products of 2 x 128
// by 128 x 2 numbers, 8 * 64 of them; by squares they are of 16 x 16 by 16 x 16, 8 * 8.
TEST(Split, LongRowsAreCopiedIntoSquares) {
  SplitReport report;
  const Graph parts = split(normalised_tokens(), {Bytes(1024)}, &report);
  EXPECT_EQ(parts_of(parts, "norm").size(), 8U);
  EXPECT_THAT(parts_of(parts, "norm"), testing::Contains("norm[:,14:16]"));
  EXPECT_EQ(parts_of(parts, "layer.weight").size(), 64U);
  for (const std::string kind : {"linear", "linear_backward_input", "linear_backward_weight"})
    EXPECT_EQ(ops_of(parts, kind, "layer"), 64) << kind;
  // A square of the norm: columns out of all rows.
  EXPECT_THAT(parts_of(parts, "norm:copy"), testing::Contains("norm:copy[:,:,112:128]"));
  EXPECT_THAT(report.unsplit, IsEmpty());
}

// Of 8 parts by rows and 8 squares. The layer and its weight's gradient read the same ones.
TEST(Split, CopiesAreMadeOnceAndTakenFromWhatIsInRam) {
  const Graph parts = split(normalised_tokens(), {Bytes(1024)});
  EXPECT_EQ(ops_of(parts, "slice", "norm:copy"), 64);
  EXPECT_EQ(ops_of(parts, "concat", "norm:copy"), 8);
  const std::size_t second = place_of(parts, "norm[2:4]");
  for (std::size_t i = 1; i <= 8; ++i) {
    const Op& slice = parts.ops[OpId(second + i)];
    EXPECT_EQ(slice.kind, "slice");
    EXPECT_EQ(parts.values[slice.inputs[0]].name, "norm[:,2:4]");
  }
}

// 64 KiB, 128 x 128 numbers: none is longer than the edge of a square.
TEST(Split, ShortRowsStayRows) {
  const Graph parts = split(normalised_tokens(), {Bytes(1 << 16)});
  EXPECT_THAT(parts_of(parts, "norm"), ElementsAre("norm"));
  EXPECT_EQ(ops_of(parts, "concat", ""), 0);
}

TEST(Split, SaysWhatStaysWhole) {
  GraphBuilder g("wide");
  ValueId x = nn::linear(g, "wide", g.input("x", {1, 2}), 64);  // 256 bytes
  nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {1}, DType::int32));
  SplitReport report;
  (void)split(differentiate(g.finish()), {Bytes(128)}, &report);
  ASSERT_FALSE(report.unsplit.empty());
  EXPECT_EQ(report.unsplit.front().bytes, Bytes(256));
  EXPECT_THAT(report.unsplit.front().reason, HasSubstr("needs C whole"));
}

// y (4 parts) = W x (4 parts); W is not counted. One part of y and one of x fit: x is read for every part of
// y, 4 * 4 + 4 parts are moved; the other way round each part of y is written and read again, 4 + 4 + 2 * 12.
// With room for two parts of y, x is read for every second one: 2 * 4 + 4.
TEST(Nests, AreThoseThatMoveLeast) {
  using splitting::Turns;
  constexpr int kOut = 0, kIn = 1;
  const std::vector<splitting::Loop> loops = {{kIn, 4, true}, {kOut, 4, false}};
  const std::vector<splitting::Traffic> operands = {{4.0, {kIn}, false}, {4.0, {kOut}, true}};
  const auto nest = [&](double ram) {
    std::vector<std::vector<std::int64_t>> turns;
    for (const Turns& t : splitting::best_nest(loops, operands, ram))
      turns.push_back({t.label, t.times, t.step});
    return turns;
  };
  EXPECT_THAT(nest(2), ElementsAre(ElementsAre(kOut, 4, 1), ElementsAre(kIn, 4, 1)));
  EXPECT_THAT(nest(3), ElementsAre(ElementsAre(kOut, 2, 2), ElementsAre(kIn, 4, 1), ElementsAre(kOut, 2, 1)));
}

TEST(Parts, RunsOfABox) {
  Value value;
  value.shape = {2, 2, 3};
  value.part = Part{"t", {4, 5, 3}, {1, 2, 0}};
  std::vector<std::vector<std::int64_t>> runs;
  for_each_run_of_part(value, [&](std::int64_t first, std::int64_t at, std::int64_t count) {
    runs.push_back({first, at, count});
  });
  // Rows 1 and 2, of each the columns 2 and 3: six neighbours.
  EXPECT_THAT(runs, ElementsAre(ElementsAre(21, 0, 6), ElementsAre(36, 6, 6)));
}

TEST(Parts, OfOneTensorAreOneTensor) {
  const Graph parts = split(two_layers(), {Bytes(64)});
  const std::vector<Tensor> tensors = persistent_tensors(parts);
  std::vector<std::string> names;
  for (const Tensor& tensor : tensors) names.push_back(tensor.name);
  EXPECT_THAT(names, ElementsAre("first.weight", "first.bias", "second.weight", "second.bias"));
  std::int64_t elements = 0;
  for (const ValueId v : tensors[0].values) elements += element_count(parts.values[v].shape);
  EXPECT_EQ(elements, element_count(tensors[0].shape));
}

}  // namespace
}  // namespace poet
