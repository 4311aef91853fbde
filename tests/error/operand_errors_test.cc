// Ops whose operands and attributes contradict each other are refused before any kernel is made, with the op
// and what it needs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "poet/graph/operators/schema.h"
#include "poet/runtime/kernels/reference/reference.h"
#include "tests/support/input_error.h"
#include "tests/support/one_op.h"

namespace poet {
namespace {

using test::bytes;
using test::integers;
using test::one_op;
using test::parameter;
using test::state;

using List = std::vector<std::int64_t>;

std::string refusal(const Graph& graph) {
  return test::input_error([&] { check_operands(graph, test::last_op(graph)); });
}
/// The op is number `inputs`, behind the ops that its inputs come from.
std::string message(int number, const std::string& kind, const std::string& rule) {
  return "op " + std::to_string(number) + " \"the_op\" (" + kind + "): needs " + rule;
}

Attributes convolution() {
  return {
      {"stride", List{1, 1}}, {"padding", List{1, 1}}, {"dilation", List{1, 1}}, {"groups", std::int64_t{1}}};
}

Graph conv(const Shape& x, const Shape& weight, const Shape& y, Attributes attributes = convolution()) {
  return one_op("conv2d", {{x}, parameter(weight)}, {{y}}, std::move(attributes));
}

TEST(OperandErrors, AConvolutionThatFitsIsAccepted) {
  // (5 + 1 + 1 - 3) / 1 + 1 = 5 places along both axes.
  const Graph graph = conv({1, 2, 5, 5}, {4, 2, 3, 3}, {1, 4, 5, 5});
  EXPECT_NO_THROW(check_operands(graph, test::last_op(graph)));
}

TEST(OperandErrors, Convolution) {
  EXPECT_EQ(refusal(conv({1, 2, 5, 5}, {4, 2, 3, 3}, {1, 4, 5, 6})),
            message(1, "conv2d", "y of size 5 along axis 3, not 6"));
  EXPECT_EQ(refusal(conv({1, 3, 5, 5}, {4, 2, 3, 3}, {1, 4, 5, 5})),
            message(1, "conv2d", "input 1 of shape (4, 3, 3, 3), not (4, 2, 3, 3)"));
  EXPECT_EQ(refusal(conv({1, 2, 5}, {4, 2, 3, 3}, {1, 4, 5, 5})),
            message(1, "conv2d", "x of 4 axes, not (1, 2, 5)"));
  EXPECT_EQ(refusal(conv({1, 2, 5, 5}, {4, 2, 9, 3}, {1, 4, 5, 5})),
            message(1, "conv2d", "a window of 9 (dilation 1) that fits in 5 with padding 1 and 1"));
  Attributes attributes = convolution();
  attributes["groups"] = std::int64_t{0};
  EXPECT_EQ(refusal(conv({1, 2, 5, 5}, {4, 2, 3, 3}, {1, 4, 5, 5}, attributes)),
            message(1, "conv2d", "groups between 1 and 2147483647, not 0"));
  attributes["groups"] = std::int64_t{3};
  EXPECT_EQ(refusal(conv({1, 2, 5, 5}, {4, 2, 3, 3}, {1, 4, 5, 5}, attributes)),
            message(1, "conv2d", "groups that divide 2, not 3"));
}

TEST(OperandErrors, AttributesOfAConvolution) {
  const auto with = [](const char* name, const Attribute& value) {
    Attributes attributes = convolution();
    attributes[name] = value;
    return refusal(conv({1, 2, 5, 5}, {4, 2, 3, 3}, {1, 4, 5, 5}, attributes));
  };
  EXPECT_EQ(with("stride", List{1, 0}),
            message(1, "conv2d", "numbers between 1 and 1048576 in stride, not 0"));
  EXPECT_EQ(with("stride", List{1}), message(1, "conv2d", "2 numbers as its attribute stride, not 1"));
  EXPECT_EQ(with("padding", 1.0), message(1, "conv2d", "a list of integers as its attribute padding"));
  EXPECT_EQ(with("output_padding", List{1, 1}), message(1, "conv2d", "no output_padding"));
  Attributes without = convolution();
  without.erase("dilation");
  EXPECT_EQ(refusal(conv({1, 2, 5, 5}, {4, 2, 3, 3}, {1, 4, 5, 5}, without)),
            message(1, "conv2d", "an attribute dilation"));
}

TEST(OperandErrors, DimensionsBytesAndStrides) {
  Graph graph = one_op("relu", {{{2, 3}}}, {{{2, 3}}});
  const ValueId x(std::size_t{0});
  graph.values[x].shape = {2, 0};
  EXPECT_EQ(refusal(graph), message(1, "relu", "positive dimensions: input 0 has the shape (2, 0)"));
  graph.values[x].shape = {2, 4};
  EXPECT_EQ(refusal(graph), message(1, "relu",
                                    "a storage that holds input 0: its shape is (2, 4), its "
                                    "storage has 24 bytes"));
  graph.values[x].shape = {std::numeric_limits<std::int64_t>::max(), 4};
  EXPECT_THAT(refusal(graph), testing::HasSubstr("a storage that holds input 0"));
  graph.values[x].shape = {2, 3};
  for (const Shape& strides : {Shape{3, -1}, Shape{0, 1}, Shape{4, 1}, Shape{3, 3}}) {
    graph.values[x].strides = strides;
    EXPECT_THAT(refusal(graph), testing::HasSubstr("needs strides that show every element once: input 0"));
  }
  graph.values[x].strides = {1, 2};
  EXPECT_NO_THROW(check_operands(graph, test::last_op(graph)));
}

TEST(OperandErrors, HowManyOperandsOfWhichType) {
  EXPECT_EQ(refusal(one_op("relu", {{{2}}, {{2}}}, {{{2}}})), message(2, "relu", "1 input, not 2"));
  EXPECT_EQ(refusal(one_op("linear", {{{1, 2}}}, {{{1, 3}}})), message(1, "linear", "2 to 3 inputs, not 1"));
  EXPECT_EQ(refusal(one_op("concat", {}, {{{2}}})), message(0, "concat", "at least 1 input, not 0"));
  EXPECT_EQ(refusal(one_op("relu", {integers({2})}, {{{2}}})),
            message(1, "relu", "input 0 of type float32, not int32"));
  EXPECT_EQ(refusal(one_op("add", {integers({2}), {{2}}}, {{{2}}})),
            message(2, "add", "input 1 of type int32, not float32"));
  EXPECT_EQ(refusal(one_op("sgd_update", {parameter({2}), {{2}}}, {}, {{"learning_rate", 0.1}}, {})),
            message(1, "sgd_update", "1 value that it updates, not 0"));
}

TEST(OperandErrors, ShapesThatBroadcast) {
  EXPECT_EQ(refusal(one_op("add", {{{2, 3}}, {{2}}}, {{{2, 3}}})),
            message(2, "add", "operands that broadcast: input 1 has the shape (2)"));
  EXPECT_EQ(refusal(one_op("mul", {{{2, 1}}, {{3}}}, {{{2, 1}}})),
            message(2, "mul", "output 0 of shape (2, 3), not (2, 1)"));
  EXPECT_THAT(refusal(one_op("sum_to", {{{2, 3}}}, {{{2}}})),
              testing::HasSubstr("output 0 to broadcast to (2, 3), input 0's shape, which (2) does not"));
  EXPECT_THAT(refusal(one_op("matmul", {{{2, 3, 4}}, {{5, 4, 6}}}, {{{2, 3, 6}}}, {{"alpha", 1.0}})),
              testing::HasSubstr("leading axes that broadcast"));
  EXPECT_THAT(refusal(one_op("matmul", {{{3, 4}}, {{5, 6}}}, {{{3, 6}}}, {{"alpha", 1.0}})),
              testing::HasSubstr("input 1 of shape (4, 6), not (5, 6)"));
}

TEST(OperandErrors, NumbersOfFunctions) {
  EXPECT_EQ(refusal(one_op("scale", {{{2}}}, {{{2}}}, {{"alpha", std::int64_t{1}}, {"beta", 0.0}})),
            message(1, "scale", "a real number (1.0, not 1) as its attribute alpha"));
  EXPECT_EQ(refusal(one_op("dropout", {{{2}}}, {{{2}}, bytes({2})}, {{"p", 1.0}, {"seed", std::int64_t{0}}})),
            message(1, "dropout", "p in [0, 1), not 1"));
  EXPECT_EQ(refusal(one_op("clip", {{{2}}}, {{{2}}})), message(1, "clip", "an attribute min or max"));
  EXPECT_EQ(refusal(one_op("cast", {{{2}}}, {integers({2})}, {{"to", std::string("uint8")}})),
            message(1, "cast", "an output of type uint8, its attribute to"));
}

TEST(OperandErrors, PoolsAndTheirIndices) {
  const Attributes pool = {{"kernel", List{2, 2}}, {"stride", List{2, 2}}, {"padding", List{0, 0}}};
  const auto max_pool = [&](const Shape& y, const test::Operand& indices, Attributes attributes) {
    return refusal(one_op("max_pool2d", {{{1, 1, 4, 4}}}, {{y}, indices}, std::move(attributes)));
  };
  EXPECT_THAT(max_pool({1, 1, 3, 2}, bytes({1, 1, 3, 2}), pool), testing::HasSubstr("y of size 2"));
  EXPECT_EQ(max_pool({1, 1, 2, 2}, integers({1, 1, 2, 2}), pool),
            message(1, "max_pool2d", "indices of type uint8, not int32"));
  Attributes padded = pool;
  padded["padding"] = List{2, 0};  // a window of padding alone
  EXPECT_THAT(max_pool({1, 1, 4, 2}, bytes({1, 1, 4, 2}), padded),
              testing::HasSubstr("an element in every window: axis 2"));
}

TEST(OperandErrors, PartsAndSlices) {
  const auto concat = [](const List& sizes, std::int64_t axis) {
    return refusal(one_op("concat", {{{2, 3}}, {{2, 1}}}, {{{2, 4}}}, {{"axis", axis}, {"sizes", sizes}}));
  };
  EXPECT_EQ(concat({3, 2}, 1), message(2, "concat", "positive sizes that add up to 4, not (3, 2)"));
  EXPECT_EQ(concat({2, 2}, 1), message(2, "concat", "input 0 of shape (2, 2), not (2, 3)"));
  EXPECT_EQ(concat({4}, 1), message(2, "concat", "as many inputs as sizes (1), not 2"));
  EXPECT_EQ(concat({3, 1}, 2), message(2, "concat", "axis between 0 and 1, not 2"));
  EXPECT_EQ(refusal(one_op("slice", {{{4}}}, {{{2}}},
                           {{"starts", List{3}}, {"ends", List{5}}, {"steps", List{1}}})),
            message(1, "slice", "0 <= start < end <= 4 along axis 0, not 3 and 5"));
  EXPECT_EQ(refusal(one_op("transpose", {{{2, 3}}}, {{{2, 2}}}, {{"axes", List{0, 0}}})),
            message(1, "transpose", "each axis once in axes, not (0, 0)"));
  EXPECT_EQ(refusal(one_op("select", {{{2, 3, 4}}}, {{{2, 4}}}, {{"index", std::int64_t{3}}})),
            message(1, "select", "index between 0 and 2, not 3"));
  EXPECT_EQ(refusal(one_op("reduce_sum", {{{2, 3}}}, {{{2}}},
                           {{"axes", List{1, 1}}, {"keepdims", std::int64_t{0}}})),
            message(1, "reduce_sum", "ascending numbers below 2 in axes, not 1"));
}

TEST(OperandErrors, ListsOfGradients) {
  const auto backward = [](const std::vector<test::Operand>& outputs, Attributes attributes) {
    return refusal(one_op("layer_norm_backward", {{{2, 3}}, {{2, 3}}, parameter({3}), {{2}}, {{2}}}, outputs,
                          std::move(attributes)));
  };
  EXPECT_EQ(backward({{{2, 3}}}, {}),
            message(4, "layer_norm_backward", "3 outputs, not 1, or an attribute gradients that lists them"));
  EXPECT_EQ(backward({{{2, 3}}}, {{"gradients", List{0, 1}}}),
            message(4, "layer_norm_backward", "as many numbers in gradients as it has outputs (1), not 2"));
  EXPECT_EQ(backward({{{3}}}, {{"gradients", List{3}}}),
            message(4, "layer_norm_backward", "ascending numbers below 3 in gradients, not 3"));
  EXPECT_EQ(backward({{{2, 3}}}, {{"gradients", List{2}}}),
            message(4, "layer_norm_backward", "output 0 of shape (3), not (2, 3)"));
}

TEST(OperandErrors, RecurrentLayers) {
  // S = 2, N = 3, I = 4, H = 5: an rnn's weights are (1, 5, 4) and (1, 5, 5).
  const auto rnn = [](const Shape& weight_hh, Attributes attributes) {
    return refusal(one_op("rnn", {{{2, 3, 4}}, parameter({1, 5, 4}), parameter(weight_hh)}, {{{2, 1, 3, 5}}},
                          std::move(attributes)));
  };
  const Attributes good = {{"direction", std::string("forward")}, {"activation", std::string("tanh")}};
  EXPECT_EQ(rnn({1, 5, 4}, good), message(1, "rnn", "input 2 of shape (1, 5, 5), not (1, 5, 4)"));
  EXPECT_EQ(
      rnn({1, 5, 5}, {{"direction", std::string("bidirectional")}, {"activation", std::string("tanh")}}),
      message(1, "rnn", "2 directions, not 1"));
  EXPECT_EQ(rnn({1, 5, 5}, {{"direction", std::string("forward")}}),
            message(1, "rnn", "an attribute activation"));
}

TEST(OperandErrors, StateInAnotherLayout) {
  Graph graph = one_op("momentum_update", {parameter({2, 3}), {{2, 3}}, state({2, 3})}, {},
                       {{"learning_rate", 0.1}, {"momentum", 0.9}}, {0, 2});
  EXPECT_NO_THROW(check_operands(graph, test::last_op(graph)));
  graph.values[graph.ops[test::last_op(graph)].inputs[2]].strides = {1, 2};
  EXPECT_EQ(refusal(graph), message(1, "momentum_update", "state in the layout of the parameter"));
}

TEST(OperandErrors, GraphsAreVerifiedForThem) {
  const Graph graph = one_op("softmax", {{{}}}, {{{}}});
  EXPECT_EQ(test::input_error([&] { verify(graph); }),
            message(1, "softmax", "input 0 of at least 1 axes, not ()"));
}

TEST(OperandErrors, KindsThatPoetDoesNotKnowAreNobodysBusiness) {
  EXPECT_EQ(find_operator("published"), nullptr);
  Graph graph = one_op("published", {parameter({2, 3})}, {{{7}}});
  for (Value& value : graph.values) value.bytes = Bytes(1);
  EXPECT_NO_THROW(verify(graph));
}

/// What no shape tells: a maximum's place that is in no window, or out of the image.
TEST(OperandErrors, IndicesOfPools) {
  const auto run = [](const Graph& graph, auto indices) {
    return test::input_error([&] {
      const auto kernel = runtime::make_reference_kernel(graph, test::last_op(graph));
      float dy = 1.0F;
      std::vector<float> dx(4);
      const std::vector<void*> inputs = {&dy, &indices};
      const std::vector<void*> outputs = {dx.data()};
      kernel->run({inputs, outputs, {}, nullptr, 1, 0});
    });
  };
  const Graph window = one_op("max_pool2d_backward", {{{1, 1, 1, 1}}, bytes({1, 1, 1, 1})}, {{{1, 1, 2, 2}}},
                              {{"kernel", List{2, 2}}, {"stride", List{1, 1}}, {"padding", List{0, 0}}});
  EXPECT_EQ(run(window, std::uint8_t{4}), "op \"the_op\": index 4 is not one of its windows");
  const Graph plane =
      one_op("global_max_pool_backward", {{{1, 1, 1, 1}}, integers({1, 1, 1, 1})}, {{{1, 1, 2, 2}}});
  EXPECT_EQ(run(plane, std::int32_t{-1}), "op \"the_op\": index -1 is not one of 4 elements");
}

}  // namespace
}  // namespace poet
