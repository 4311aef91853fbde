// What is wrong with a model is said in one line that names the node and the rule; nothing else happens.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/read/read_model.h"
#include "tests/support/input_error.h"
#include "tests/support/onnx_models.h"

namespace poet {
namespace {

using test::input_error;
using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_reals;
using ::testing::HasSubstr;

using List = std::vector<std::int64_t>;

std::string import_error(const onnx::Model& model, const ImportOptions& options = {}) {
  return input_error([&] { (void)import_model(model, options); });
}

// x (N, 3) times w (3, 2), N open.
::onnx::ModelProto matmul_proto() {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  ::onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("g");
  const auto describe = [](::onnx::ValueInfoProto& value, const std::string& name, std::int64_t last) {
    value.set_name(name);
    ::onnx::TypeProto_Tensor& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(::onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_param("N");
    type.mutable_shape()->add_dim()->set_dim_value(last);
  };
  describe(*graph.add_input(), "x", 3);
  describe(*graph.add_output(), "y", 2);
  ::onnx::TensorProto& w = *graph.add_initializer();
  w.set_name("w");
  w.set_data_type(::onnx::TensorProto::FLOAT);
  w.add_dims(3);
  w.add_dims(2);
  for (int i = 0; i < 6; ++i) w.add_float_data(0.5F);
  ::onnx::NodeProto& node = *graph.add_node();
  node.set_name("product");
  node.set_op_type("MatMul");
  node.add_input("x");
  node.add_input("w");
  node.add_output("y");
  return model;
}

std::string read_error(const ::onnx::ModelProto& model) {
  return input_error([&] { (void)onnx::parse_model(model.SerializeAsString(), "m.onnx"); });
}

TEST(OnnxRead, ReadsWhatLibonnxWrites) {
  const onnx::Model model = onnx::parse_model(matmul_proto().SerializeAsString(), "m.onnx");
  EXPECT_EQ(model.opset, 17);
  ASSERT_EQ(model.inputs.size(), 1U);
  EXPECT_FALSE(model.inputs[0].shape->at(0).size.has_value());
  EXPECT_EQ(model.inputs[0].shape->at(0).symbol, "N");
  EXPECT_EQ(model.initializers.at("w").shape, (Shape{3, 2}));
  ASSERT_EQ(model.nodes.size(), 1U);
  EXPECT_EQ(model.nodes[0].op_type, "MatMul");
}

TEST(OnnxRead, WeightsMayBeElsewhere) {
  ::onnx::ModelProto proto = matmul_proto();
  ::onnx::TensorProto& w = *proto.mutable_graph()->mutable_initializer(0);
  w.clear_float_data();
  EXPECT_EQ(onnx::parse_model(proto.SerializeAsString(), "m.onnx").initializers.at("w").shape, (Shape{3, 2}));
  w.set_data_location(::onnx::TensorProto::EXTERNAL);
  ::onnx::StringStringEntryProto& where = *w.add_external_data();
  where.set_key("location");
  where.set_value("nowhere.bin");
  EXPECT_FALSE(onnx::parse_model(proto.SerializeAsString(), "m.onnx").initializers.at("w").known);
}

TEST(OnnxRead, EveryTruncationIsRefusedOrComplete) {
  const std::string bytes = matmul_proto().SerializeAsString();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string message =
        input_error([&] { (void)onnx::parse_model(std::string_view(bytes).substr(0, length), "m.onnx"); });
    EXPECT_TRUE(message.starts_with("m.onnx: ")) << message;
  }
}

TEST(OnnxRead, RefusesWhatIsNoModel) {
  EXPECT_EQ(input_error([] { (void)onnx::parse_model("", "m.onnx"); }), "m.onnx: is empty");
  EXPECT_THAT(input_error([] { (void)onnx::parse_model("{\"format\": 1}", "m.onnx"); }),
              HasSubstr("is no ONNX model"));
  EXPECT_THAT(input_error([] { (void)onnx::read_model("/no/such/file.onnx"); }),
              HasSubstr("/no/such/file.onnx: is no readable file"));
  EXPECT_THAT(input_error([] { (void)onnx::read_model("/"); }), HasSubstr("is no readable file"));
}

TEST(OnnxRead, RefusesCyclesAndUnknownNames) {
  ::onnx::ModelProto proto = matmul_proto();
  proto.mutable_graph()->mutable_node(0)->set_input(0, "y");
  EXPECT_EQ(
      read_error(proto),
      "m.onnx: node 0 'product' (MatMul): reads 'y', which no input, initialiser or earlier node provides");
  proto = matmul_proto();
  proto.mutable_graph()->mutable_node(0)->set_output(0, "x");
  EXPECT_THAT(read_error(proto), HasSubstr("writes 'x', which something else has provided already"));
  proto = matmul_proto();
  proto.mutable_graph()->mutable_output(0)->set_name("z");
  EXPECT_EQ(read_error(proto), "m.onnx: nothing provides the output 'z'");
}

TEST(OnnxRead, RefusesShapesThatAreNone) {
  ::onnx::ModelProto proto = matmul_proto();
  proto.mutable_graph()->mutable_initializer(0)->set_dims(0, -3);
  EXPECT_THAT(read_error(proto), HasSubstr("m.onnx: initialiser 'w': "));
  proto.mutable_graph()->mutable_initializer(0)->set_dims(0, std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(read_error(proto), HasSubstr("m.onnx: initialiser 'w': "));
}

TEST(OnnxRead, PassesOnWhatTheCheckerFinds) {
  ::onnx::ModelProto proto = matmul_proto();
  proto.mutable_graph()->mutable_node(0)->add_input("w");  // a third operand
  EXPECT_THAT(read_error(proto), HasSubstr("m.onnx: libonnx refuses it: "));
}

TEST(OnnxImport, AnUnknownOperatorIsNamed) {
  onnx::Model model = onnx_model({2, 3}, {{"w", onnx_reals({3, 2})}},
                                 {onnx_node("MatMul", {"x", "w"}, {"m"}), onnx_node("Det", {"m"}, {"y"})});
  model.nodes[1].name = "det";
  EXPECT_EQ(import_error(model),
            "node 1 'det' (Det): poet cannot import the operator Det; replace it in the model, cut the model "
            "before it, or plan around it with `allow_opaque`");
  model.nodes[1].domain = "com.example";
  EXPECT_THAT(import_error(model), HasSubstr("the operator com.example.Det"));
}

TEST(OnnxImport, OpenShapesNeedAWish) {
  const onnx::Model model =
      onnx_model({-1, -1}, {{"w", onnx_reals({3, 2})}}, {onnx_node("MatMul", {"x", "w"}, {"y"})});
  EXPECT_EQ(
      import_error(model),
      "input 'x': dimension 1 ('open') is open; give its shape with `input_shapes` x=1x128 or the like");
  ImportOptions options;
  options.input_shapes["z"] = {1, 3};
  EXPECT_EQ(import_error(model, options), "`input_shapes`: the model has no input 'z'; it has x");
  options.input_shapes = {{"x", {1, 3, 1}}};
  EXPECT_EQ(import_error(model, options), "input 'x': has 2 dimensions, not 3");
  options.input_shapes = {{"x", {1, 4}}};
  EXPECT_THAT(import_error(model, options), HasSubstr("node 0 'y' (MatMul): "));
  options.input_shapes = {{"x", {4, 3}}};
  EXPECT_EQ(import_model(model, options).batch_size, 4);
}

TEST(OnnxImport, AFixedBatchIsNotChangedSilently) {
  ImportOptions options;
  options.batch_size = 8;
  EXPECT_THAT(
      import_error(onnx_model({4, 3}, {{"w", onnx_reals({3, 2})}}, {onnx_node("MatMul", {"x", "w"}, {"y"})}),
                   options),
      HasSubstr("input 'x': is for batches of 4, not 8; give its shape with `input_shapes` x=8x3"));
}

TEST(OnnxImport, ABatchSizeThatNoInputHasIsRefused) {
  ImportOptions options;
  options.batch_size = 8;
  options.input_shapes = {{"x", {4, 3}}};
  const onnx::Model model =
      onnx_model({-1, 3}, {{"w", onnx_reals({3, 2})}}, {onnx_node("MatMul", {"x", "w"}, {"y"})});
  EXPECT_EQ(
      import_error(model, options),
      "`batch_size`: 8 is no size of any input: `input_shapes` sets them all; leave one of the two out");
  options.input_shapes = {{"x", {8, 3}}};
  EXPECT_EQ(import_model(model, options).batch_size, 8);
}

TEST(OnnxImport, AttributesAreNamed) {
  const auto pool = [](std::map<std::string, onnx::AttributeValue> attributes) {
    return import_error(
        onnx_model({1, 2, 8, 8}, {}, {onnx_node("MaxPool", {"x"}, {"y"}, std::move(attributes))}));
  };
  EXPECT_EQ(pool({}), "node 0 'y' (MaxPool): attribute 'kernel_shape': is missing");
  EXPECT_EQ(pool({{"kernel_shape", List{3}}}),
            "node 0 'y' (MaxPool): attribute 'kernel_shape': must have 2 numbers, not 1");
  EXPECT_EQ(pool({{"kernel_shape", std::int64_t{3}}}),
            "node 0 'y' (MaxPool): attribute 'kernel_shape': must be a list of integers");
  EXPECT_EQ(pool({{"kernel_shape", List{2, 2}}, {"auto_pad", std::string("SIDEWAYS")}}),
            "node 0 'y' (MaxPool): attribute 'auto_pad': 'SIDEWAYS' is not known");
  EXPECT_THAT(pool({{"kernel_shape", List{std::numeric_limits<std::int64_t>::max(), 2}}}),
              HasSubstr("node 0 'y' (MaxPool): "));
  EXPECT_THAT(pool({{"kernel_shape", List{std::numeric_limits<std::int64_t>::min(), 3}}}),
              HasSubstr("kernel must be positive"));
}

TEST(OnnxImport, WindowsAreNamed) {
  const auto conv = [](const char* kind, const Shape& x, const Shape& w,
                       std::map<std::string, onnx::AttributeValue> attributes = {}) {
    return import_error(
        onnx_model(x, {{"w", onnx_reals(w)}}, {onnx_node(kind, {"x", "w"}, {"y"}, std::move(attributes))}));
  };
  EXPECT_EQ(
      conv("Conv", {1, 2, 3, 3, 3, 3}, {4, 2, 1, 1, 1, 1}),
      "node 0 'y' (Conv): needs a batch, a channel and 1, 2 or 3 spatial axes, not 6 axes in all; reshape "
      "before it");
  EXPECT_THAT(conv("Conv", {2, 3}, {4, 3}), HasSubstr("not 2 axes in all"));
  EXPECT_EQ(conv("Conv", {1, 2, 8}, {4, 2, 3, 3}),
            "node 0 'y' (Conv): the weight must have 3 axes, as the input has, not 4");
  EXPECT_EQ(conv("Conv", {1, 2, 8}, {4, 2, 3}, {{"kernel_shape", List{2}}}),
            "node 0 'y' (Conv): attribute 'kernel_shape': is not the shape of the weight");
  EXPECT_EQ(conv("Conv", {1, 2, 8}, {4, 2, 3}, {{"pads", List{1, 1, 1, 1}}}),
            "node 0 'y' (Conv): attribute 'pads': must have 2 numbers, not 4");
  EXPECT_THAT(conv("Conv", {1, 2, 8, 8}, {4, 2, 3, 3},
                   {{"auto_pad", std::string("SAME_UPPER")}, {"strides", List{1, 0}}}),
              HasSubstr("node 0 'y' (Conv): attribute 'auto_pad': the window is not positive"));
  EXPECT_EQ(conv("ConvTranspose", {1, 2, 8}, {2, 4, 3}, {{"group", std::int64_t{3}}}),
            "node 0 'y' (ConvTranspose): attribute 'group': 3 groups must divide 2 input channels");
  EXPECT_THAT(conv("ConvTranspose", {1, 3, 8}, {2, 4, 3}),
              HasSubstr("'w' is (2, 4, 1, 3), but must be (3, 4, "));
  EXPECT_EQ(conv("ConvTranspose", {1, 2, 8}, {2, 4, 3}, {{"output_shape", List{1, 4, 9}}}),
            "node 0 'y' (ConvTranspose): attribute 'output_shape': must have 1 numbers, not 3");
  EXPECT_THAT(conv("ConvTranspose", {1, 2, 8}, {2, 4, 3}, {{"output_shape", List{0}}}),
              HasSubstr("attribute 'output_shape': is not positive"));
  EXPECT_THAT(conv("ConvTranspose", {1, 2, 8}, {2, 4, 3}, {{"output_shape", List{11}}}),
              HasSubstr("output_padding must be less than the stride or the dilation"));
  EXPECT_THAT(conv("ConvTranspose", {1, 2, 8}, {2, 4, 3},
                   {{"auto_pad", std::string("SAME_LOWER")},
                    {"strides", List{std::numeric_limits<std::int64_t>::max()}}}),
              HasSubstr("node 0 'y' (ConvTranspose): "));
  EXPECT_THAT(conv("ConvTranspose", {1, 2, 1}, {2, 4, 3}, {{"pads", List{2, 2}}}),
              HasSubstr("padding 2 and 2 leaves nothing of 3 elements"));
}

TEST(OnnxImport, IndicesOfAPoolAreItsOwn) {
  onnx::Model model =
      onnx_model({1, 2, 8, 8}, {},
                 {onnx_node("MaxPool", {"x"}, {"m", "where"}, {{"kernel_shape", List{2, 2}}}),
                  onnx_node("MaxUnpool", {"m", "where"}, {"y"}, {{"kernel_shape", List{2, 2}}})});
  EXPECT_EQ(
      import_error(model),
      "node 0 'm' (MaxPool): output 1 ('where'): poet's indices are places in a window, for the gradient "
      "alone; replace what reads them, an unpooling by ConvTranspose or Resize");
  model.nodes[1].inputs = {"m", "other"};
  model.initializers["other"] = onnx_integers({0});
  EXPECT_THAT(import_error(model),
              HasSubstr("node 1 'y' (MaxUnpool): poet cannot import the operator MaxUnpool"));
  // Nobody reads them.
  model.nodes[1] = onnx_node("GlobalMaxPool", {"m"}, {"y"});
  model.nodes[1].index = 1;
  EXPECT_NO_THROW((void)import_model(model));
}

TEST(OnnxImport, AListThatIsNotThereIsNamed) {
  EXPECT_EQ(
      import_error(onnx_model({1, 6}, {{"w", onnx_reals({1, 6})}},
                              {onnx_node("Expand", {"w"}, {"e"}), onnx_node("Add", {"x", "e"}, {"y"})})),
      "node 0 'e' (Expand): input 1 is missing");
}

TEST(OnnxImport, ShapesThatDependOnDataAreRefused) {
  onnx::Model model =
      onnx_model({1, 6}, {{"w", onnx_reals({6, 2})}},
                 {onnx_node("Reshape", {"x", "to"}, {"r"}), onnx_node("MatMul", {"r", "w"}, {"y"})});
  onnx::Declaration to;
  to.name = "to";
  to.type = onnx::Type::integer;
  to.type_name = "int64";
  to.shape = std::vector<onnx::Dimension>(1);
  to.shape->at(0).size = 2;
  model.inputs.push_back(to);
  EXPECT_THAT(import_error(model),
              HasSubstr("node 0 'r' (Reshape): input 1 ('to') must be known while importing"));
}

TEST(OnnxImport, AWeightOfTheWrongSizeIsNamed) {
  EXPECT_EQ(
      import_error(onnx_model({2, 3}, {{"w", onnx_reals({4, 3})}, {"b", onnx_reals({5})}},
                              {onnx_node("Gemm", {"x", "w", "b"}, {"y"}, {{"transB", std::int64_t{1}}})})),
      "node 0 'y' (Gemm): the weight 'b' is (5), but must be (4)");
}

TEST(OnnxImport, AnOutputThatDependsOnNothingHasNoLoss) {
  EXPECT_THAT(
      import_error(onnx_model({2, 3}, {{"w", onnx_reals({3, 2})}}, {onnx_node("Identity", {"w"}, {"y"})})),
      HasSubstr("the output 'y' does not depend on the inputs"));
}

TEST(OnnxRead, InitialisersHaveNamesOfTheirOwn) {
  ::onnx::ModelProto proto = matmul_proto();
  ::onnx::TensorProto& second = *proto.mutable_graph()->add_initializer();
  second.set_name("w");
  second.set_data_type(::onnx::TensorProto::FLOAT);
  second.add_dims(7);
  EXPECT_EQ(read_error(proto), "m.onnx: has two initialisers 'w'");
}

// Control characters of both ranges, a lone continuation, an overlong slash and a surrogate; then a letter
// that stays.
TEST(OnnxRead, NamesBecomeLinesOfUtf8) {
  ::onnx::ModelProto proto = matmul_proto();
  proto.mutable_graph()->mutable_node(0)->set_name("a\n\xc2\x9b\x80\xc0\xaf\xed\xa0\x80\xc3\xa9");
  EXPECT_EQ(onnx::parse_model(proto.SerializeAsString(), "m.onnx").nodes.at(0).name, "a????????\xc3\xa9");
}

TEST(OnnxRead, SmallNumbersOfHalfPrecisionAreKnown) {
  ::onnx::ModelProto proto = matmul_proto();
  const auto add = [&](const std::string& name, ::onnx::TensorProto::DataType type, const std::string& raw) {
    ::onnx::TensorProto& tensor = *proto.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    tensor.add_dims(2);
    tensor.set_raw_data(raw);
  };
  using Proto = ::onnx::TensorProto;
  add("half", Proto::FLOAT16, std::string("\x00\xb8\x01\x00", 4));    // -0.5 and the least subnormal
  add("brain", Proto::BFLOAT16, std::string("\x40\x40\x80\xff", 4));  // 3 and -infinity
  const onnx::Model model = onnx::parse_model(proto.SerializeAsString(), "m.onnx");
  EXPECT_EQ(model.initializers.at("half").reals, (std::vector<double>{-0.5, std::ldexp(1.0, -24)}));
  EXPECT_EQ(model.initializers.at("brain").reals,
            (std::vector<double>{3.0, -std::numeric_limits<double>::infinity()}));
}

// Masks and tables among the weights: few numbers again and again, or an infinite one.
TEST(OnnxRead, NumbersThatAFormulaMadeAreTold) {
  const auto patterned = [](std::int64_t count, const std::function<float(int)>& number, bool raw) {
    ::onnx::ModelProto proto = matmul_proto();
    ::onnx::TensorProto& tensor = *proto.mutable_graph()->add_initializer();
    tensor.set_name("t");
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    tensor.add_dims(count);
    std::string bytes;
    for (int i = 0; i < count; ++i) {
      const float x = number(i);
      if (!raw) tensor.add_float_data(x);
      bytes.append(reinterpret_cast<const char*>(&x), sizeof(x));
    }
    if (raw) tensor.set_raw_data(bytes);
    return onnx::parse_model(proto.SerializeAsString(), "m.onnx").initializers.at("t");
  };
  const float infinity = std::numeric_limits<float>::infinity();
  for (const bool raw : {false, true}) {
    const onnx::Tensor mask = patterned(
        100, [](int i) { return i % 3 == 0 ? -100.0F : 0.0F; }, raw);
    EXPECT_TRUE(mask.patterned);
    EXPECT_TRUE(mask.known) << "masks are computed with";
    EXPECT_TRUE(patterned(
                    4, [&](int i) { return i == 1 ? -infinity : 0.0F; }, raw)
                    .patterned);
    // 15 coordinates, each 30 times.
    EXPECT_TRUE(patterned(
                    450, [](int i) { return static_cast<float>(i % 15 - 7); }, raw)
                    .patterned);
    // Weights: as trained, as they start, and a few that happen to be equal.
    const onnx::Tensor weight = patterned(
        100, [](int i) { return 0.01F * static_cast<float>(i); }, raw);
    EXPECT_FALSE(weight.patterned);
    const onnx::Tensor many = patterned(
        5000, [](int i) { return 0.01F * static_cast<float>(i); }, raw);
    EXPECT_FALSE(many.known) << "a weight is a shape";
    EXPECT_FALSE(patterned(
                     100, [](int) { return 1.0F; }, raw)
                     .patterned);
    EXPECT_FALSE(patterned(
                     6, [](int i) { return i == 0 ? 1.0F : 0.0F; }, raw)
                     .patterned);
  }
}

TEST(OnnxImport, OnlyMatricesOfAWeightAreTurned) {
  EXPECT_THAT(import_error(onnx_model({4, 5}, {{"w", onnx_reals({5})}},
                                      {onnx_node("Transpose", {"w"}, {"t"}, {{"perm", List{1, 0}}}),
                                       onnx_node("Add", {"x", "t"}, {"y"})})),
              HasSubstr("node 0 't' (Transpose): "));
}

TEST(OnnxImport, GemmIsOfMatrices) {
  EXPECT_EQ(import_error(
                onnx_model({2, 4, 3}, {{"w", onnx_reals({3, 6})}}, {onnx_node("Gemm", {"x", "w"}, {"y"})})),
            "node 0 'y' (Gemm): multiplies matrices only");
}

TEST(OnnxImport, AFactorOfAProductIsFinite) {
  EXPECT_EQ(import_error(
                onnx_model({4, 6}, {{"w", onnx_reals({6, 3})}, {"zero", onnx_reals({}, {0.0})}},
                           {onnx_node("MatMul", {"x", "w"}, {"a"}),
                            onnx_node("Transpose", {"x"}, {"t"}, {{"perm", List{1, 0}}}),
                            onnx_node("MatMul", {"t", "a"}, {"p"}), onnx_node("Div", {"p", "zero"}, {"y"})})),
            "node 3 'y' (Div): divides by zero");
}

TEST(OnnxImport, AFinalSoftmaxIsOverTheClasses) {
  const auto model = [](const Shape& x, std::int64_t axis, std::int64_t opset) {
    return onnx_model(
        x, {{"w", onnx_reals({6, 3})}},
        {onnx_node("MatMul", {"x", "w"}, {"a"}), onnx_node("Softmax", {"a"}, {"y"}, {{"axis", axis}})},
        opset);
  };
  EXPECT_NO_THROW((void)import_model(model({4, 6}, 1, 17), {}));
  EXPECT_THAT(import_error(model({4, 6}, 0, 17)),
              HasSubstr("node 1 'y' (Softmax): normalises axis 0 of (4, 3)"));
  EXPECT_NO_THROW((void)import_model(model({4, 1, 6}, 1, 11), {}));
  EXPECT_EQ(import_error(model({4, 5, 6}, 1, 11)), "node 1 'y' (Softmax): normalises several axes at once");
}

TEST(OnnxImport, AnotherDomainsAddIsNoBias) {
  onnx::Model model =
      onnx_model({4, 6}, {{"w", onnx_reals({6, 3})}, {"b", onnx_reals({3})}},
                 {onnx_node("MatMul", {"x", "w"}, {"a"}), onnx_node("Add", {"a", "b"}, {"y"})});
  model.nodes[1].domain = "com.acme";
  EXPECT_THAT(import_error(model), HasSubstr("cannot import the operator com.acme.Add"));
}

TEST(OnnxImport, AxesOfTheOldBroadcastAreRefused) {
  EXPECT_THAT(import_error(onnx_model({2, 3, 3}, {{"b", onnx_reals({3})}},
                                      {onnx_node("Add", {"x", "b"}, {"y"}, {{"axis", std::int64_t{1}}})}, 6)),
              HasSubstr("node 0 'y' (Add): attribute 'axis'"));
}

// 65 lists of 2^20 numbers: 2^26 together are the most.
TEST(OnnxImport, ConstantsTogetherAreBounded) {
  std::vector<onnx::Node> nodes;
  for (int i = 0; i < 65; ++i) {
    const std::string name = "c" + std::to_string(i);
    nodes.push_back(onnx_node("ConstantOfShape", {"size"}, {name}, {{"value", onnx_integers({1})}}));
  }
  nodes.push_back(onnx_node("Concat", {}, {"all"}, {{"axis", std::int64_t{0}}}));
  for (int i = 0; i < 65; ++i) nodes.back().inputs.push_back("c" + std::to_string(i));
  nodes.push_back(onnx_node("Reshape", {"x", "all"}, {"y"}));
  EXPECT_THAT(import_error(onnx_model({2, 3}, {{"size", onnx_integers({1 << 20})}}, std::move(nodes))),
              HasSubstr("node 64 'c64' (ConstantOfShape): the constants that nodes make"));
}

// libonnx's shape inference reads the weight's first dimension without asking whether it has one.
TEST(OnnxErrors, WhatLibonnxCrashesOnIsRefused) {
  ImportOptions options;
  options.allow_opaque = true;
  const onnx::Model model =
      onnx_model({1, 4, 6, 6}, {{"w", onnx_reals({})}},
                 {onnx_node("Conv", {"x", "w"}, {"y"}, {{"kernel_shape", List{3, 3}}})});
  EXPECT_THAT(import_error(model, options), HasSubstr("cannot be opaque"));
}

TEST(OnnxImport, CrossEntropyNeedsTwoClasses) {
  EXPECT_EQ(
      import_error(onnx_model({4, 3}, {{"w", onnx_reals({3, 1})}}, {onnx_node("MatMul", {"x", "w"}, {"y"})})),
      "the output (4, 1) has one class, for which cross-entropy is always 0; `loss` mse is for numbers");
  const auto sums = onnx_model(
      {4, 3}, {}, {onnx_node("ReduceSum", {"x"}, {"y"}, {{"axes", List{1}}, {"keepdims", std::int64_t{0}}})},
      12);
  EXPECT_EQ(
      import_error(sums),
      "the output (4) has no axis of classes; `loss` mse is for numbers, `loss` none for a network that "
      "computes its loss itself");
}

}  // namespace
}  // namespace poet
