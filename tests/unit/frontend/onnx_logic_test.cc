// Masks, integers that the step computes, and constants of the file, as exporters write them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/onnx/import.h"
#include "tests/support/graph_text.h"
#include "tests/support/input_error.h"
#include "tests/support/onnx_models.h"
#include "tests/support/onnx_training.h"

namespace poet {
namespace {

using onnx::Node;
using test::input_error;
using test::kinds;
using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_reals;
using test::value_named;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using List = std::vector<std::int64_t>;

onnx::Tensor truths(Shape shape, List contents) {
  onnx::Tensor tensor = onnx_integers(std::move(contents));
  tensor.type = onnx::Type::boolean;
  tensor.type_name = "bool";
  tensor.shape = std::move(shape);
  return tensor;
}

onnx::Tensor shaped(onnx::Tensor tensor, Shape shape) {
  tensor.shape = std::move(shape);
  return tensor;
}

void add_input(onnx::Model& model, const std::string& name, onnx::Type type, const Shape& shape) {
  onnx::Declaration input;
  input.name = name;
  input.type = type;
  input.type_name = type == onnx::Type::boolean ? "bool" : "int64";
  input.shape.emplace();
  for (const std::int64_t size : shape) {
    onnx::Dimension dimension;
    dimension.size = size;
    input.shape->push_back(dimension);
  }
  model.inputs.push_back(input);
}

std::vector<Node> with_head(std::vector<Node> nodes) {
  const std::string last = nodes.back().outputs.front();
  nodes.push_back(onnx_node("MatMul", {last, "head"}, {"y"}));
  return nodes;
}

std::int64_t bytes_of(const Graph& graph, const std::string& name) {
  return value_named(graph, name).bytes.value();
}

// masked_fill with a buffer: 9 bytes of truth values and one infinite number stay in RAM, nothing trains.
TEST(OnnxLogic, AMaskOfTheFileChooses) {
  const ImportedModel model = import_model(onnx_model(
      {2, 3, 3},
      {{"mask", truths({3, 3}, {1, 0, 0, 1, 1, 0, 1, 1, 1})},
       {"minus", onnx_reals({}, {-std::numeric_limits<double>::infinity()})},
       {"head", onnx_reals({3, 2})}},
      with_head({onnx_node("Where", {"mask", "x", "minus"}, {"w"}), onnx_node("Softmax", {"w"}, {"s"})})));
  EXPECT_THAT(kinds(model.forward),
              ElementsAre("input", "where", "softmax", "linear", "input", "softmax_cross_entropy"));
  EXPECT_EQ(value_named(model.forward, "mask").dtype, DType::uint8);
  EXPECT_EQ(value_named(model.forward, "mask").persistence, Persistence::optimizer_state);
  EXPECT_EQ(bytes_of(model.forward, "mask"), 9);
  EXPECT_EQ(bytes_of(model.forward, "minus"), 4);
  EXPECT_EQ(parameter_count(model.forward), 6);
  EXPECT_NO_THROW((void)differentiate(model.forward));
}

// (1 - mask[:, None, None, :]) * -10000, where both factors are numbers and the mask is fed.
TEST(OnnxLogic, AnAttentionMaskIsComputedInTheStep) {
  onnx::Model file =
      onnx_model({2, 3, 3},
                 {{"axes", onnx_integers({1})},
                  {"one", onnx_reals({}, {1.0})},
                  {"many", onnx_reals({}, {-10000.0})},
                  {"head", onnx_reals({3, 2})}},
                 with_head({onnx_node("Unsqueeze", {"attention", "axes"}, {"u"}),
                            onnx_node("Cast", {"u"}, {"c"}, {{"to", std::int64_t{1}}}),
                            onnx_node("Sub", {"one", "c"}, {"i"}), onnx_node("Mul", {"i", "many"}, {"m"}),
                            onnx_node("Add", {"x", "m"}, {"a"})}));
  add_input(file, "attention", onnx::Type::integer, {2, 3});
  const ImportedModel model = import_model(file);
  EXPECT_THAT(kinds(model.forward), ElementsAre("input", "input", "cast", "scale", "scale", "add", "linear",
                                                "input", "softmax_cross_entropy"));
  EXPECT_EQ(value_named(model.forward, "c").shape, (Shape{2, 1, 3}));
  EXPECT_EQ(parameter_count(model.forward), 6);
}

TEST(OnnxLogic, TruthValuesAreFedAndCombined) {
  onnx::Model file = onnx_model(
      {2, 3},
      {{"row", truths({3}, {1, 1, 0})}, {"zero", onnx_reals({}, {0.0})}, {"head", onnx_reals({3, 2})}},
      with_head({onnx_node("Or", {"pad", "row"}, {"o"}), onnx_node("Not", {"o"}, {"n"}),
                 onnx_node("Greater", {"x", "zero"}, {"g"}), onnx_node("And", {"n", "g"}, {"a"}),
                 onnx_node("Xor", {"a", "pad"}, {"e"}), onnx_node("Where", {"e", "zero", "x"}, {"w"})}));
  add_input(file, "pad", onnx::Type::boolean, {2, 3});
  const ImportedModel model = import_model(file);
  EXPECT_EQ(value_named(model.forward, "pad").dtype, DType::uint8);
  EXPECT_THAT(kinds(model.forward),
              ElementsAre("input", "input", "logical_or", "logical_not", "greater", "logical_and",
                          "logical_xor", "where", "linear", "input", "softmax_cross_entropy"));
}

// RoBERTa's: padding is token 1, positions count from 2 where there is none.
TEST(OnnxLogic, PositionsAreCountedInTheStep) {
  onnx::Model file =
      onnx_model({2, 3, 4},
                 {{"one", onnx_integers({1})},
                  {"axis", shaped(onnx_integers({1}), {})},
                  {"table", onnx_reals({9, 4})},
                  {"head", onnx_reals({4, 2})}},
                 with_head({onnx_node("Equal", {"ids", "one"}, {"e"}), onnx_node("Not", {"e"}, {"n"}),
                            onnx_node("Cast", {"n"}, {"c"}, {{"to", std::int64_t{6}}}),
                            onnx_node("CumSum", {"c", "axis"}, {"s"}), onnx_node("Mul", {"s", "c"}, {"m"}),
                            onnx_node("Cast", {"m"}, {"l"}, {{"to", std::int64_t{7}}}),
                            onnx_node("Add", {"l", "one"}, {"p"}), onnx_node("Gather", {"table", "p"}, {"g"}),
                            onnx_node("Add", {"x", "g"}, {"a"})}));
  add_input(file, "ids", onnx::Type::integer, {2, 3});
  const ImportedModel model = import_model(file);
  EXPECT_THAT(kinds(model.forward),
              ElementsAre("input", "input", "equal", "logical_not", "cast", "cumsum", "mul", "shift",
                          "embedding", "add", "linear", "input", "softmax_cross_entropy"));
  EXPECT_EQ(value_named(model.forward, "p").dtype, DType::int32);
  EXPECT_EQ(parameter_count(model.forward), 36 + 8);
}

TEST(OnnxLogic, IntegerArithmetic) {
  onnx::Model file = onnx_model(
      {2, 3},
      {{"three", onnx_integers({3})}, {"pair", onnx_integers({4, 5, 6})}, {"head", onnx_reals({3, 2})}},
      with_head({onnx_node("Sub", {"three", "ids"}, {"s"}), onnx_node("Div", {"s", "three"}, {"d"}),
                 onnx_node("Mod", {"d", "pair"}, {"m"}), onnx_node("Abs", {"m"}, {"b"}),
                 onnx_node("Neg", {"b"}, {"n"}), onnx_node("Min", {"n", "ids"}, {"l"}),
                 onnx_node("Add", {"l", "pair"}, {"p"}),
                 onnx_node("Concat", {"p", "p"}, {"q"}, {{"axis", std::int64_t{1}}}),
                 onnx_node("Slice", {"q", "from", "to"}, {"t"}),
                 onnx_node("Cast", {"t"}, {"c"}, {{"to", std::int64_t{1}}}),
                 onnx_node("Mul", {"x", "c"}, {"r"})}));
  file.initializers["from"] = onnx_integers({0, 2});
  file.initializers["to"] = onnx_integers({2, 5});
  add_input(file, "ids", onnx::Type::integer, {2, 3});
  const ImportedModel model = import_model(file);
  EXPECT_THAT(kinds(model.forward),
              ElementsAre("input", "input", "scale", "int_div", "mod", "abs", "scale", "less", "where", "add",
                          "concat", "slice", "cast", "mul", "linear", "input", "softmax_cross_entropy"));
  EXPECT_EQ(bytes_of(model.forward, "pair"), 12);
  EXPECT_EQ(value_named(model.forward, "t").dtype, DType::int32);
}

// Swin's relative position bias: a table read at positions of the file, equal ones kept once.
TEST(OnnxLogic, PositionsOfTheFileAreConstantsThatAreKeptOnce) {
  const Shape square = {2, 2};
  const ImportedModel model = import_model(onnx_model(
      {2, 4},
      {{"columns", onnx_reals({3, 5})},
       {"others", onnx_reals({3, 5})},
       {"i", shaped(onnx_integers({4, 0, 2, 4}), square)},
       {"j", shaped(onnx_integers({4, 0, 2, 4}), {4})},
       {"head", onnx_reals({4, 2})}},
      with_head(
          {onnx_node("Gather", {"columns", "i"}, {"g"}, {{"axis", std::int64_t{1}}}),
           onnx_node("Gather", {"others", "j"}, {"h"}, {{"axis", std::int64_t{1}}}),
           onnx_node("ReduceSum", {"g"}, {"s"}, {{"axes", List{0, 1, 2}}, {"keepdims", std::int64_t{0}}}),
           onnx_node("ReduceSum", {"h"}, {"t"}, {{"axes", List{0}}, {"keepdims", std::int64_t{0}}}),
           onnx_node("Add", {"x", "s"}, {"a"}), onnx_node("Add", {"a", "t"}, {"b"})}),
      11));
  EXPECT_EQ(value_named(model.forward, "g").shape, (Shape{3, 2, 2}));
  EXPECT_EQ(value_named(model.forward, "h").shape, (Shape{3, 4}));
  EXPECT_EQ(bytes_of(model.forward, "i"), 16);
  EXPECT_THAT(input_error([&] { (void)value_named(model.forward, "j"); }), HasSubstr("no value j"));
  EXPECT_EQ(parameter_count(model.forward), 15 + 15 + 8);
  EXPECT_THAT(kinds(differentiate(model.forward)), ::testing::Contains("gather_backward").Times(2));
}

TEST(OnnxLogic, OnePositionOfAWeightIsASliceOfIt) {
  const ImportedModel model = import_model(onnx_model(
      {2, 4},
      {{"table", onnx_reals({3, 4})}, {"at", shaped(onnx_integers({-1}), {})}, {"head", onnx_reals({4, 2})}},
      with_head({onnx_node("Gather", {"table", "at"}, {"g"}), onnx_node("Add", {"x", "g"}, {"a"})})));
  EXPECT_THAT(kinds(model.forward),
              ElementsAre("input", "slice", "add", "linear", "input", "softmax_cross_entropy"));
  EXPECT_EQ(parameter_count(model.forward), 12 + 8);
}

// CLIP's: the token with the largest id of each sample, in the flattened rows.
TEST(OnnxLogic, TheLargestTokenIsGathered) {
  onnx::Model file = onnx_model(
      {2, 3, 4},
      {{"rows", onnx_integers({0, 3})}, {"flat", onnx_integers({6, 4})}, {"head", onnx_reals({4, 2})}},
      with_head(
          {onnx_node("ArgMax", {"ids"}, {"m"}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}),
           onnx_node("Add", {"m", "rows"}, {"i"}), onnx_node("Reshape", {"x", "flat"}, {"f"}),
           onnx_node("Gather", {"f", "i"}, {"g"})}));
  add_input(file, "ids", onnx::Type::integer, {2, 3});
  const ImportedModel model = import_model(file);
  EXPECT_THAT(kinds(model.forward), ElementsAre("input", "input", "argmax", "add", "gather", "linear",
                                                "input", "softmax_cross_entropy"));
  EXPECT_EQ(value_named(model.forward, "g").shape, (Shape{2, 4}));
}

TEST(OnnxLogic, ElementsAtPositionsAndOneHotRows) {
  onnx::Model file = onnx_model(
      {2, 3},
      {{"depth", onnx_integers({3})}, {"off_on", onnx_reals({2}, {0.0, 1.0})}, {"head", onnx_reals({3, 2})}},
      with_head({onnx_node("GatherElements", {"x", "ids"}, {"g"}, {{"axis", std::int64_t{1}}}),
                 onnx_node("Squeeze", {"ids", "last"}, {"s"}),
                 onnx_node("OneHot", {"s", "depth", "off_on"}, {"o"}), onnx_node("Add", {"o", "g"}, {"a"})}));
  file.initializers["last"] = onnx_integers({1});
  // A Constant node would say so itself; as an initialiser two numbers could be a weight.
  file.initializers["off_on"].patterned = true;
  add_input(file, "ids", onnx::Type::integer, {2, 1});
  const ImportedModel model = import_model(file);
  EXPECT_EQ(value_named(model.forward, "g").shape, (Shape{2, 1}));
  EXPECT_EQ(value_named(model.forward, "o").shape, (Shape{2, 3}));
  EXPECT_EQ(parameter_count(model.forward), 6);
}

// Indices from -depth to -1 count from the end; others are no class.
TEST(OnnxLogic, NegativeIndicesOfOneHot) {
  onnx::Model file = onnx_model(
      {5, 3},
      {{"depth", onnx_integers({3})}, {"off_on", onnx_reals({2}, {0, 1})}, {"w", onnx_reals({3}, {1, 1, 1})}},
      {onnx_node("Mul", {"x", "w"}, {"h"}), onnx_node("OneHot", {"ids", "depth", "off_on"}, {"o"}),
       onnx_node("Mul", {"o", "h"}, {"y"})});
  add_input(file, "ids", onnx::Type::integer, {5});
  const test::OnnxNumbers ones(15, 1.0);
  EXPECT_EQ(test::onnx_output(file, {{"x", ones}, {"ids", {1, -1, -3, 3, -4}}}),
            (test::OnnxNumbers{0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

// What counts tokens, and keeps positions within a table.
TEST(OnnxLogic, SumsAndBoundsOfIntegers) {
  const auto computed = [](std::vector<Node> nodes) {
    nodes.push_back(onnx_node("Cast", {"z"}, {"r"}, {{"to", std::int64_t{1}}}));
    nodes.push_back(onnx_node("Mul", {"r", "w"}, {"y"}));
    onnx::Model file = onnx_model({2, 1},
                                  {{"w", onnx_reals({1}, {1})},
                                   {"axis", onnx_integers({1})},
                                   {"zero", onnx_integers({0})},
                                   {"two", onnx_integers({2})}},
                                  std::move(nodes));
    file.initializers["zero"].shape = file.initializers["two"].shape = {};
    add_input(file, "ids", onnx::Type::integer, {2, 3});
    return test::onnx_output(file, {{"x", {0, 0}}, {"ids", {4, 0, -7, 1, 2, 0}}});
  };
  const test::OnnxNumbers sums = {-3, 3}, most = {4, 2}, bounded = {2, 0, 0, 1, 2, 0};
  EXPECT_EQ(computed({onnx_node("ReduceSum", {"ids", "axis"}, {"z"})}), sums);
  EXPECT_EQ(computed({onnx_node("ReduceMax", {"ids"}, {"z"}, {{"axes", std::vector<std::int64_t>{1}}})}),
            most);
  EXPECT_EQ(computed({onnx_node("Clip", {"ids", "zero", "two"}, {"z"})}), bounded);
}

// Among the weights, but made by a formula: it does not train. What is no mask trains.
TEST(OnnxLogic, APatternedInitialiserDoesNotTrain) {
  for (const bool patterned : {false, true}) {
    onnx::Model file = onnx_model({2, 3, 3}, {{"m", onnx_reals({3, 3})}, {"head", onnx_reals({3, 2})}},
                                  with_head({onnx_node("Add", {"x", "m"}, {"a"})}));
    file.initializers["m"].patterned = patterned;
    const ImportedModel model = import_model(file);
    EXPECT_EQ(parameter_count(model.forward), patterned ? 6 : 15);
    EXPECT_EQ(value_named(model.forward, "m").persistence,
              patterned ? Persistence::optimizer_state : Persistence::parameter);
  }
}

// generate_square_subsequent_mask: triu(full(S, S, -inf), 1).
TEST(OnnxLogic, ACausalMaskIsEvaluated) {
  onnx::Tensor minus = onnx_reals({1}, {-std::numeric_limits<double>::infinity()});
  const ImportedModel model = import_model(
      onnx_model({2, 9, 9},
                 {{"size", onnx_integers({9, 9})},
                  {"one", shaped(onnx_integers({1}), {})},
                  {"head", onnx_reals({9, 2})}},
                 with_head({onnx_node("ConstantOfShape", {"size"}, {"full"}, {{"value", minus}}),
                            onnx_node("Trilu", {"full", "one"}, {"m"}, {{"upper", std::int64_t{1}}}),
                            onnx_node("Add", {"x", "m"}, {"a"}), onnx_node("Softmax", {"a"}, {"s"})})));
  EXPECT_THAT(kinds(model.forward),
              ElementsAre("input", "add", "softmax", "linear", "input", "softmax_cross_entropy"));
  EXPECT_EQ(parameter_count(model.forward), 18);
  EXPECT_EQ(bytes_of(model.forward, "m"), 4 * 81);
}

// Stretched to the scores' shape by the file, kept as one number.
TEST(OnnxLogic, AChoiceOfOneNumberKeepsOneNumber) {
  onnx::Model file = onnx_model({2, 9, 9}, {{"size", onnx_integers({2, 9, 9})}, {"head", onnx_reals({9, 2})}},
                                with_head({onnx_node("ConstantOfShape", {"size"}, {"full"}),
                                           onnx_node("Where", {"mask", "full", "x"}, {"w"})}));
  add_input(file, "mask", onnx::Type::boolean, {2, 1, 9});
  const ImportedModel model = import_model(file);
  EXPECT_EQ(bytes_of(model.forward, "w.full"), 4);
  EXPECT_EQ(parameter_count(model.forward), 18);
}

// A file for one sample, imported for three: the class token follows.
TEST(OnnxLogic, ATokenOfAFixedBatchFollowsTheBatchSize) {
  ImportOptions options;
  options.batch_size = 3;
  const ImportedModel model = import_model(
      onnx_model(
          {1, 5, 4},
          {{"token", onnx_reals({1, 1, 4})}, {"to", onnx_integers({1, 1, 4})}, {"head", onnx_reals({4, 2})}},
          with_head({onnx_node("Expand", {"token", "to"}, {"t"}),
                     onnx_node("Concat", {"t", "x"}, {"c"}, {{"axis", std::int64_t{1}}})})),
      options);
  EXPECT_EQ(value_named(model.forward, "c").shape, (Shape{3, 6, 4}));
  EXPECT_THAT(model.notices, ::testing::Contains(HasSubstr("Concat for a batch of one follows")));
}

// Twice along the first axis, three times along the last: 2 x 3 becomes 4 x 9.
TEST(OnnxLogic, TileStretches) {
  const ImportedModel model = import_model(
      onnx_model({2, 3}, {{"times", onnx_integers({2, 3})}, {"head", onnx_reals({9, 2})}},
                 with_head({onnx_node("Tile", {"x", "times"}, {"t"}), onnx_node("Relu", {"t"}, {"r"})})));
  EXPECT_THAT(kinds(model.forward),
              ElementsAre("input", "expand", "relu", "linear", "input", "softmax_cross_entropy"));
  EXPECT_EQ(value_named(model.forward, "t").shape, (Shape{2, 2, 3, 3}));
  EXPECT_EQ(value_named(model.forward, "r").shape, (Shape{4, 9}));
}

// Swin v2: coordinates of the file go through a small network of their own.
TEST(OnnxLogic, ALinearLayerReadsAConstant) {
  onnx::Model file = onnx_model(
      {2, 4}, {{"table", onnx_reals({1, 3, 2})}, {"w", onnx_reals({2, 4})}, {"head", onnx_reals({4, 2})}},
      with_head({onnx_node("MatMul", {"table", "w"}, {"t"}),
                 onnx_node("ReduceSum", {"t"}, {"s"}, {{"axes", List{0, 1}}, {"keepdims", std::int64_t{0}}}),
                 onnx_node("Add", {"x", "s"}, {"a"})}));
  file.opset = 11;
  file.initializers["table"].patterned = true;
  const ImportedModel model = import_model(file);
  EXPECT_THAT(kinds(model.forward), ElementsAre("input", "linear", "reduce_sum", "add", "linear", "input",
                                                "softmax_cross_entropy"));
  EXPECT_EQ(parameter_count(model.forward), 8 + 8);
}

// As PyTorch spells baddbmm: 1 times the scores plus 1 times the mask.
TEST(OnnxLogic, WhatChangesNothingIsNoOp) {
  onnx::Model file =
      onnx_model({2, 3},
                 {{"one", onnx_reals({}, {1.0})},
                  {"zero", onnx_reals({}, {0.0})},
                  {"none", onnx_integers({0})},
                  {"head", onnx_reals({3, 2})}},
                 with_head({onnx_node("Mul", {"one", "x"}, {"a"}), onnx_node("Add", {"a", "zero"}, {"b"}),
                            onnx_node("Div", {"b", "one"}, {"c"}), onnx_node("Sub", {"c", "zero"}, {"d"}),
                            onnx_node("Sub", {"ids", "none"}, {"i"}), onnx_node("Sub", {"none", "i"}, {"n"}),
                            onnx_node("Cast", {"n"}, {"r"}, {{"to", std::int64_t{1}}}),
                            onnx_node("Sub", {"zero", "d"}, {"m"}), onnx_node("Mul", {"m", "r"}, {"p"})}));
  add_input(file, "ids", onnx::Type::integer, {2, 3});
  EXPECT_THAT(kinds(import_model(file).forward),
              ElementsAre("input", "input", "scale", "cast", "scale", "mul", "linear", "input",
                          "softmax_cross_entropy"));
}

std::string refused(std::vector<Node> nodes, std::map<std::string, onnx::Tensor> initializers = {}) {
  initializers.emplace("head", onnx_reals({3, 2}));
  onnx::Model file = onnx_model({2, 3}, std::move(initializers), with_head(std::move(nodes)));
  add_input(file, "ids", onnx::Type::integer, {2, 3});
  add_input(file, "mask", onnx::Type::boolean, {2, 3});
  return input_error([&] { (void)import_model(file); });
}

TEST(OnnxLogic, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refused({onnx_node("Where", {"ids", "x", "x"}, {"w"})}),
            "node 0 'w' (Where): the condition must be of truth values");
  EXPECT_EQ(refused({onnx_node("Where", {"mask", "x", "ids"}, {"w"})}),
            "node 0 'w' (Where): its operands have different element types");
  EXPECT_EQ(refused({onnx_node("Equal", {"ids", "x"}, {"e"}), onnx_node("Where", {"e", "x", "x"}, {"w"})}),
            "node 0 'e' (Equal): its operands have different element types");
  EXPECT_EQ(refused({onnx_node("Add", {"mask", "mask"}, {"a"})}),
            "node 0 'a' (Add): is for numbers, not for truth values");
  EXPECT_EQ(refused({onnx_node("Relu", {"ids"}, {"r"})}),
            "node 0 'r' (Relu): input 0 ('ids') holds integers; this operator reads real numbers");
  EXPECT_EQ(refused({onnx_node("Gather", {"x", "x"}, {"g"})}),
            "node 0 'g' (Gather): the indices must be integers");
  EXPECT_THAT(refused({onnx_node("Gather", {"x", "i"}, {"g"}, {{"axis", std::int64_t{1}}})},
                      {{"i", onnx_integers({0, 2, 3})}}),
              HasSubstr("node 0 'g' (Gather): 3 is not in [-3, 3)"));
  EXPECT_THAT(refused({onnx_node("Add", {"ids", "huge"}, {"a"}),
                       onnx_node("Cast", {"a"}, {"c"}, {{"to", std::int64_t{1}}})},
                      {{"huge", onnx_integers({std::int64_t{1} << 31})}}),
              HasSubstr("does not fit int32"));
  EXPECT_THAT(refused({onnx_node("Tile", {"x", "t"}, {"r"})}, {{"t", onnx_integers({2})}}),
              HasSubstr("node 0 'r' (Tile): has 1 repeats for 2 axes"));
  EXPECT_THAT(refused({onnx_node("CumSum", {"x", "ids"}, {"r"})}),
              HasSubstr("must be known while importing"));
  EXPECT_THAT(refused({onnx_node("Cast", {"ids"}, {"c"}, {{"to", std::int64_t{8}}})}),
              HasSubstr("attribute 'to': element type 8 is not supported"));
  EXPECT_THAT(refused({onnx_node("OneHot", {"ids", "ids", "x"}, {"o"})}), HasSubstr("the depth must be"));
  EXPECT_THAT(refused({onnx_node("ScatterND", {"x", "ids", "x"}, {"s"})}),
              HasSubstr("the positions must be known"));
  EXPECT_THAT(refused({onnx_node("ReduceProd", {"x"}, {"s"})}), HasSubstr("evaluates this operator"));
}

TEST(OnnxLogic, WhatIsOnlyEvaluatedMayBeOpaque) {
  onnx::Model model =
      onnx_model({3, 3}, {},
                 {onnx_node("Relu", {"x"}, {"r"}),
                  onnx_node("ReduceProd", {"r"}, {"y"}, {{"axes", std::vector<std::int64_t>{1}}})});
  onnx::Declaration product = model.inputs.front();
  product.name = "y";
  product.shape = std::vector<onnx::Dimension>(2, onnx::Dimension{3, ""});
  model.declared["y"] = product;
  ImportOptions options;
  options.allow_opaque = true;
  options.loss = Loss::mean_squared_error;
  const ImportedModel imported = import_model(model, options);
  EXPECT_THAT(kinds(imported.forward), Contains("opaque"));
  EXPECT_THAT(imported.notices, Contains(HasSubstr("(poet only evaluates it, of known inputs)")));
}

}  // namespace
}  // namespace poet
