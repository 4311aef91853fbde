// Which values of a training step are stored as bfloat16, and what that does to sizes and costs.

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "poet/autodiff/differentiate.h"
#include "poet/autodiff/evaluation_part.h"
#include "poet/autodiff/mixed_precision.h"
#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/nn.h"
#include "poet/graph/operators/schema.h"
#include "poet/split/split.h"
#include "tests/support/graph_text.h"
#include "tests/support/input_error.h"

namespace poet {
namespace {

bool stored_in_half(const Graph& graph, const std::string& name) {
  const ValueId v = test::find_value(graph, name);
  EXPECT_TRUE(v.valid()) << name;
  return v.valid() && graph.values[v].dtype == DType::bfloat16;
}

Graph convolutions() {
  GraphBuilder g("convolutions");
  ValueId x = g.input("x", {4, 3, 8, 8});
  x = nn::conv2d(g, "conv", x, {.out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}, .bias = true});
  x = nn::batch_norm(g, "norm", x);
  x = nn::relu(g, "relu", x);
  x = nn::max_pool2d(g, "pool", x, {});
  x = nn::dropout(g, "drop", x, 0.3);
  x = nn::linear(g, "fc", nn::flatten(g, "flat", x), 5);
  nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {4}, DType::int32));
  return g.finish();
}

TEST(MixedPrecisionGraph, ActivationsAndTheirGradientsAreHalvedAndNothingElseIs) {
  const Graph whole = differentiate(convolutions(), {.optimizer = Optimizer::adam});
  const Graph graph = in_mixed_precision(whole);
  for (const char* name : {"conv", "norm", "relu", "pool", "drop", "fc", "flat", "grad:fc", "grad:relu"})
    EXPECT_TRUE(stored_in_half(graph, name)) << name;
  for (const char* name : {"x", "conv.weight", "conv.bias", "norm.mean", "norm.invstd", "norm.running_mean",
                           "loss", "loss.probabilities", "grad:conv.weight", "conv.weight.exp_avg"})
    EXPECT_FALSE(stored_in_half(graph, name)) << name;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& half = graph.values[v];
    EXPECT_EQ(half.shape, whole.values[v].shape);
    if (half.dtype == DType::bfloat16) {
      EXPECT_EQ(half.persistence, Persistence::activation);
      EXPECT_EQ(2 * half.bytes, whole.values[v].bytes) << half.name;
    } else {
      EXPECT_EQ(half.dtype, whole.values[v].dtype);
      EXPECT_EQ(half.bytes, whole.values[v].bytes) << half.name;
    }
  }
}

TEST(MixedPrecisionGraph, EveryBuiltInNetworkHasOne) {
  for (const ZooEntry& entry : zoo()) {
    const Graph whole = differentiate(entry.build({}));
    const Graph graph = in_mixed_precision(whole);
    Bytes before, after, kept;
    for (const ValueId v : ids<ValueId>(graph.values.size())) {
      if (graph.values[v].alias_of.valid() || graph.values[v].persistence != Persistence::activation)
        continue;
      before += whole.values[v].bytes;
      after += graph.values[v].bytes;
    }
    EXPECT_LT(static_cast<double>(after.value()), 0.62 * static_cast<double>(before.value())) << entry.name;
  }
}

// Positions are counted in float32 here: as bfloat16 257 would be 256.
TEST(MixedPrecisionGraph, WhatIntegersAreMadeOfStaysExact) {
  GraphBuilder g("positions");
  const ValueId ids_of = g.input("ids", {2, 300}, DType::int32);
  const ValueId real = nn::cast(g, "real", ids_of, DType::float32);
  const ValueId counted = nn::cumsum(g, "counted", real, 1, false, false);
  const ValueId positions = nn::cast(g, "positions", counted, DType::int32);
  ValueId x = nn::embedding(g, "words", positions, 1000, 8);
  x = nn::add(g, "with_count", x, nn::reshape(g, "seen", counted, {2, 300, 1}));
  x = nn::linear(g, "fc", nn::reshape(g, "rows", x, {600, 8}), 4);
  nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {600}, DType::int32));
  const Graph graph = in_mixed_precision(differentiate(g.finish()));
  for (const char* name : {"real", "counted", "seen"}) EXPECT_FALSE(stored_in_half(graph, name)) << name;
  for (const char* name : {"words", "with_count", "fc"}) EXPECT_TRUE(stored_in_half(graph, name)) << name;
}

// A comparison of what the network computes is of what is stored: it does not keep the network in float32.
TEST(MixedPrecisionGraph, ComparisonsOfWhatParametersTakePartInAreOfTheRoundedNumbers) {
  GraphBuilder g("gate");
  const ValueId x = g.input("x", {4, 6});
  const ValueId h = nn::linear(g, "fc1", x, 6);
  const ValueId positive = nn::binary(g, "greater", "positive", h, g.constant("zero", {1}));
  const ValueId y = nn::where(g, "gated", positive, h, nn::scale(g, "small", h, 0.1));
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc2", y, 3), g.input("targets", {4}, DType::int32));
  const Graph graph = in_mixed_precision(differentiate(g.finish()));
  EXPECT_TRUE(stored_in_half(graph, "fc1"));
  EXPECT_TRUE(stored_in_half(graph, "gated"));
}

TEST(MixedPrecisionGraph, SumsOfPartsAreRoundedOnceTheyAreWhole) {
  const Graph whole = in_mixed_precision(differentiate(convolutions()));
  const Graph parts = split(whole, {.part = Bytes(256)});
  int partial = 0;
  for (const ValueId v : ids<ValueId>(parts.values.size())) {
    const Value& value = parts.values[v];
    if (value.persistence != Persistence::activation || value.alias_of.valid()) continue;
    EXPECT_EQ(value.bytes, byte_count(value.shape, value.dtype)) << value.name;
    if (value.name.find('+') == std::string::npos) continue;
    ++partial;
    EXPECT_EQ(value.dtype, DType::float32) << value.name;
  }
  EXPECT_GT(partial, 0);
}

// "relu" writes over its copy of "norm", 4 x 8 x 8 x 8 numbers; "conv" reads x in float32. Work is that of
// float32, and what only moves elements moves half.
TEST(MixedPrecisionGraph, OperatorsWorkOnFloat32Copies) {
  GraphBuilder g("copies");
  ValueId x = nn::conv2d(g, "conv", g.input("x", {4, 3, 8, 8}), {.out_channels = 8, .kernel = {1, 1}});
  x = nn::transpose(g, "turned", nn::relu(g, "relu", x), {0, 2, 3, 1});
  x = nn::linear(g, "fc", nn::reshape(g, "flat", x, {4, 512}), 5);
  nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {4}, DType::int32));
  const Graph whole = differentiate(g.finish());
  const Graph graph = in_mixed_precision(whole);
  const auto work = [](const Graph& of, const char* op) { return work_of(of, test::find_op(of, op)); };
  EXPECT_EQ(work(graph, "relu").workspace, Bytes(4 * 2048));
  EXPECT_EQ(work(graph, "conv").workspace, Bytes(4 * 2048));
  EXPECT_EQ(work(graph, "fc").workspace, Bytes(4 * 2048 + 4 * 20));
  EXPECT_EQ(work(graph, "turned").workspace, Bytes(0));
  EXPECT_EQ(work(whole, "relu").workspace, Bytes(0));
  for (const char* op : {"relu", "conv", "fc"}) EXPECT_EQ(work(graph, op).moved, work(whole, op).moved) << op;
  EXPECT_EQ(2 * work(graph, "turned").moved, work(whole, "turned").moved);
}

TEST(MixedPrecisionGraph, PartsAreMeasuredInFloat32) {
  const Graph whole = differentiate(convolutions());
  for (const Bytes part : {Bytes(4096), Bytes(512)})
    EXPECT_EQ(split(in_mixed_precision(whole), {.part = part}).ops.size(),
              split(whole, {.part = part}).ops.size());
}

TEST(MixedPrecisionGraph, TransfersAndMemoryCostHalf) {
  const Graph whole = differentiate(convolutions());
  const Graph graph = in_mixed_precision(whole);
  const DeviceProfile device = find_device("a72");
  const CostTable before = tabulate(whole, device), after = tabulate(graph, device);
  const ValueId v = test::find_value(graph, "conv");
  EXPECT_EQ(2 * after.values[v].bytes, before.values[v].bytes);
  EXPECT_LT(after.values[v].page_out.energy, before.values[v].page_out.energy);
  EXPECT_EQ(after.persistent, before.persistent);
}

TEST(MixedPrecisionGraph, MeasuredTimesOfFloat32HoldWhereThereAreNoOthers) {
  const Graph graph = in_mixed_precision(differentiate(convolutions()));
  const OpId relu = test::find_op(graph, "relu");
  const std::string own = shape_class(graph, relu);
  EXPECT_EQ(own, "4x8x8x8:bf16->4x8x8x8:bf16");
  DeviceProfile device = find_device("a72");
  device.overrides = {{"relu", "4x8x8x8->4x8x8x8", Seconds(2), Joules(3), Bytes(0), 0.0}};
  EXPECT_EQ(tabulate(graph, device).ops[relu].runtime, Seconds(2));
  device.overrides.push_back({"relu", own, Seconds(5), Joules(7), Bytes(0), 0.0});
  EXPECT_EQ(tabulate(graph, device).ops[relu].runtime, Seconds(5));
}

TEST(MixedPrecisionGraph, EvaluatesWithinTheSameTypes) {
  const EvaluationPart part = evaluation_part(in_mixed_precision(differentiate(convolutions())));
  EXPECT_TRUE(stored_in_half(part.graph, "norm:scaled"));
  EXPECT_FALSE(stored_in_half(part.graph, "norm:scale"));
}

TEST(MixedPrecisionGraph, InstanceFilesKnowIt) {
  Instance instance;
  instance.graph = in_mixed_precision(differentiate(convolutions()));
  instance.costs = tabulate(instance.graph, find_device("a72"));
  const Instance again = instance_from_json(to_json(instance), "again");
  for (const ValueId v : ids<ValueId>(instance.graph.values.size())) {
    EXPECT_EQ(again.graph.values[v].dtype, instance.graph.values[v].dtype);
    EXPECT_EQ(again.graph.values[v].bytes, instance.graph.values[v].bytes);
  }
}

void expect_refused(const std::function<void(Graph&)>& change, const std::string& rule) {
  Graph graph = in_mixed_precision(differentiate(convolutions()));
  change(graph);
  const std::string message = test::input_error([&] { verify(graph); });
  EXPECT_NE(message.find(rule), std::string::npos) << message;
}

TEST(MixedPrecisionGraph, SingleNumbersStayFloat32) {
  Graph graph = in_mixed_precision(differentiate(convolutions(), {.clip_norm = 1.0}));
  for (const Value& value : graph.values) {
    if (element_count(tensor_shape(value)) != 1) continue;
    EXPECT_EQ(value.dtype, DType::float32) << value.name;
  }
  graph.values[test::find_value(graph, "clip_factor")].dtype = DType::bfloat16;
  EXPECT_NE(test::input_error([&] { verify(graph); }).find("a single number cannot be stored as bfloat16"),
            std::string::npos);
}

TEST(MixedPrecisionGraph, OnlyActivationsCanBeStoredSo) {
  const auto stored = [](const char* name) {
    return [name](Graph& graph) { graph.values[test::find_value(graph, name)].dtype = DType::bfloat16; };
  };
  expect_refused(stored("conv.weight"), "only activations can be stored as bfloat16, no parameter");
  expect_refused(stored("x"), "only activations can be stored as bfloat16, no input");
  expect_refused(stored("grad:conv.weight"), "only activations can be stored as bfloat16");
  expect_refused([](Graph& graph) { graph.values[test::find_value(graph, "flat")].dtype = DType::float32; },
                 "a view has its storage's element type (bfloat16), not float32");
  expect_refused(stored("loss"), "output 0 of a softmax_cross_entropy cannot be stored as bfloat16");
  expect_refused(stored("loss.probabilities"), "output 1 of a softmax_cross_entropy cannot");
  expect_refused(stored("norm.mean"), "output 1 of a batch_norm cannot be stored as bfloat16");
  expect_refused([](Graph& graph) { graph.values[test::find_value(graph, "relu")].bytes = Bytes(1023); },
                 "its storage has 1023 bytes");
}

}  // namespace
}  // namespace poet
