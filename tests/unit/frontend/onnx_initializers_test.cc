// What becomes of initialisers in the forms that exporters give them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/onnx/import.h"
#include "tests/support/graph_text.h"
#include "tests/support/input_error.h"
#include "tests/support/onnx_models.h"

namespace poet {
namespace {

using test::kinds;
using test::onnx_model;
using test::onnx_node;
using test::onnx_reals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::vector<std::string> parameters(const Graph& graph) {
  std::vector<std::string> out;
  for (const Value& value : graph.values) {
    if (value.persistence == Persistence::parameter && !value.alias_of.valid()) out.push_back(value.name);
  }
  return out;
}

// Scale and variance of a new batch normalisation are ones, shift and mean are zeros.
TEST(OnnxInitializers, MergedOnesAreParametersOfTheirOwn) {
  onnx::Model file =
      onnx_model({4, 3}, {{"scale", onnx_reals({3})}, {"shift", onnx_reals({3})}, {"w", onnx_reals({2, 3})}},
                 {onnx_node("Identity", {"scale"}, {"var"}), onnx_node("Identity", {"shift"}, {"mean"}),
                  onnx_node("Identity", {"shift"}, {"second.shift"}),
                  onnx_node("BatchNormalization", {"x", "scale", "shift", "mean", "var"}, {"n"}),
                  onnx_node("Add", {"n", "second.shift"}, {"a"}),
                  onnx_node("Gemm", {"a", "w"}, {"y"}, {{"transB", std::int64_t{1}}})});
  file.producer = "pytorch";
  const ImportedModel model = import_model(file);
  EXPECT_THAT(parameters(model.forward), UnorderedElementsAre("scale", "shift", "second.shift", "w"));
  EXPECT_EQ(parameter_count(model.forward), 3 + 3 + 3 + 6);
  EXPECT_THAT(model.notices, Contains(HasSubstr("an Identity of an initialiser")));
}

/// Two convolutions with such weights, by a program that calls itself `producer`.
std::vector<std::string> convolution_notices(const std::string& producer,
                                             const std::vector<std::string>& names) {
  onnx::Model model =
      onnx_model({4, 3, 8, 8},
                 {{names[0], onnx_reals({2, 3, 3, 3})},
                  {names[1], onnx_reals({2})},
                  {names[2], onnx_reals({5, 2, 3, 3})},
                  {names[3], onnx_reals({5})}},
                 {onnx_node("Conv", {"x", names[0], names[1]}, {"a"}), onnx_node("Relu", {"a"}, {"r"}),
                  onnx_node("Conv", {"r", names[2], names[3]}, {"c"}),
                  onnx_node("GlobalAveragePool", {"c"}, {"p"}), onnx_node("Flatten", {"p"}, {"y"})});
  model.producer = producer;
  return import_model(model).notices;
}

TEST(OnnxInitializers, FoldedBatchNormalisationIsSaid) {
  const std::vector<std::string> folded = {"onnx::Conv_19", "onnx::Conv_20", "onnx::Conv_22",
                                           "onnx::Conv_23"};
  const std::string both = "batch normalisation is folded into 2 layers";
  EXPECT_THAT(convolution_notices("pytorch", folded),
              Contains(testing::AllOf(HasSubstr(both), HasSubstr("TrainingMode.TRAINING"))));
  // As PyTorch called them before 1.11; and where one convolution has no normalisation behind it.
  EXPECT_THAT(convolution_notices("pytorch", {"19", "20", "22", "23"}), Contains(HasSubstr(both)));
  EXPECT_THAT(
      convolution_notices("pytorch", {"onnx::Conv_19", "onnx::Conv_20", "conv2.weight", "conv2.bias"}),
      Contains(HasSubstr("folded into 1 layer,")));
  // By the exporter based on torch.export: the second convolution reads r.
  EXPECT_THAT(convolution_notices("pytorch", {"conv1.weight", "x_bias", "conv2.weight", "r_bias"}),
              Contains(testing::AllOf(HasSubstr(both), HasSubstr("dynamo=True, optimize=False"))));
  EXPECT_THAT(convolution_notices("pytorch", {"0.weight", "0.weight_bias", "4.weight", "4.bias"}),
              Contains(HasSubstr("folded into 1 layer,")));
  // Without normalisation, with filters that a weight normalisation computes, and by somebody who counts.
  const auto silent = Not(Contains(HasSubstr("is folded")));
  EXPECT_THAT(convolution_notices("pytorch", {"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias"}),
              silent);
  EXPECT_THAT(convolution_notices("pytorch", {"onnx::Conv_19", "conv1.bias", "onnx::Conv_22", "conv2.bias"}),
              silent);
  EXPECT_THAT(convolution_notices("pytorch", {"onnx::Conv_19", "conv1.bias", "onnx::Conv_22", "conv2.bias"}),
              Contains(HasSubstr("onnx::Conv_19, onnx::Conv_22 are trained as stored")));
  EXPECT_THAT(convolution_notices("somebody", {"19", "20", "22", "23"}), silent);
}

// A network that reads one weight twice does so by one name.
TEST(OnnxInitializers, AnIdentityOfAValueIsTheValue) {
  const ImportedModel model =
      import_model(onnx_model({4, 3}, {{"w", onnx_reals({3, 3})}},
                              {onnx_node("MatMul", {"x", "w"}, {"h"}), onnx_node("Identity", {"h"}, {"i"}),
                               onnx_node("MatMul", {"i", "w"}, {"y"})}));
  EXPECT_THAT(parameters(model.forward), ElementsAre("w"));
}

// As PyTorch writes the factor of a mask: a Constant, cast to the mask's type.
onnx::Model masked(double factor) {
  return onnx_model({2, 3}, {{"mask", onnx_reals({2, 3})}},
                    {onnx_node("Constant", {}, {"c"}, {{"value", onnx_reals({}, {factor})}}),
                     onnx_node("Cast", {"c"}, {"f"}, {{"to", std::int64_t{1}}}),
                     onnx_node("Mul", {"mask", "f"}, {"m"}), onnx_node("Add", {"x", "m"}, {"y"})});
}

TEST(OnnxInitializers, ANumberTimesAWeightIsNoParameter) {
  const ImportedModel model = import_model(masked(2.0));
  EXPECT_THAT(parameters(model.forward), ElementsAre("mask"));
  EXPECT_THAT(kinds(model.forward), ElementsAre("input", "scale", "add", "input", "softmax_cross_entropy"));
}

TEST(OnnxInitializers, TimesOneIsNothing) {
  const ImportedModel model = import_model(masked(1.0));
  EXPECT_THAT(parameters(model.forward), ElementsAre("mask"));
  EXPECT_THAT(kinds(model.forward), ElementsAre("input", "add", "input", "softmax_cross_entropy"));
}

// 1 / x and 0 - x are something.
TEST(OnnxInitializers, OneAndZeroCountOnTheirSideOnly) {
  const auto of = [](const std::string& op, double number, bool first) {
    return kinds(import_model(onnx_model({2, 3}, {{"c", onnx_reals({}, {number})}},
                                         {onnx_node(op,
                                                    first ? std::vector<std::string>{"c", "x"}
                                                          : std::vector<std::string>{"x", "c"},
                                                    {"y"})}))
                     .forward);
  };
  const std::size_t nothing = 3;  // two inputs, the loss
  EXPECT_EQ(of("Mul", 1, true).size(), nothing);
  EXPECT_EQ(of("Add", 0, true).size(), nothing);
  EXPECT_EQ(of("Sub", 0, false).size(), nothing);
  EXPECT_EQ(of("Div", 1, false).size(), nothing);
  EXPECT_THAT(of("Sub", 0, true), Contains("scale"));
  EXPECT_THAT(of("Div", 1, true), Contains("pow"));
  EXPECT_THAT(of("Add", 1, true), Contains("shift"));
  EXPECT_THAT(of("Mul", 0, false), Contains("scale"));
}

// With more axes the number gives the result more.
TEST(OnnxInitializers, TimesOneMayReshape) {
  const ImportedModel model = import_model(
      onnx_model({2, 3}, {{"c", onnx_reals({1, 1, 1}, {1.0})}}, {onnx_node("Mul", {"x", "c"}, {"y"})}));
  EXPECT_THAT(kinds(model.forward), Contains("shift"));
}

TEST(OnnxInitializers, WeightsThatAreInputsAreRefused) {
  onnx::Model model = onnx_model({2, 3, 4, 4}, {}, {onnx_node("Conv", {"x", "conv.weight"}, {"y"})});
  onnx::Declaration weight;
  weight.name = "conv.weight";
  weight.type_name = "float";
  weight.shape.emplace();
  for (const std::int64_t size : {5, 3, 1, 1}) weight.shape->push_back({size, ""});
  model.inputs.push_back(weight);
  const std::string message = test::input_error([&] { (void)import_model(model); });
  EXPECT_THAT(message, HasSubstr("node 0 'y' (Conv)"));
  EXPECT_THAT(message, HasSubstr("input 1 ('conv.weight') must be a weight"));
  EXPECT_THAT(message, HasSubstr("not an input of the model"));
}

TEST(OnnxInitializers, AShapeInAnotherFileIsRefused) {
  onnx::Tensor shape = test::onnx_integers({3, 2});
  shape.known = false;
  shape.external = true;
  shape.integers.clear();
  const std::string message = test::input_error([&] {
    (void)import_model(onnx_model({2, 3}, {{"s", shape}}, {onnx_node("Reshape", {"x", "s"}, {"y"})}));
  });
  EXPECT_THAT(message, HasSubstr("input 1 ('s') is kept in another file"));
  EXPECT_THAT(message, Not(HasSubstr("constant shapes")));
}

}  // namespace
}  // namespace poet
