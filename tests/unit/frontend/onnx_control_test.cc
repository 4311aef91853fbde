// Functions of a model's own, If and Loop: what they come to, and where their weights are.

#include <gmock/gmock.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "poet/base/error.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/onnx/export.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/weights.h"
#include "tests/support/graph_text.h"
#include "tests/support/proto_model.h"
#include "tests/support/scratch_folder.h"

namespace poet {
namespace {

using test::kinds;
using test::ProtoModel;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using AttributeProto = ::onnx::AttributeProto;
using NodeProto = ::onnx::NodeProto;
using TensorProto = ::onnx::TensorProto;

class OnnxControl : public ::testing::Test {
 protected:
  ImportedModel import(const ProtoModel& model) {
    file_ = folder_.write("net.onnx", model.bytes());
    return import_onnx(file_);
  }

  std::string error(const ProtoModel& model) {
    try {
      (void)import(model);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  }

  std::vector<float> weight(const ImportedModel& model, const std::string& name) {
    const Value& value = test::value_named(model.forward, name);
    std::vector<float> out(static_cast<std::size_t>(element_count(value.shape)));
    EXPECT_TRUE(OnnxWeights(file_, model).read(value, reinterpret_cast<std::byte*>(out.data())));
    return out;
  }

  test::ScratchFolder folder_;
  std::filesystem::path file_;
};

NodeProto& add(google::protobuf::RepeatedPtrField<NodeProto>& nodes, const std::string& op_type,
               const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  NodeProto& node = *nodes.Add();
  node.set_op_type(op_type);
  node.set_name("n_" + outputs.front());
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

::onnx::FunctionProto& add_function(ProtoModel& model, const std::string& name,
                                    const std::vector<std::string>& inputs,
                                    const std::vector<std::string>& outputs, std::int64_t opset = 17) {
  if (model.proto.functions_size() == 0) {
    ::onnx::OperatorSetIdProto& own = *model.proto.add_opset_import();
    own.set_domain("own");
    own.set_version(1);
  }
  ::onnx::FunctionProto& function = *model.proto.add_functions();
  function.set_domain("own");
  function.set_name(name);
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  function.add_opset_import()->set_version(opset);
  return function;
}

void refer(NodeProto& node, const char* name, const char* to, AttributeProto::AttributeType type) {
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_ref_attr_name(to);
  attribute.set_type(type);
}

/// y = dense(dense(x, w1, b), w2): the bias is optional, the slope of the activation the caller's.
ProtoModel two_dense_layers() {
  ProtoModel model({2, 3});
  model.floats("w1", {3, 3}, std::vector<float>(9, 0.5F));
  model.floats("w2", {3, 3}, std::vector<float>(9, 0.25F));
  model.floats("b", {3}, {1, 2, 3});
  ::onnx::FunctionProto& activation = add_function(model, "activation", {"v"}, {"r"});
  refer(add(*activation.mutable_node(), "LeakyRelu", {"v"}, {"r"}), "alpha", "slope", AttributeProto::FLOAT);
  activation.add_attribute("slope");
  ::onnx::FunctionProto& dense = add_function(model, "dense", {"x", "w", "b"}, {"out", "sum"});
  dense.add_attribute("slope");
  add(*dense.mutable_node(), "Gemm", {"x", "w", "b"}, {"sum"});
  NodeProto& call = add(*dense.mutable_node(), "activation", {"sum"}, {"out"});
  call.set_domain("own");
  refer(call, "slope", "slope", AttributeProto::FLOAT);
  for (const char* number : {"1", "2"}) {
    const std::string n = number;
    NodeProto& node =
        n == "1" ? model.node("dense", {"x", "w1", "b"}, {"h"}) : model.node("dense", {"h", "w2"}, {"y"});
    node.set_domain("own");
    AttributeProto& slope = *node.add_attribute();
    slope.set_name("slope");
    slope.set_type(AttributeProto::FLOAT);
    slope.set_f(n == "1" ? 0.5F : 0.125F);
  }
  return model;
}

TEST_F(OnnxControl, FunctionsAreInlined) {
  const ImportedModel model = import(two_dense_layers());
  EXPECT_THAT(kinds(model.forward), ElementsAre("input", "linear", "leaky_relu", "linear", "leaky_relu",
                                                "input", "softmax_cross_entropy"));
  EXPECT_EQ(test::op_named(model.forward, "the_h/n_out/n_r").kind, "leaky_relu");
  EXPECT_THAT(weight(model, "b"), ElementsAre(1, 2, 3));
  // Two calls of a function that calls another one.
  EXPECT_THAT(model.notices, Contains(HasSubstr("4 nodes that call functions of the file were replaced")));
  EXPECT_EQ(model.nodes.listed, 2);
  EXPECT_EQ(model.nodes.all, 4);
  // What is written has its own functions no more, and is the same network.
  const ImportedModel again = [&] {
    const std::string bytes =
        onnx_model_with_weights(file_, model, [](const Value&, std::byte*) { return false; });
    return import_onnx(folder_.write("again.onnx", bytes));
  }();
  EXPECT_EQ(kinds(again.forward), kinds(model.forward));
}

// Newer files have defaults of attributes, in a field that libonnx 1.12 does not know.
TEST_F(OnnxControl, DefaultsOfAFunctionsAttributesHold) {
  ProtoModel model({2, 3});
  ::onnx::FunctionProto& function = add_function(model, "f", {"v"}, {"r"});
  refer(add(*function.mutable_node(), "LeakyRelu", {"v"}, {"r"}), "alpha", "slope", AttributeProto::FLOAT);
  AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(AttributeProto::FLOAT);
  slope.set_f(0.75F);
  function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(11,
                                                                                slope.SerializeAsString());
  model.node("f", {"x"}, {"y"}).set_domain("own");
  const ImportedModel imported = import(model);
  EXPECT_EQ(std::get<double>(test::op_of_kind(imported.forward, "leaky_relu").attributes.at("alpha")), 0.75);
}

/// A node that calls the last of so many functions, each of which calls the one before it so many times.
void add_chain(ProtoModel& model, int functions, int times) {
  add(*add_function(model, "f0", {"v"}, {"r"}).mutable_node(), "Relu", {"v"}, {"r"});
  for (int i = 1; i < functions; ++i) {
    ::onnx::FunctionProto& function = add_function(model, "f" + std::to_string(i), {"v"}, {"r"});
    for (int k = 0; k < times; ++k)
      add(*function.mutable_node(), "f" + std::to_string(i - 1), {k == 0 ? "v" : "m" + std::to_string(k)},
          {k + 1 == times ? "r" : "m" + std::to_string(k + 1)})
          .set_domain("own");
  }
  model.node("f" + std::to_string(functions - 1), {"x"}, {"y"}).set_domain("own");
}

TEST_F(OnnxControl, FunctionsThatCannotBeInlined) {
  ProtoModel itself({2, 3});
  add(*add_function(itself, "f", {"v"}, {"r"}).mutable_node(), "f", {"v"}, {"r"}).set_domain("own");
  itself.node("f", {"x"}, {"y"}).set_domain("own");
  EXPECT_THAT(error(itself), HasSubstr("net.onnx: function 'own.f': calls itself"));

  ProtoModel older({2, 3});
  add(*add_function(older, "f", {"v"}, {"r"}, 11).mutable_node(), "Relu", {"v"}, {"r"});
  older.node("f", {"x"}, {"y"}).set_domain("own");
  EXPECT_THAT(error(older), HasSubstr("is written in opset 11, and the model in 17"));

  ProtoModel more({2, 3});
  add(*add_function(more, "f", {"v"}, {"r"}).mutable_node(), "Relu", {"v"}, {"r"});
  more.node("f", {"x", "x"}, {"y"}).set_domain("own");
  EXPECT_THAT(error(more), HasSubstr("has 1 inputs and 1 outputs, but a node gives it 2 and takes 1"));

  ProtoModel deep({2, 3});
  add_chain(deep, 101, 1);
  EXPECT_THAT(error(deep), HasSubstr("is called by functions that are nested deeper than 100"));
  ProtoModel deepest({2, 3});
  add_chain(deepest, 100, 1);
  EXPECT_EQ(import(deepest).nodes.all, 1);
}

// A few kilobytes may stand for more nodes than there is time for: that is known before the first one is
// copied.
TEST_F(OnnxControl, FunctionsThatComeToTooMuchAreRefusedBeforeTheyAreInlined) {
  ProtoModel many({2, 3});
  add_chain(many, 24, 2);
  EXPECT_THAT(error(many), HasSubstr("its functions come to more than 1048576 nodes"));

  ProtoModel wrong_call({2, 3});
  wrong_call.node("f0", {"x", "x"}, {"z"}).set_domain("own");
  add_chain(wrong_call, 90, 2);
  EXPECT_THAT(error(wrong_call), HasSubstr("its functions come to more than 1048576 nodes"))
      << "the first node's fault would be found by inlining it";
}

void set_graph(NodeProto& node, const char* name, const ::onnx::GraphProto& graph) {
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::GRAPH);
  *attribute.mutable_g() = graph;
}

TensorProto& boolean(ProtoModel& model, const std::string& name, bool value) {
  TensorProto& tensor = *model.graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(TensorProto::BOOL);
  tensor.add_int32_data(value ? 1 : 0);
  return tensor;
}

/// Relu by the then_branch; by the other one a layer with a weight of its own.
ProtoModel choosing(const std::string& condition) {
  ProtoModel model({2, 3});
  ::onnx::GraphProto relu;
  relu.set_name("relu");
  add(*relu.mutable_node(), "Relu", {"h"}, {"out"});
  relu.add_output()->set_name("out");
  ::onnx::GraphProto layer;
  layer.set_name("layer");
  TensorProto& w = *layer.add_initializer();
  w = ProtoModel::float_tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  w.set_name("w");
  add(*layer.mutable_node(), "MatMul", {"h", "w"}, {"out"});
  layer.add_output()->set_name("out");
  model.node("Tanh", {"x"}, {"h"});
  if (condition == "shape") {  // whether there are more than two rows
    model.node("Shape", {"x"}, {"shape"});
    model.integers("first", {0});
    model.node("Gather", {"shape", "first"}, {"rows"});
    model.integers("two", {2});
    model.node("Greater", {"rows", "two"}, {"shape_says"});
  }
  NodeProto& choice = model.node("If", {condition == "shape" ? "shape_says" : condition}, {"y"});
  set_graph(choice, "then_branch", relu);
  set_graph(choice, "else_branch", layer);
  return model;
}

TEST_F(OnnxControl, AKnownConditionTakesItsBranch) {
  ProtoModel yes = choosing("condition");
  boolean(yes, "condition", true);
  const ImportedModel relu = import(yes);
  EXPECT_THAT(kinds(relu.forward), ElementsAre("input", "tanh", "relu", "input", "softmax_cross_entropy"));
  EXPECT_THAT(relu.notices,
              Contains(HasSubstr("an If or Loop node was replaced by the nodes that it is known to run")));

  ProtoModel no = choosing("condition");
  boolean(no, "condition", false);
  for (const ProtoModel& model : {no, choosing("shape")}) {
    const ImportedModel layer = import(model);
    EXPECT_THAT(kinds(layer.forward),
                ElementsAre("input", "tanh", "linear", "input", "softmax_cross_entropy"));
    EXPECT_THAT(weight(layer, "the_y/w"), ElementsAre(1, 3, 5, 2, 4, 6));
  }
}

// Nothing is looked for elsewhere until it is trained, so that a file does not find out which files there
// are.
TEST_F(OnnxControl, WeightsOfABranchMayBeInFilesThatAreNotThere) {
  ProtoModel model = choosing("condition");
  boolean(model, "condition", false);
  for (::onnx::AttributeProto& branch : *model.graph().mutable_node(1)->mutable_attribute())
    for (TensorProto& tensor : *branch.mutable_g()->mutable_initializer())
      ProtoModel::keep_elsewhere(tensor, "/nowhere/at/all", "", "");
  EXPECT_THAT(kinds(import(model).forward),
              ElementsAre("input", "tanh", "linear", "input", "softmax_cross_entropy"));
}

// Weights of a branch go back into the file as the model's own.
TEST_F(OnnxControl, ABranchKeepsWhatItLearned) {
  const ImportedModel model = import(choosing("shape"));
  const auto twos = [](const Value& value, std::byte* to) {
    std::fill_n(reinterpret_cast<float*>(to), element_count(value.shape), 2.0F);
    return true;
  };
  file_ = folder_.write("trained.onnx", onnx_model_with_weights(file_, model, twos));
  const ImportedModel trained = import_onnx(file_);
  EXPECT_EQ(kinds(trained.forward), kinds(model.forward));
  EXPECT_THAT(weight(trained, "the_y/w"), ElementsAre(2, 2, 2, 2, 2, 2));
}

// As PyTorch 2 writes what it has no operator for: functions of two domains, one of which asks another for
// the rank and unsqueezes numbers; the axis is an attribute, types are taken from operands.
TEST_F(OnnxControl, FunctionsOfTwoDomainsDecideByRank) {
  const std::string common = "pkg.onnxscript.torch_lib.common";
  const std::string library = "pkg.onnxscript.torch_lib";
  ProtoModel model({2, 3}, 18);
  for (const std::string& domain : {common, library}) {
    ::onnx::OperatorSetIdProto& own = *model.proto.add_opset_import();
    own.set_domain(domain);
    own.set_version(1);
  }
  ::onnx::FunctionProto& rank = add_function(model, "Rank", {"input"}, {"return_val"}, 18);
  rank.set_domain(common);
  add(*rank.mutable_node(), "Shape", {"input"}, {"tmp"});
  add(*rank.mutable_node(), "Size", {"tmp"}, {"return_val"});
  ::onnx::FunctionProto& mean = add_function(model, "aten_mean_dim", {"self", "dim"}, {"result"}, 18);
  mean.set_domain(library);
  mean.add_attribute("keepdim");
  add(*mean.mutable_node(), "Rank", {"self"}, {"self_rank"}).set_domain(common);
  NodeProto& zero = add(*mean.mutable_node(), "Constant", {}, {"zero"});
  AttributeProto& number = *zero.add_attribute();
  number.set_name("value_int");
  number.set_type(AttributeProto::INT);
  number.set_i(0);
  add(*mean.mutable_node(), "CastLike", {"zero", "self_rank"}, {"zero_cast"});
  add(*mean.mutable_node(), "Equal", {"self_rank", "zero_cast"}, {"cond"});
  ::onnx::GraphProto same;
  same.set_name("then");
  add(*same.mutable_node(), "Identity", {"self"}, {"out"});
  same.add_output()->set_name("out");
  ::onnx::GraphProto reduced;
  reduced.set_name("else");
  refer(add(*reduced.mutable_node(), "ReduceMean", {"self", "dim"}, {"out"}), "keepdims", "keepdim",
        AttributeProto::INT);
  reduced.add_output()->set_name("out");
  NodeProto& choice = add(*mean.mutable_node(), "If", {"cond"}, {"result"});
  set_graph(choice, "then_branch", same);
  set_graph(choice, "else_branch", reduced);

  model.floats("w", {3, 3}, std::vector<float>(9, 0.5F));
  model.integers("dim", {-1});
  model.node("MatMul", {"x", "w"}, {"h"});
  NodeProto& call = model.node("aten_mean_dim", {"h", "dim"}, {"m"});
  call.set_domain(library);
  AttributeProto& keepdim = *call.add_attribute();
  keepdim.set_name("keepdim");
  keepdim.set_type(AttributeProto::INT);
  keepdim.set_i(1);
  model.node("Sub", {"h", "m"}, {"y"});
  EXPECT_THAT(kinds(import(model).forward),
              ElementsAre("input", "linear", "reduce_mean", "sub", "input", "softmax_cross_entropy"));
}

TEST_F(OnnxControl, AnUnknownConditionIsRefused) {
  ProtoModel model({2, 3});
  model.node("ReduceSum", {"x"}, {"sum"});
  ProtoModel::set(model.graph().mutable_node()->at(0), "keepdims", 0);
  model.floats("zero", {}, {0});
  model.node("Greater", {"sum", "zero"}, {"positive"});
  ::onnx::GraphProto same;
  same.set_name("same");
  add(*same.mutable_node(), "Relu", {"x"}, {"out"});
  same.add_output()->set_name("out");
  NodeProto& choice = model.node("If", {"positive"}, {"y"});
  set_graph(choice, "then_branch", same);
  set_graph(choice, "else_branch", same);
  EXPECT_THAT(error(model),
              HasSubstr("node 2 'the_y' (If): poet imports an If only where its condition is known"));
}

/// h goes through tanh and a layer, `trips` times; every round's h is kept as well. Even rounds have a relu.
ProtoModel looping(const std::string& goes_on, std::int64_t opset = 17) {
  ProtoModel model({2, 3}, opset);
  model.floats("w", {3, 3}, std::vector<float>(9, 0.5F));
  model.integers("trips", {3}).clear_dims();
  boolean(model, "true", true);
  ::onnx::GraphProto body;
  body.set_name("body");
  for (const char* input : {"i", "go", "h"}) body.add_input()->set_name(input);
  auto& nodes = *body.mutable_node();
  add(nodes, "Tanh", {"h"}, {"t"});
  add(nodes, "MatMul", {"t", "w"}, {"m"});
  TensorProto& two = *body.add_initializer();
  two.set_name("two");
  two.set_data_type(TensorProto::INT64);
  two.add_int64_data(2);
  TensorProto& zero = *body.add_initializer();
  zero.set_name("zero");
  zero.set_data_type(TensorProto::INT64);
  zero.add_int64_data(0);
  add(nodes, "Mod", {"i", "two"}, {"odd"});
  add(nodes, "Equal", {"odd", "zero"}, {"even"});
  ::onnx::GraphProto relu;
  relu.set_name("relu");
  add(*relu.mutable_node(), "Relu", {"m"}, {"r"});
  relu.add_output()->set_name("r");
  ::onnx::GraphProto nothing;
  nothing.set_name("nothing");
  nothing.add_output()->set_name("m");
  NodeProto& choice = add(nodes, "If", {"even"}, {"next"});
  set_graph(choice, "then_branch", relu);
  set_graph(choice, "else_branch", nothing);
  if (goes_on == "even") {
    add(nodes, "Identity", {"even"}, {"on"});
  } else {
    add(nodes, "Identity", {goes_on}, {"on"});
  }
  for (const char* output : {"on", "next", "next"}) body.add_output()->set_name(output);
  NodeProto& loop = model.node("Loop", {"trips", "true", "x"}, {"last", "all"});
  set_graph(loop, "body", body);
  // (3, 2, 3): the rounds' results, one above the other.
  if (opset >= 13) {
    model.integers("axes", {0});
    model.node("ReduceSum", {"all", "axes"}, {"sum"});
  } else {
    NodeProto& sum = model.node("ReduceSum", {"all"}, {"sum"});
    AttributeProto& axes = *sum.add_attribute();
    axes.set_name("axes");
    axes.set_type(AttributeProto::INTS);
    axes.add_ints(0);
  }
  model.node("Add", {"sum", "last"}, {"y"});
  return model;
}

TEST_F(OnnxControl, ALoopOfKnownLengthIsUnrolled) {
  for (const char* goes_on : {"go", "true"})
    for (const std::int64_t opset : {11, 17}) {
      const ImportedModel model = import(looping(goes_on, opset));
      const std::vector<std::string> found = kinds(model.forward);
      const auto count = [&](const char* kind) { return std::ranges::count(found, kind); };
      EXPECT_EQ(count("tanh"), 3);
      EXPECT_EQ(count("linear"), 3);
      EXPECT_EQ(count("relu"), 2);  // rounds 0 and 2
      EXPECT_EQ(count("concat"), 1);
      EXPECT_EQ(parameter_count(model.forward), 9);
      EXPECT_EQ(model.resolved.size(), 4U);  // the loop, and an If in each round
      EXPECT_EQ(test::value_named(model.forward, "all").shape, (Shape{3, 2, 3}));
      EXPECT_EQ(weight(model, "w"), std::vector<float>(9, 0.5F));
    }
}

TEST_F(OnnxControl, ALoopGoesOnByAnIntegerCastToATruthValue) {
  for (const std::int64_t number : {1, 0}) {
    ProtoModel model = looping("one");
    model.integers("one", {number}).clear_dims();
    ::onnx::GraphProto& body = *model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
    NodeProto& last = *body.mutable_node(body.node_size() - 1);
    ASSERT_EQ(last.output(0), "on");
    last.set_op_type("Cast");
    ProtoModel::set(last, "to", TensorProto::BOOL);
    if (number == 1)
      EXPECT_EQ(std::ranges::count(kinds(import(model).forward), "tanh"), 3);
    else
      EXPECT_THAT(error(model), HasSubstr("decides in its body whether it goes on"));
  }
}

/// x W^n, where the body counts from 0 while it is less than n.
ProtoModel counted(std::int64_t n, bool reads_iteration) {
  ProtoModel model({1, 3});
  model.floats("w", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  model.integers("zero", {0});
  model.integers("one", {1});
  model.integers("most", {n});
  model.node("Less", {"zero", "most"}, {"begins"});
  NodeProto& loop = model.node("Loop", {"", "begins", "x", "zero"}, {"y", "counter"});
  ::onnx::AttributeProto& body = *loop.add_attribute();
  body.set_name("body");
  body.set_type(AttributeProto::GRAPH);
  ::onnx::GraphProto& graph = *body.mutable_g();
  graph.set_name("body");
  const auto declare = [](::onnx::ValueInfoProto& value, const char* name, int type) {
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  };
  declare(*graph.add_input(), "iteration", TensorProto::INT64);
  declare(*graph.add_input(), "condition", TensorProto::BOOL);
  declare(*graph.add_input(), "h", TensorProto::FLOAT);
  declare(*graph.add_input(), "i", TensorProto::INT64);
  declare(*graph.add_output(), "goes_on", TensorProto::BOOL);
  declare(*graph.add_output(), "next", TensorProto::FLOAT);
  declare(*graph.add_output(), "j", TensorProto::INT64);
  add(*graph.mutable_node(), "MatMul", {"h", "w"}, {"next"});
  add(*graph.mutable_node(), "Add", {"i", reads_iteration ? "iteration" : "one"}, {"j"});
  add(*graph.mutable_node(), "Less", {"j", "most"}, {"goes_on"});
  return model;
}

TEST_F(OnnxControl, ALoopThatItsBodyEndsRunsUntilThen) {
  for (const std::int64_t n : {1, 3}) {
    const ImportedModel model = import(counted(n, false));
    const std::vector<std::string> all = kinds(model.forward);
    EXPECT_EQ(std::count(all.begin(), all.end(), "linear"), n);
    EXPECT_THAT(weight(model, "w"), ElementsAre(1, 4, 7, 2, 5, 8, 3, 6, 9));
  }
  EXPECT_THAT(error(counted(3, true)), HasSubstr("decides in its body whether it goes on"));
}

TEST_F(OnnxControl, LoopsThatCannotBeUnrolled) {
  EXPECT_THAT(error(looping("even")), HasSubstr("decides in its body whether it goes on"));
  ProtoModel open = looping("go");
  open.graph().mutable_node(0)->set_input(0, "");  // until its condition says so
  EXPECT_THAT(error(open), HasSubstr("never ends"));
  ProtoModel long_one = looping("go");
  long_one.graph().mutable_initializer(1)->set_int64_data(0, std::int64_t{1} << 40);
  EXPECT_THAT(error(long_one),
              HasSubstr("runs 1099511627776 times, and may unroll to 1048576 nodes at most"));
  ProtoModel never = looping("go");
  never.graph().mutable_initializer(1)->set_int64_data(0, 0);
  EXPECT_THAT(error(never), HasSubstr("never runs, and its results are empty"));
  ProtoModel broken = looping("go");
  broken.graph().mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_output()->RemoveLast();
  EXPECT_THAT(error(broken), HasSubstr("net.onnx"));
}

}  // namespace
}  // namespace poet
