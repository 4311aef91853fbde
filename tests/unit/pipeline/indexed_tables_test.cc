// Tables by index: which can be, what becomes of the graph, and what transfers of rows cost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "poet/autodiff/differentiate.h"
#include "poet/compile/compile.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/nn.h"
#include "poet/graph/parts.h"
#include "poet/pipeline/cutting.h"
#include "poet/split/indexed.h"
#include "poet/split/split.h"
#include "poet/verify/replay.h"
#include "tests/support/data_networks.h"
#include "tests/support/graph_text.h"
#include "tests/support/input_error.h"
#include "tests/support/same_graph.h"

namespace poet::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ValueId named(const Graph& graph, const std::string& name) {
  for (const ValueId v : ids<ValueId>(graph.values.size()))
    if (graph.values[v].name == name) return v;
  return {};
}
const Op* op_or_none(const Graph& graph, const std::string& name) {
  for (const Op& op : graph.ops)
    if (op.name == name) return &op;
  return nullptr;
}

/// 2 x 3 ids of 50 words, 4 numbers wide; as many positions of 16.
Graph training(Optimizer optimizer = Optimizer::sgd, bool words_train = true) {
  return differentiate(language_model(2, 3, 50), {optimizer, [=](const std::string& name) {
                                                    return words_train || !name.starts_with("words");
                                                  }});
}
Graph indexed(const Graph& graph) { return with_indexed(graph, indexable_tables(graph)); }

std::vector<std::string> tables_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId v : indexable_tables(graph)) names.push_back(graph.values[v].name);
  return names;
}

TEST(IndexedTables, AreThoseOfWhichAStepNeedsAFewRows) {
  EXPECT_THAT(tables_of(training()), ElementsAre("words.weight", "position_embeddings.weight"));
  EXPECT_THAT(tables_of(training(Optimizer::sgd, false)),
              ElementsAre("words.weight", "position_embeddings.weight"));
  // Velocity and moments change in every row at every step.
  EXPECT_THAT(tables_of(training(Optimizer::momentum)), IsEmpty());
  EXPECT_THAT(tables_of(training(Optimizer::adam)), IsEmpty());
  EXPECT_THAT(tables_of(training(Optimizer::adam, false)), ElementsAre("words.weight"));
  // As many ids as rows, or more.
  EXPECT_THAT(tables_of(differentiate(language_model(2, 8, 17), {})), ElementsAre("words.weight"));
  EXPECT_THAT(tables_of(differentiate(language_model(2, 8, 16), {})), IsEmpty());
}

TEST(IndexedTables, AreReadByOneEmbeddingOfAnInputAlone) {
  const auto tables = [](bool twice, bool computed_ids, bool tied) {
    GraphBuilder g("net");
    ValueId ids = g.input("ids", {4}, DType::int32);
    if (computed_ids) ids = nn::scale(g, "scaled", ids, 1.0, 1.0);
    const ValueId table = g.parameter("words.weight", {50, 4});
    const auto look_up = [&](const std::string& name, ValueId rows) {
      const ValueId y = g.output(name, name, {{4, 4}, {}});
      g.append(name, "embedding", {}, {rows, table}, {y});
      return y;
    };
    ValueId x = look_up("words", ids);
    if (twice) x = nn::add(g, "sum", x, look_up("again", g.input("more", {4}, DType::int32)));
    if (tied) x = nn::matmul(g, "logits", x, nn::transpose(g, "weights", table, {1, 0}));
    nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {4}, DType::int32));
    return tables_of(differentiate(g.finish(), {}));
  };
  EXPECT_THAT(tables(false, false, false), ElementsAre("words.weight"));
  EXPECT_THAT(tables(true, false, false), IsEmpty());
  EXPECT_THAT(tables(false, true, false), IsEmpty());
  EXPECT_THAT(tables(false, false, true), IsEmpty());
}

TEST(IndexedTables, BecomeValuesOfTheRowsThatAStepNames) {
  const Graph graph = indexed(training());
  const ValueId v = named(graph, "words.weight[input_ids]");
  ASSERT_TRUE(v.valid());
  const Value& rows = graph.values[v];
  EXPECT_EQ(rows.shape, (Shape{6, 4}));
  EXPECT_EQ(rows.bytes, Bytes(96));
  EXPECT_TRUE(rows.paged);
  ASSERT_TRUE(rows.rows);
  EXPECT_EQ(rows.rows->table, "words.weight");
  EXPECT_EQ(rows.rows->indices, "input_ids");
  EXPECT_EQ(rows.rows->of, 50);
  const Value home = at_home(rows);
  EXPECT_EQ(home.name, "words.weight");
  EXPECT_EQ(home.shape, (Shape{50, 4}));
  EXPECT_EQ(home.bytes, Bytes(800));
  const Op* places = op_or_none(graph, "words:first_occurrences");
  ASSERT_NE(places, nullptr);
  EXPECT_EQ(places->kind, "first_occurrences");
  EXPECT_EQ(places->inputs, std::vector<ValueId>{named(graph, "input_ids")});
  EXPECT_EQ(op_or_none(graph, "words")->inputs, (std::vector<ValueId>{places->outputs[0], v}));
  EXPECT_EQ(op_or_none(graph, "words:backward")->inputs[1], places->outputs[0]);
  EXPECT_EQ(graph.values[op_or_none(graph, "words:backward")->outputs[0]].shape, (Shape{6, 4}));
  EXPECT_EQ(parameter_count(graph), parameter_count(training()));
  // The tensors of checkpoints and weights are those of the graph that was given.
  std::vector<std::string> tensors, before;
  for (const Tensor& tensor : persistent_tensors(graph))
    tensors.push_back(tensor.name + " " + std::to_string(element_count(tensor.shape)));
  for (const Tensor& tensor : persistent_tensors(training()))
    before.push_back(tensor.name + " " + std::to_string(element_count(tensor.shape)));
  EXPECT_EQ(tensors, before);
}

TEST(IndexedTables, AreTakenBackAsTheyWere) {
  for (const Graph& graph : {training(), training(Optimizer::adam, false), training(Optimizer::sgd, false)}) {
    ASSERT_FALSE(indexable_tables(graph).empty());
    EXPECT_EQ(first_difference(without_indexed(indexed(graph)), graph), "");
  }
  EXPECT_EQ(first_difference(without_indexed(training()), training()), "");
}

TEST(IndexedTables, InPartsShareATablePerRangeOfColumns) {
  const Graph parts = split(indexed(training()), {Bytes(24)});  // 6 numbers
  std::int64_t elements = 0, columns = 0;
  for (const Value& value : parts.values) {
    if (!value.rows || value.rows->table != "words.weight") continue;
    elements += element_count(value.shape);
    const Value home = at_home(value);
    EXPECT_EQ(home.shape, (Shape{50, value.shape[1]}));
    if (stands_for_home(value)) columns += value.shape[1];
  }
  EXPECT_EQ(elements, 24);
  EXPECT_EQ(columns, 4);
  EXPECT_EQ(parameter_count(parts), parameter_count(training()));
}

DeviceProfile device_of_tables() {
  DeviceProfile device;
  device.name = "d";
  device.ram = Bytes(1 << 20);
  device.flops_per_second = device.memory_bytes_per_second = 1e6;
  device.active = Watts(1);
  Storage storage;
  storage.capacity = Bytes(100'000);
  storage.block = Bytes(64);
  storage.page_in = {Seconds(0.5), 64, Watts(2)};
  storage.page_out = {Seconds(0.25), 32, Watts(3)};
  device.storage = storage;
  return device;
}

// A row of 16 bytes and its mark of 16 take a block of 64. Read: 0.5 s + 64 / 64 s = 1.5 s, at 2 W, 6 times.
// Written: 0.25 s + 64 / 32 s = 2.25 s, at 3 W, 6 times.
TEST(IndexedTables, CostATransferPerRow) {
  const Graph graph = indexed(training());
  const CostTable costs = tabulate(graph, device_of_tables());
  const ValueCost& cost = costs.values[named(graph, "words.weight[input_ids]")];
  EXPECT_EQ(cost.bytes, Bytes(96));
  EXPECT_DOUBLE_EQ(cost.page_in.seconds.value(), 9);
  EXPECT_DOUBLE_EQ(cost.page_in.energy.value(), 18);
  EXPECT_DOUBLE_EQ(cost.page_out.seconds.value(), 13.5);
  EXPECT_DOUBLE_EQ(cost.page_out.energy.value(), 40.5);
  // Two places for each of 50 and 16 rows.
  EXPECT_EQ(costs.storage_capacity, Bytes(100'000 - 2 * 64 * (50 + 16)));
  // fc's weight and bias, and 6 numbers of rows for either table.
  EXPECT_EQ(costs.persistent, Bytes(4 * (50 * 4 + 50) + 2 * 4 * 6));
}

TEST(IndexedTables, AreOnStorageWhateverElseIs) {
  Instance instance;
  instance.graph = indexed(training());
  instance.costs = tabulate(instance.graph, device_of_tables());
  instance.has_device = true;
  const ValueId rows = named(instance.graph, "words.weight[input_ids]");
  const ValueId weight = named(instance.graph, "fc.weight");
  verify(instance);
  EXPECT_THAT(pageable(instance), ElementsAre(weight, named(instance.graph, "fc.bias")));
  EXPECT_TRUE(with_paged(instance, {}).graph.values[rows].paged);
  EXPECT_TRUE(with_paged(instance, {weight}).graph.values[rows].paged);
  EXPECT_FALSE(without_homes(instance).graph.values[rows].paged);
  // The step that keeps everything transfers nothing.
  EXPECT_EQ(replay_keep_all(instance, Semantics::device).page_ins, 0);

  const Instance read = instance_from_json(to_json(instance), "x.json");
  ASSERT_TRUE(read.graph.values[rows].rows);
  EXPECT_EQ(read.graph.values[rows].rows->indices, "input_ids");
  EXPECT_EQ(to_json(read), to_json(instance));
  EXPECT_EQ(to_json(instance)["format"], 3);
}

// The words are read by 6 ids.
Graph word_training(std::int64_t words, std::int64_t width, Optimizer optimizer) {
  GraphBuilder g("net");
  const ValueId rows = nn::embedding(g, "words", g.input("ids", {6}, DType::int32), words, width);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", rows, 3), g.input("targets", {6}, DType::int32));
  return differentiate(g.finish(), {optimizer, {}});
}

/// The graph that compile() chooses.
Instance chosen(const Graph& training, Bytes ram, PersistentPolicy persistent, const std::string& device) {
  CompileRequest request;
  request.instance.graph = training;
  request.instance.costs = tabulate(training, find_device(device), persistent);
  request.limits.ram_budget = ram;
  request.choose_paged = persistent == PersistentPolicy::automatic;
  const std::vector<ValueId> tables =
      request.choose_paged ? worth_an_index(training, find_device(device)) : std::vector<ValueId>();
  request.cuts = cuts_of(training, find_device(device), persistent, tables, request.instance, {}, true);
  request.options.time_limit_seconds = 2;
  const CompileResult result = compile(request);
  EXPECT_TRUE(result.has_plan());
  return *result.instance;
}

bool has_rows(const Instance& instance) {
  return std::ranges::any_of(instance.graph.values,
                             [](const Value& value) { return value.rows.has_value(); });
}

// 2,000 words are 32 KB.
TEST(IndexedTables, AreChosenWhereTheWholeHasNoRoom) {
  const auto is_chosen = [](Optimizer optimizer, Bytes ram, PersistentPolicy persistent) {
    return has_rows(chosen(word_training(2000, 4, optimizer), ram, persistent, "m4"));
  };
  const auto automatic = PersistentPolicy::automatic;
  const Bytes little(48 << 10), ample(1 << 20);
  EXPECT_TRUE(is_chosen(Optimizer::sgd, little, automatic));
  EXPECT_FALSE(is_chosen(Optimizer::momentum, little, automatic));
  EXPECT_FALSE(is_chosen(Optimizer::sgd, ample, automatic));
  EXPECT_FALSE(is_chosen(Optimizer::sgd, ample, PersistentPolicy::resident));
}

// Updating 20,000 words costs more than moving 6 rows of them, however much RAM there is.
TEST(IndexedTables, AreChosenWhereTheUpdateOfTheWholeIsTheCost) {
  EXPECT_TRUE(has_rows(
      chosen(word_training(20'000, 64, Optimizer::sgd), Bytes(1 << 30), PersistentPolicy::automatic, "m0")));
}

TEST(IndexedTables, AreCheckedAsGraphs) {
  const Graph good = indexed(training());
  const ValueId v = named(good, "words.weight[input_ids]");
  const auto broken = [&](const auto& change) {
    Graph graph = good;
    change(graph.values[v]);
    return input_error([&] { verify(graph); });
  };
  EXPECT_THAT(broken([](Value& value) { value.paged = false; }), HasSubstr("paged parameter with two axes"));
  EXPECT_THAT(broken([](Value& value) { value.rows->indices = "ids"; }), HasSubstr("no input 'ids' names"));
  EXPECT_THAT(broken([](Value& value) {
                value.rows->indices = "targets";
                value.rows->of = 0;
              }),
              HasSubstr("1 to 2147483647 rows, not 0"));
}

}  // namespace
}  // namespace poet::test
