// Networks written as ONNX files: imported again they are the same graph with the same weights, bit for bit.

#include "poet/frontend/onnx/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <map>
#include <random>

#include "poet/frontend/onnx/functions.h"
#include "poet/frontend/onnx/read/read_model.h"
#include "poet/frontend/onnx/weights.h"
#include "poet/frontend/onnx/write/weight_tensor.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/nn.h"
#include "tests/support/background.h"
#include "tests/support/function_rows.h"
#include "tests/support/graph_text.h"
#include "tests/support/input_error.h"
#include "tests/support/proto_model.h"
#include "tests/support/same_graph.h"
#include "tests/support/scratch_folder.h"

namespace poet {
namespace {

using test::ProtoModel;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Contents of persistent values by name; of those that it does not know it makes random ones.
class Weights {
 public:
  bool operator()(const Value& value, std::byte* to) {
    std::string& contents = all[value.name];
    if (contents.empty()) {
      // Any finite numbers: an infinite one would make a weight a mask.
      std::uniform_real_distribution<float> any(-1e30F, 1e30F);
      for (std::int64_t i = 0; i < element_count(value.shape); ++i)
        contents += test::bytes_of({any(random_)});
    }
    EXPECT_EQ(contents.size(), static_cast<std::size_t>(value.bytes.value())) << value.name;
    std::memcpy(to, contents.data(), contents.size());
    return true;
  }

  std::map<std::string, std::string> all;

 private:
  std::mt19937 random_{7};
};

/// Whether the file gives every parameter and running statistic of `imported` the contents that were written.
void expect_same(const std::filesystem::path& file, const ImportedModel& imported, const Weights& written) {
  const OnnxWeights weights(file, imported);
  std::size_t compared = 0;
  for (const Value& value : imported.forward.values) {
    const bool is_constant = value.persistence != Persistence::parameter && !written.all.contains(value.name);
    if (!is_persistent(value.persistence) || value.alias_of.valid() || is_constant) continue;
    std::string contents(static_cast<std::size_t>(value.bytes.value()), '\0');
    ASSERT_TRUE(weights.read(value, reinterpret_cast<std::byte*>(contents.data()))) << value.name;
    EXPECT_TRUE(written.all.at(value.name) == contents) << value.name;
    ++compared;
  }
  EXPECT_EQ(compared, written.all.size());
}

/// libonnx's checker and its strict inference of types and shapes.
void expect_valid(const std::filesystem::path& file) {
  ::onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(test::file_text(file)));
  EXPECT_NO_THROW(::onnx::checker::check_model(model)) << file;
  const ::onnx::ShapeInferenceOptions strict(true, 1, false);
  EXPECT_NO_THROW(::onnx::shape_inference::InferShapes(model, ::onnx::OpSchemaRegistry::Instance(), strict))
      << file;
}

struct Form {
  std::int64_t opset;
  bool training;
};

class OnnxExport : public ::testing::TestWithParam<Form> {
 protected:
  void expect_round_trip(const Graph& graph, const ImportOptions& options) {
    Weights weights;
    const auto file = folder_.path() / "net.onnx";
    write_onnx(file, graph, std::ref(weights), {.opset = GetParam().opset, .training = GetParam().training});
    expect_valid(file);
    const ImportedModel imported = import_onnx(file, options);
    EXPECT_EQ(test::first_difference(graph, imported.forward), "");
    expect_same(file, imported, weights);
  }

  test::ScratchFolder folder_;
};

TEST_P(OnnxExport, BuiltInNetworks) {
  for (const std::string name : {"linear", "resnet14_cifar", "bert_tiny"}) {
    SCOPED_TRACE(name);
    ZooOptions options;
    options.batch_size = 2;
    if (name == "bert_tiny") options.sequence_length = 8;
    ImportOptions import;
    import.batch_size = 2;
    expect_round_trip(build_network(name, options), import);
  }
}

// Every rule that no built-in network needs.
TEST_P(OnnxExport, OtherOperators) {
  GraphBuilder g("others");
  ValueId x = g.input("x", {2, 4, 9, 9});
  x = nn::conv2d(g, "conv", x,
                 {.out_channels = 4,
                  .kernel = {3, 2},
                  .padding = {1, 0},
                  .dilation = {1, 2},
                  .groups = 2,
                  .bias = true,
                  .padding_end = {0, 1}});
  x = nn::unary(g, "silu", "silu", x);
  x = nn::max_pool2d(g, "max", x, {.kernel = {2, 2}, .ceil_mode = true});
  x = nn::unary(g, "leaky_relu", "leaky", x, {{"alpha", 0.25}});
  x = nn::prelu(g, "prelu", x, g.parameter("slope", {4, 1, 1}));
  x = nn::avg_pool2d(g, "avg", x, {.kernel = {2, 2}, .stride = {1, 1}, .padding = {1, 1}});
  x = nn::avg_pool2d(g, "inside", x,
                     {.kernel = {2, 2}, .stride = {1, 1}, .padding = {1, 1}, .count_include_pad = false});
  x = nn::clip(g, "clip", x, -2, std::numeric_limits<double>::infinity());
  x = nn::scale(g, "scale", x, 2.0);
  x = nn::scale(g, "shift", x, 1.0, 3.0);
  x = nn::concat(g, "concat", {x, nn::unary(g, "pow", "pow", x, {{"exponent", 3.0}})}, 1);
  x = nn::unary(g, "selu", "selu", x, {{"alpha", 1.5}, {"gamma", 1.25}});
  x = nn::mul(g, "mul", x, g.parameter("factor", {8, 1, 1}));
  x = nn::linear(g, "fc", nn::log_softmax(g, "log_softmax", x), 3);
  nn::mse_loss(g, "loss", x, g.input("targets", Shape(g.shape(x))));
  ImportOptions options;
  options.batch_size = 2;
  options.loss = Loss::mean_squared_error;
  expect_round_trip(g.finish(), options);
}

// Functions of one element, by their names in ONNX.
TEST_P(OnnxExport, Functions) {
  GraphBuilder g("functions");
  ValueId x = nn::linear(g, "fc", g.input("x", {2, 3}), 4);
  for (const test::FunctionRow& row : test::function_rows()) {
    const onnx::FunctionName* name = onnx::find_function_of(row.kind);
    if (name != nullptr && name->since <= GetParam().opset)
      x = nn::add(g, row.kind + std::string(".sum"), nn::unary(g, row.kind, row.kind, x, row.attributes), x);
  }
  nn::mse_loss(g, "loss", x, g.input("targets", Shape(g.shape(x))));
  ImportOptions options;
  options.batch_size = 2;
  options.loss = Loss::mean_squared_error;
  expect_round_trip(g.finish(), options);
}

TEST(OnnxExportForms, AFunctionOfALaterOpset) {
  GraphBuilder g("later");
  const ValueId x = nn::unary(g, "hardswish", "swish", nn::linear(g, "fc", g.input("x", {2, 3}), 4));
  nn::mse_loss(g, "loss", x, g.input("targets", {2, 4}));
  const Graph graph = g.finish();
  Weights weights;
  EXPECT_EQ(test::input_error([&] { (void)onnx_model_of(graph, std::ref(weights), {.opset = 13}); }),
            "swish: is a HardSwish, which ONNX has from opset 14 on; it is written with opset 13");
  EXPECT_NO_THROW((void)onnx_model_of(graph, std::ref(weights), {.opset = 14}));
}

// What predicts something for every token: the rows of the loss are a view of all samples.
TEST_P(OnnxExport, RowsPerSample) {
  GraphBuilder g("rows");
  const ValueId x = nn::linear(g, "fc", g.input("x", {2, 5, 4}), 3);
  nn::softmax_cross_entropy(g, "loss", nn::reshape(g, "rows", x, {10, 3}),
                            g.input("targets", {10}, DType::int32));
  ImportOptions options;
  options.batch_size = 2;
  const Graph graph = g.finish();
  expect_round_trip(graph, options);
  // Of other batches too.
  options.batch_size = 7;
  const ImportedModel larger = import_onnx(folder_.path() / "net.onnx", options);
  EXPECT_EQ(larger.forward.values[test::find_value(larger.forward, "targets")].shape, Shape{35});
}

INSTANTIATE_TEST_SUITE_P(Forms, OnnxExport,
                         ::testing::Values(Form{13, false}, Form{13, true}, Form{17, false}, Form{17, true}),
                         [](const auto& test) {
                           return (test.param.training ? "training" : "inference") +
                                  std::to_string(test.param.opset);
                         });

TEST(OnnxExportForms, InferenceHasNoTrainingMode) {
  const auto text = [](bool training) {
    Weights weights;
    ::onnx::ModelProto model;
    const Graph graph = build_network("resnet14_cifar");
    EXPECT_TRUE(
        model.ParseFromString(onnx_model_of(graph, std::ref(weights), {.opset = 17, .training = training})));
    return model.DebugString();
  };
  EXPECT_THAT(text(true), HasSubstr("training_mode"));
  EXPECT_THAT(text(false), ::testing::Not(HasSubstr("training_mode")));
}

TEST(OnnxExportForms, AScaleThatShiftsIsTwoNodes) {
  Weights weights;
  ::onnx::ModelProto model;
  GraphBuilder g("scaled");
  const ValueId x = nn::scale(g, "s", g.input("x", {2, 3}), 2.0, 3.0);
  nn::mse_loss(g, "loss", x, g.input("targets", {2, 3}));
  ASSERT_TRUE(model.ParseFromString(onnx_model_of(g.finish(), std::ref(weights))));
  ASSERT_EQ(model.graph().node_size(), 2);
  EXPECT_EQ(model.graph().node(0).op_type(), "Mul");
  EXPECT_EQ(model.graph().node(1).op_type(), "Add");
  EXPECT_EQ(model.graph().node(1).input(0), model.graph().node(0).output(0));
  EXPECT_EQ(model.graph().node(1).output(0), model.graph().output(0).name());
}

TEST(OnnxExportForms, ATransposeKeepsItsOrder) {
  Weights weights;
  ::onnx::ModelProto model;
  GraphBuilder g("transposed");
  const ValueId x = nn::transpose(g, "t", g.input("x", {2, 3, 4}), {0, 2, 1});
  nn::mse_loss(g, "loss", x, g.input("targets", {2, 4, 3}));
  ASSERT_TRUE(model.ParseFromString(onnx_model_of(g.finish(), std::ref(weights))));
  ASSERT_EQ(model.graph().node_size(), 1);
  EXPECT_THAT(model.graph().node(0).attribute(0).ints(), ElementsAre(0, 2, 1));
}

TEST(OnnxExportErrors, WhatHasNoForm) {
  Weights weights;
  GraphBuilder g("odd");
  const ValueId x = nn::cumsum(g, "sums", g.input("x", {2, 3}), 1);
  nn::mse_loss(g, "loss", x, g.input("targets", {2, 3}));
  const Graph graph = g.finish();
  EXPECT_THAT(test::input_error([&] { (void)onnx_model_of(graph, std::ref(weights)); }),
              HasSubstr("op 'sums': is a cumsum, which poet cannot write as ONNX"));
  EXPECT_THAT(test::input_error([&] { (void)onnx_model_of(graph, std::ref(weights), {.opset = 18}); }),
              HasSubstr("opset: must be 13 to 17, not 18"));
}

class OnnxWithWeights : public ::testing::Test {
 protected:
  /// Imports the model, writes it with random weights, imports that and compares.
  void expect_round_trip(const ProtoModel& model, const ImportOptions& options = {}) {
    const auto original = folder_.write("net.onnx", model.bytes());
    const ImportedModel imported = import_onnx(original, options);
    // In another folder, where it must be whole.
    std::filesystem::create_directory(folder_.path() / "new");
    const auto file = folder_.path() / "new" / "trained.onnx";
    write_onnx_with_weights(original, imported, file, std::ref(weights_));
    expect_valid(file);
    const ImportedModel again = import_onnx(file);
    EXPECT_EQ(test::first_difference(imported.forward, again.forward), "");
    expect_same(file, again, weights_);
    ASSERT_TRUE(trained_.ParseFromString(test::file_text(file)));
  }

  [[nodiscard]] std::vector<std::string> nodes() const {
    std::vector<std::string> kinds;
    for (const ::onnx::NodeProto& node : trained_.graph().node()) kinds.push_back(node.op_type());
    return kinds;
  }

  test::ScratchFolder folder_;
  Weights weights_;
  ::onnx::ModelProto trained_;
};

TEST_F(OnnxWithWeights, TurnedMatricesAndTheirBias) {
  ProtoModel model({1, 3});
  model.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6}).set_doc_string("kept");
  model.floats("b", {2}, {7, 8});
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("Add", {"h", "b"}, {"y"});
  expect_round_trip(model);
  EXPECT_EQ(trained_.graph().initializer(0).doc_string(), "kept");
  EXPECT_THAT(trained_.graph().initializer(0).dims(), ElementsAre(3, 2));
}

TEST_F(OnnxWithWeights, ConstantsAndMergedOnesAreStoredApart) {
  ProtoModel model({2, 3});
  model.proto.set_producer_name("pytorch");
  model.proto.set_ir_version(3);
  auto& input = *model.graph().add_input();
  input = model.graph().input(0);
  input.set_name("shift");
  input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()->DeleteSubrange(0, 1);
  model.constant("w", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  model.floats("shift", {3}, {1, 2, 3});
  model.node("Identity", {"shift"}, {"other"});
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("Add", {"h", "shift"}, {"a"});
  model.node("Add", {"a", "other"}, {"y"});
  ImportOptions options;
  options.trained = {"w"};
  expect_round_trip(model, options);
  EXPECT_THAT(nodes(), ElementsAre("MatMul", "Add", "Add"));
}

TEST_F(OnnxWithWeights, SharedRunningStatistics) {
  ProtoModel model({4, 2, 3, 3});
  for (const char* name : {"scale", "shift", "scale2", "shift2", "mean", "var"})
    model.floats(name, {2}, {1, 2});
  model.node("BatchNormalization", {"x", "scale", "shift", "mean", "var"}, {"h"});
  model.node("BatchNormalization", {"h", "scale2", "shift2", "mean", "var"}, {"y"});
  // After it the statistics are no longer shared, and named as the network has them.
  const auto original = folder_.write("net.onnx", model.bytes());
  const ImportedModel imported = import_onnx(original);
  const auto file = folder_.path() / "trained.onnx";
  write_onnx_with_weights(original, imported, file, std::ref(weights_));
  expect_valid(file);
  const ImportedModel again = import_onnx(file);
  EXPECT_EQ(test::first_difference(imported.forward, again.forward), "");
  EXPECT_EQ(weights_.all.size(), 8U);
  EXPECT_THAT(again.placements, IsEmpty());
  expect_same(file, again, weights_);
}

TEST_F(OnnxWithWeights, AShiftThatTheFileLacksStaysSo) {
  ProtoModel model({2, 4, 3});
  model.floats("scale", {4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  model.node("LayerNormalization", {"x", "scale"}, {"y"});
  ProtoModel::set(*model.graph().mutable_node(0), "axis", 1);
  expect_round_trip(model);
  EXPECT_THAT(trained_.graph().node(0).input(), ElementsAre("x", "scale"));
  EXPECT_THAT(trained_.graph().initializer(0).dims(), ElementsAre(4, 3));
}

// A matrix with the numbers of another one is that one, in the file too.
TEST_F(OnnxWithWeights, CopiesOfTiedWeights) {
  ProtoModel model({2, 3});
  model.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  model.floats("head", {2, 3}, {1, 3, 5, 2, 4, 6});
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("MatMul", {"h", "head"}, {"y"});
  expect_round_trip(model);
  const auto& head = trained_.graph().initializer(1);
  ASSERT_EQ(head.name(), "head");
  EXPECT_EQ(head.raw_data(),
            onnx::transposed_elements(trained_.graph().initializer(0).raw_data(), {3, 2}, Bytes{4}));
}

TEST_F(OnnxWithWeights, RowsStayRows) {
  ProtoModel model({1, 2, 5});
  model.constant("w", {3, 2, 1}, {1, 2, 3, 4, 5, 6});
  model.node("Conv", {"x", "w"}, {"y"});
  expect_round_trip(model);
  EXPECT_THAT(trained_.graph().initializer(0).dims(), ElementsAre(3, 2, 1));
}

TEST_F(OnnxWithWeights, OtherFilesMoveIn) {
  folder_.write("data.bin", test::bytes_of<float>({1, 2, 3, 4, 5, 6}));
  folder_.write("ids.bin", test::bytes_of<std::int64_t>({1, 3}));
  ProtoModel model({1, 3});
  ProtoModel::keep_elsewhere(model.floats("w", {3, 2}, {}), "data.bin", "", "");
  auto& constant = model.integers("c", {1, 3});
  constant.clear_int64_data();
  ProtoModel::keep_elsewhere(constant, "ids.bin", "0", "16");
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("Cast", {"c"}, {"f"});
  ProtoModel::set(*model.graph().mutable_node(1), "to", ::onnx::TensorProto::FLOAT);
  model.node("Add", {"h", "f"}, {"y"});
  const auto original = folder_.write("net.onnx", model.bytes());
  const ImportedModel imported = import_onnx(original);
  std::filesystem::create_directory(folder_.path() / "new");
  const auto file = folder_.path() / "new" / "trained.onnx";
  write_onnx_with_weights(original, imported, file, std::ref(weights_));
  ASSERT_TRUE(trained_.ParseFromString(test::file_text(file)));
  EXPECT_EQ(trained_.graph().initializer(1).raw_data(), test::bytes_of<std::int64_t>({1, 3}));
  EXPECT_EQ(trained_.graph().initializer(0).external_data_size(), 0);
}

// Numbers as the file has them leave the file as it is, in whatever field it has them.
TEST_F(OnnxWithWeights, TheSameNumbersAreTheSameFile) {
  ProtoModel model({1, 3});
  model.proto.set_producer_name("somebody");
  auto& listed = model.floats("w", {3, 2}, {});
  listed.clear_raw_data();
  for (const float x : {1.0F, -0.0F, 3.0F, 4.0F, 5.0F, 6.0F}) listed.add_float_data(x);
  model.node("MatMul", {"x", "w"}, {"y"});
  model.proto.mutable_unknown_fields()->AddVarint(99, 7);  // of a newer version
  const auto file = folder_.write("net.onnx", model.bytes());
  const ImportedModel imported = import_onnx(file);
  const OnnxWeights stored(file, imported);
  write_onnx_with_weights(file, imported, file,
                          [&](const Value& value, std::byte* to) { return stored.read(value, to); });
  EXPECT_EQ(test::file_text(file), model.bytes());
}

TEST_F(OnnxWithWeights, WhatIsNotKnownStays) {
  ProtoModel model({1, 3});
  model.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  model.node("MatMul", {"x", "w"}, {"y"});
  const auto file = folder_.write("net.onnx", model.bytes());
  write_onnx_with_weights(file, import_onnx(file), file, [](const Value&, std::byte*) { return false; });
  EXPECT_EQ(test::file_text(file), model.bytes());
}

TEST_F(OnnxWithWeights, Refusals) {
  ProtoModel model({1, 3});
  auto& half = model.floats("w", {3, 2}, {});
  half.set_data_type(::onnx::TensorProto::FLOAT16);
  half.set_raw_data(std::string(12, '\0'));
  model.node("Cast", {"w"}, {"f"});
  ProtoModel::set(*model.graph().mutable_node(0), "to", ::onnx::TensorProto::FLOAT);
  model.node("MatMul", {"x", "f"}, {"y"});
  const auto file = folder_.write("net.onnx", model.bytes());
  const ImportedModel imported = import_onnx(file);
  EXPECT_THAT(
      test::input_error([&] { write_onnx_with_weights(file, imported, file, std::ref(weights_)); }),
      AllOf(HasSubstr("net.onnx: tensor 'w': is of type float16"), HasSubstr("convert the model to float")));
  EXPECT_EQ(test::file_text(file), model.bytes());
  ProtoModel other({1, 3});
  other.node("Relu", {"x"}, {"y"});
  folder_.write("net.onnx", other.bytes());
  EXPECT_THAT(test::input_error([&] { write_onnx_with_weights(file, imported, file, std::ref(weights_)); }),
              HasSubstr("tensor 'w': is in no tensor of the file"));
}

}  // namespace
}  // namespace poet
