#include "poet/frontend/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "poet/graph/dataflow.h"
#include "tests/support/graph_text.h"

namespace poet {
namespace {

using test::op_named;
using test::value_named;

// Elements of the parameters whose name starts with `prefix`.
std::int64_t parameters(const Graph& graph, const std::string& prefix = "") {
  std::int64_t count = 0;
  for (const Value& value : graph.values) {
    if (value.persistence == Persistence::parameter && value.name.rfind(prefix, 0) == 0) {
      count += element_count(value.shape);
    }
  }
  return count;
}

// Multiply-accumulates: per output element one per weight that it sums over (convolution, linear), or K
// (matmul).
std::int64_t macs(const Graph& graph) {
  std::int64_t count = 0;
  for (const Op& op : graph.ops) {
    if (op.kind != "conv2d" && op.kind != "linear" && op.kind != "matmul") continue;
    const std::int64_t outputs = element_count(graph.values[op.outputs[0]].shape);
    const Shape& second = graph.values[op.inputs[1]].shape;
    count += outputs * (op.kind == "matmul" ? graph.values[op.inputs[0]].shape.back()
                                            : element_count(second) / second[0]);
  }
  return count;
}

std::map<std::string, int> kind_counts(const Graph& graph) {
  std::map<std::string, int> count;
  for (const Op& op : graph.ops) ++count[op.kind];
  return count;
}

std::vector<std::int64_t> stride_of(const Graph& graph, const std::string& op) {
  return std::get<std::vector<std::int64_t>>(op_named(graph, op).attributes.at("stride"));
}

// Published counts: torchvision's for the ImageNet networks, Hugging Face's for BERT.
TEST(Zoo, ParameterCountsAreTheFields) {
  EXPECT_EQ(parameters(build_network("resnet18")), 11'689'512);
  EXPECT_EQ(parameters(build_network("resnet50")), 25'557'032);
  EXPECT_EQ(parameters(build_network("vgg16")), 138'357'544);
  EXPECT_EQ(parameters(build_network("resnet18_cifar")), 11'173'962);
  EXPECT_EQ(parameters(build_network("vgg16_cifar")), 33'638'218);

  const Graph bert = build_network("bert");
  EXPECT_EQ(parameters(bert, "bert."), 109'482'240);
  EXPECT_EQ(parameters(bert, "classifier."), 768 * 2 + 2);
  EXPECT_EQ(parameters(bert), 109'482'240 + 1'538);
}

// Published as 4.4 million: embeddings (30522 + 512 + 2) * 128 and their norm; two layers of four
// projections, 128 -> 512 -> 128 and two norms; the pooler.
TEST(Zoo, ParameterCountOfBertTiny) {
  const Graph tiny = build_network("bert_tiny");
  constexpr std::int64_t kProjection = 128 * 128 + 128;
  constexpr std::int64_t kFeedForward = 128 * 512 + 512 + 512 * 128 + 128;
  constexpr std::int64_t kNorm = 2 * 128;
  constexpr std::int64_t kLayer = 4 * kProjection + kFeedForward + 2 * kNorm;
  EXPECT_EQ(parameters(tiny, "bert."), 31'036 * 128 + kNorm + 2 * kLayer + kProjection);
  EXPECT_EQ(parameters(tiny, "bert."), 4'385'920);
  EXPECT_EQ(parameters(tiny, "classifier."), 128 * 2 + 2);
  // Two heads of 64, as wide as BERT-base's.
  EXPECT_EQ(value_named(tiny, "bert.encoder.layer.1.attention.self.query_heads").shape,
            (Shape{1, 2, 512, 64}));
  EXPECT_EQ(
      std::get<double>(op_named(tiny, "bert.encoder.layer.1.attention.self.scores").attributes.at("alpha")),
      0.125);
}

TEST(Zoo, ParameterCountsOfTheSmallNetworksByHand) {
  // 784*10+10 + 10*120+120 + 120*100+100 + 100*200+200 + 200*10+10 + 10*10+10
  EXPECT_EQ(parameters(build_network("linear")), 7'850 + 1'320 + 12'100 + 20'200 + 2'010 + 110);

  // Query, key, value and output projections; two feed-forward layers; two LayerNorms of weight and bias.
  constexpr std::int64_t kBlock =
      4 * (768 * 768 + 768) + (768 * 3072 + 3072) + (3072 * 768 + 768) + 2 * 2 * 768;
  static_assert(kBlock == 7'087'872);
  const Graph transformer = build_network("transformer");
  EXPECT_EQ(parameters(transformer, "encoder."), kBlock);
  EXPECT_EQ(parameters(transformer, "head."), 768 * 2 + 2);
  EXPECT_EQ(parameters(transformer), kBlock + 1'538);

  // 3x3 weights from a to b channels and the batch norm after them: 9ab + 2b; a projection: ab + 2b.
  const std::int64_t stem = 9 * 3 * 16 + 2 * 16;
  const std::int64_t stage1 = 4 * (9 * 16 * 16 + 2 * 16);
  const std::int64_t stage2 = (9 * 16 * 32 + 2 * 32) + 3 * (9 * 32 * 32 + 2 * 32) + (16 * 32 + 2 * 32);
  const std::int64_t stage3 = (9 * 32 * 64 + 2 * 64) + 3 * (9 * 64 * 64 + 2 * 64) + (32 * 64 + 2 * 64);
  EXPECT_EQ(parameters(build_network("resnet14_cifar")), stem + stage1 + stage2 + stage3 + 64 * 10 + 10);
}

// torchvision's published figures, in 10^9, to the digits it gives.
TEST(Zoo, MultiplyAccumulates) {
  EXPECT_NEAR(static_cast<double>(macs(build_network("resnet18"))) / 1e9, 1.814, 0.0005);
  EXPECT_NEAR(static_cast<double>(macs(build_network("resnet50"))) / 1e9, 4.089, 0.0005);
  EXPECT_NEAR(static_cast<double>(macs(build_network("vgg16"))) / 1e9, 15.47, 0.005);
  // Per token 4 * 768^2 + 2 * 768 * 3072, per layer two products of 12 * 512 * 512 * 64; then pooler and
  // classifier.
  constexpr std::int64_t kLayer = 512LL * (4 * 768 * 768 + 2 * 768 * 3072) + 2LL * 12 * 512 * 512 * 64;
  EXPECT_EQ(macs(build_network("bert")), 12 * kLayer + 768 * 768 + 768 * 2);
  EXPECT_EQ(macs(build_network("bert", {.batch_size = 3, .sequence_length = std::nullopt})),
            3 * (12 * kLayer + 768 * 768 + 768 * 2));
}

TEST(Zoo, ListsEveryNetworkOnce) {
  std::vector<std::string> names;
  for (const ZooEntry& entry : zoo()) {
    names.push_back(entry.name);
    EXPECT_FALSE(entry.description.empty());
    EXPECT_EQ(entry.description.find('\n'), std::string::npos);
    EXPECT_EQ(entry.build({}).name, entry.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"linear", "vgg16", "vgg16_cifar", "resnet14_cifar", "resnet18",
                                      "resnet18_cifar", "resnet50", "bert", "bert_tiny", "transformer"}));
}

class EveryNetwork : public testing::TestWithParam<std::string> {};

TEST_P(EveryNetwork, HasUniqueNamesAndOneLoss) {
  const Graph graph = build_network(GetParam());
  std::set<std::string> op_names;
  std::set<std::string> value_names;
  for (const Op& op : graph.ops) EXPECT_TRUE(op_names.insert(op.name).second) << op.name;
  for (const Value& value : graph.values) EXPECT_TRUE(value_names.insert(value.name).second) << value.name;
  EXPECT_EQ(kind_counts(graph)["softmax_cross_entropy"], 1);
  EXPECT_EQ(graph.ops[OpId(graph.ops.size() - 1)].kind, "softmax_cross_entropy");
  EXPECT_EQ(value_named(graph, "targets").dtype, DType::int32);
}

TEST_P(EveryNetwork, UsesWhatItComputes) {
  const Graph graph = build_network(GetParam());
  const Dataflow flow = dataflow(graph);
  std::set<ValueId> read;
  for (const Op& op : graph.ops) read.insert(op.inputs.begin(), op.inputs.end());
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (value.alias_of.valid() || is_persistent(value.persistence)) {
      EXPECT_TRUE(read.count(v) == 1) << value.name << " is never read";
    } else if (value.name != "loss" && v == graph.ops[value.producer].outputs[0]) {
      EXPECT_FALSE(flow.users[v].empty()) << value.name << " is never read";
    }
  }
}

TEST_P(EveryNetwork, DropoutsHaveSeedsOfTheirOwn) {
  const Graph graph = build_network(GetParam());
  std::set<std::int64_t> seeds;
  int dropouts = 0;
  for (const Op& op : graph.ops) {
    if (op.kind != "dropout") continue;
    ++dropouts;
    seeds.insert(std::get<std::int64_t>(op.attributes.at("seed")));
  }
  EXPECT_EQ(seeds.size(), static_cast<std::size_t>(dropouts));
}

// Activations grow with the batch, parameters, statistics and the loss do not.
TEST_P(EveryNetwork, ScalesWithTheBatch) {
  const Graph one = build_network(GetParam(), {.batch_size = 2, .sequence_length = std::nullopt});
  const Graph three = build_network(GetParam(), {.batch_size = 6, .sequence_length = std::nullopt});
  ASSERT_EQ(one.values.size(), three.values.size());
  ASSERT_EQ(one.ops.size(), three.ops.size());
  for (const ValueId v : ids<ValueId>(one.values.size())) {
    const Value& value = one.values[v];
    const bool per_channel = value.producer.valid() && one.ops[value.producer].kind == "batch_norm" &&
                             v != one.ops[value.producer].outputs[0];
    const bool fixed = is_persistent(value.persistence) || per_channel || value.name == "loss";
    EXPECT_EQ(three.values[v].bytes, fixed ? value.bytes : 3 * value.bytes) << value.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, EveryNetwork,
                         testing::Values("linear", "vgg16", "vgg16_cifar", "resnet14_cifar", "resnet18",
                                         "resnet18_cifar", "resnet50", "bert", "transformer"),
                         [](const testing::TestParamInfo<std::string>& test) { return test.param; });

TEST(ResNet, Shapes) {
  const Graph graph = build_network("resnet18", {.batch_size = 2, .sequence_length = std::nullopt});
  EXPECT_EQ(value_named(graph, "conv1").shape, (Shape{2, 64, 112, 112}));
  EXPECT_EQ(value_named(graph, "maxpool").shape, (Shape{2, 64, 56, 56}));
  EXPECT_EQ(value_named(graph, "layer1.1.relu2").shape, (Shape{2, 64, 56, 56}));
  EXPECT_EQ(value_named(graph, "layer4.1.relu2").shape, (Shape{2, 512, 7, 7}));
  EXPECT_EQ(value_named(graph, "fc").shape, (Shape{2, 1000}));
  EXPECT_EQ(value_named(graph, "layer1.0.conv1.weight").shape, (Shape{64, 64, 3, 3}));
  EXPECT_EQ(value_named(graph, "layer2.0.downsample.0.weight").shape, (Shape{128, 64, 1, 1}));
  EXPECT_EQ(value_named(graph, "bn1.running_mean").persistence, Persistence::optimizer_state);
  // 1 + 4 * 2 * 2 convolutions and 3 projections, each with a batch norm; a skip per block.
  auto count = kind_counts(graph);
  EXPECT_EQ(count["conv2d"], 20);
  EXPECT_EQ(count["batch_norm"], 20);
  EXPECT_EQ(count["batch_norm_stats"], 20);
  EXPECT_EQ(count["add"], 8);
  EXPECT_EQ(count["relu"], 17);
}

TEST(ResNet, SkipsStartAtTheBlocksInput) {
  const Graph graph = build_network("resnet18");
  const auto name_of = [&](ValueId v) { return graph.values[v].name; };
  EXPECT_EQ(name_of(op_named(graph, "layer1.0.conv1").inputs[0]), "maxpool");
  EXPECT_EQ(name_of(op_named(graph, "layer1.0.add").inputs[0]), "layer1.0.bn2");
  EXPECT_EQ(name_of(op_named(graph, "layer1.0.add").inputs[1]), "maxpool");
  EXPECT_EQ(name_of(op_named(graph, "layer2.0.downsample.0").inputs[0]), "layer1.1.relu2");
  EXPECT_EQ(name_of(op_named(graph, "layer2.0.add").inputs[1]), "layer2.0.downsample.1");
  EXPECT_EQ(name_of(op_named(graph, "layer2.1.add").inputs[1]), "layer2.0.relu2");
}

TEST(ResNet, FiftyHasItsStrideInTheMiddleConvolution) {
  const Graph graph = build_network("resnet50");
  EXPECT_EQ(stride_of(graph, "layer2.0.conv1"), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(stride_of(graph, "layer2.0.conv2"), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(stride_of(graph, "layer2.0.downsample.0"), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(stride_of(graph, "layer1.0.downsample.0"), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(value_named(graph, "layer4.2.relu3").shape, (Shape{1, 2048, 7, 7}));
  // 1 + (3 + 4 + 6 + 3) * 3 convolutions and 4 projections.
  EXPECT_EQ(kind_counts(graph)["conv2d"], 53);
}

TEST(ResNet, CifarKeepsTheResolutionInTheStem) {
  const Graph graph = build_network("resnet18_cifar");
  EXPECT_EQ(value_named(graph, "relu").shape, (Shape{1, 64, 32, 32}));
  EXPECT_EQ(value_named(graph, "layer4.1.relu2").shape, (Shape{1, 512, 4, 4}));
  EXPECT_EQ(kind_counts(graph)["max_pool2d"], 0);
  EXPECT_EQ(value_named(graph, "fc").shape, (Shape{1, 10}));
}

TEST(ResNet, FourteenHasFourteenLayers) {
  const Graph graph = build_network("resnet14_cifar");
  // A 3x3 convolution in the stem and two per block, 2 projections, and the linear layer.
  auto count = kind_counts(graph);
  EXPECT_EQ(count["conv2d"], 1 + 12 + 2);
  EXPECT_EQ(count["linear"], 1);
  EXPECT_EQ(count["add"], 6);
  EXPECT_EQ(value_named(graph, "layer3.1.relu2").shape, (Shape{1, 64, 8, 8}));
}

TEST(Vgg, ShapesAndDropout) {
  const Graph graph = build_network("vgg16");
  EXPECT_EQ(value_named(graph, "features.30").shape, (Shape{1, 512, 7, 7}));
  EXPECT_EQ(value_named(graph, "flatten").shape, (Shape{1, 25088}));
  EXPECT_EQ(value_named(graph, "features.0.weight").shape, (Shape{64, 3, 3, 3}));
  EXPECT_EQ(value_named(graph, "features.28.bias").shape, Shape{512});
  EXPECT_EQ(value_named(graph, "classifier.6.weight").shape, (Shape{1000, 4096}));
  auto count = kind_counts(graph);
  EXPECT_EQ(count["conv2d"], 13);
  EXPECT_EQ(count["linear"], 3);
  EXPECT_EQ(count["max_pool2d"], 5);
  EXPECT_EQ(count["dropout"], 2);
  EXPECT_EQ(count["batch_norm"], 0);
  EXPECT_EQ(std::get<double>(op_named(graph, "classifier.2").attributes.at("p")), 0.5);
  EXPECT_EQ(value_named(build_network("vgg16_cifar"), "flatten").shape, (Shape{1, 512}));
}

TEST(Linear, HasAReluAfterEachLayer) {
  const Graph graph = build_network("linear");
  EXPECT_EQ(kind_counts(graph)["linear"], 6);
  EXPECT_EQ(kind_counts(graph)["relu"], 6);
  EXPECT_EQ(graph.values[op_named(graph, "loss").inputs[0]].name, "relu6");
}

TEST(Bert, HasEveryPartOfEveryLayer) {
  const Graph graph = build_network("bert");
  auto count = kind_counts(graph);
  EXPECT_EQ(count["input"], 4);
  EXPECT_EQ(count["embedding"], 3);
  EXPECT_EQ(count["linear"], 12 * 6 + 2);
  EXPECT_EQ(count["matmul"], 12 * 2);
  EXPECT_EQ(count["softmax"], 12);
  EXPECT_EQ(count["gelu"], 12);
  EXPECT_EQ(count["layer_norm"], 12 * 2 + 1);
  EXPECT_EQ(count["add"], 12 * 2 + 2);
  EXPECT_EQ(count["dropout"], 12 * 3 + 2);
  EXPECT_EQ(count["tanh"], 1);
  EXPECT_EQ(count["select"], 1);
  for (const Op& op : graph.ops) {
    if (op.kind == "layer_norm") {
      EXPECT_EQ(std::get<double>(op.attributes.at("eps")), 1e-12);
    }
    if (op.kind == "dropout") {
      EXPECT_EQ(std::get<double>(op.attributes.at("p")), 0.1);
    }
  }
  EXPECT_EQ(value_named(graph, "bert.embeddings.word_embeddings.weight").shape, (Shape{30522, 768}));
  EXPECT_EQ(value_named(graph, "bert.encoder.layer.11.output.LayerNorm.bias").shape, Shape{768});
  EXPECT_EQ(value_named(graph, "input_ids").dtype, DType::int32);
}

TEST(Bert, ResidualsGoAroundAttentionAndFeedForward) {
  const Graph graph = build_network("bert");
  const auto name_of = [&](ValueId v) { return graph.values[v].name; };
  const std::string layer = "bert.encoder.layer.3.";
  EXPECT_EQ(name_of(op_named(graph, layer + "attention.output.add").inputs[1]),
            "bert.encoder.layer.2.output.LayerNorm");
  EXPECT_EQ(name_of(op_named(graph, layer + "output.add").inputs[1]), layer + "attention.output.LayerNorm");
  EXPECT_EQ(name_of(op_named(graph, layer + "attention.self.context").inputs[1]),
            layer + "attention.self.value_heads");
}

TEST(Bert, AttentionCopiesNothing) {
  const Graph graph = build_network("transformer", {.batch_size = 2, .sequence_length = 5});
  const std::string self = "encoder.attention.self.";
  const Value& query = value_named(graph, self + "query_heads");
  const Value& key = value_named(graph, self + "key_heads");
  const Value& scores = value_named(graph, self + "scores");
  const Value& context = value_named(graph, self + "context");
  const Value& merged = value_named(graph, self + "context_merged");
  // Token t, head h, channel c of a projection is at t * 768 + h * 64 + c, and a batch element has 5 * 768.
  EXPECT_EQ(query.shape, (Shape{2, 12, 5, 64}));
  EXPECT_EQ(query.strides, (Shape{3840, 64, 768, 1}));
  EXPECT_EQ(key.shape, (Shape{2, 12, 64, 5}));
  EXPECT_EQ(key.strides, (Shape{3840, 64, 1, 768}));
  EXPECT_EQ(scores.shape, (Shape{2, 12, 5, 5}));
  EXPECT_EQ(std::get<double>(op_named(graph, self + "scores").attributes.at("alpha")), 0.125);
  EXPECT_EQ(context.strides, (Shape{3840, 64, 768, 1}));
  EXPECT_EQ(merged.shape, (Shape{2, 5, 768}));
  EXPECT_TRUE(merged.strides.empty());
  EXPECT_EQ(graph.values[storage(graph, op_named(graph, "encoder.attention.output.dense").inputs[0])].name,
            self + "context");
}

TEST(Bert, SequenceLengthCanBeSet) {
  EXPECT_EQ(value_named(build_network("bert"), "input_ids").shape, (Shape{1, 512}));
  for (const std::int64_t length : {1, 128, 512}) {
    const Graph graph = build_network("bert", {.batch_size = 2, .sequence_length = length});
    EXPECT_EQ(value_named(graph, "position_ids").shape, (Shape{2, length}));
    EXPECT_EQ(value_named(graph, "bert.encoder.layer.0.attention.self.softmax").shape,
              (Shape{2, 12, length, length}));
    // The table of positions is the model's, whatever part of it is used.
    EXPECT_EQ(parameters(graph, "bert."), 109'482'240);
  }
  EXPECT_EQ(value_named(build_network("transformer"), "input").shape, (Shape{1, 512, 768}));
  EXPECT_NO_THROW((void)build_network("transformer", {.batch_size = 1, .sequence_length = 1024}));
}

}  // namespace
}  // namespace poet
