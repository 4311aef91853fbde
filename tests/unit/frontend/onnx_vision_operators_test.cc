// Operators of vision models and transformers: what they become, and what that computes, by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/onnx/import.h"
#include "tests/support/graph_text.h"
#include "tests/support/onnx_models.h"
#include "tests/support/onnx_training.h"
#include "tests/support/reference_kernels.h"

namespace poet {
namespace {

using onnx::AttributeValue;
using onnx::Node;
using onnx::Tensor;
using test::kinds;
using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_reals;
using test::op_of_kind;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

using List = std::vector<std::int64_t>;
using Numbers = std::vector<double>;
using Attributes = std::map<std::string, AttributeValue>;
constexpr std::int64_t kOne = 1;

/// The kinds between the input and the loss.
std::vector<std::string> body(const onnx::Model& model, const ImportOptions& options = {}) {
  std::vector<std::string> out;
  for (const std::string& kind : kinds(import_model(model, options).forward)) {
    if (kind != "input" && kind != "softmax_cross_entropy" && kind != "mse_loss") out.push_back(kind);
  }
  return out;
}

Shape shape_named(const Graph& graph, const std::string& name) {
  for (const Value& value : graph.values) {
    if (value.name == name) return value.shape;
  }
  throw InputError("no value " + name);
}

Numbers count_up(std::int64_t n) {
  Numbers out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(static_cast<double>(i));
  return out;
}

/// Takes outputs of any shape.
ImportOptions as_numbers() {
  ImportOptions options;
  options.loss = Loss::mean_squared_error;
  return options;
}

/// What the loss reads: the output's elements in their order. Inputs and weights are 0, 1, 2... unless given.
Numbers computed(const onnx::Model& model, const std::map<std::string, Numbers>& given = {}) {
  const Graph graph = import_model(model, as_numbers()).forward;
  reference::Interpreter run(graph);
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (value.alias_of.valid() || (value.persistence == Persistence::activation ||
                                   value.persistence == Persistence::parameter_gradient)) {
      continue;
    }
    const auto found = given.find(value.name);
    const std::int64_t n = element_count(value.shape);
    const bool targets = value.name == "targets";
    run.set(v, found != given.end() ? found->second
               : targets            ? Numbers(static_cast<std::size_t>(n), 0.0)
                                    : count_up(n));
  }
  run.run();
  return run.get(op_of_kind(graph, "mse_loss").inputs[0]).data;
}

auto near(const Numbers& wanted) { return Pointwise(DoubleNear(1e-9), wanted); }

/// Image to numbers: the last node flattens, so that the loss is over the elements of one image.
onnx::Model flattened(const Shape& x, std::map<std::string, Tensor> initializers, std::vector<Node> nodes,
                      std::int64_t opset = 17) {
  nodes.push_back(onnx_node("Flatten", {nodes.back().outputs[0]}, {"flat"}));
  return onnx_model(x, std::move(initializers), std::move(nodes), opset);
}

TEST(OnnxResize, EveryOpsetSaysScalesItsOwnWay) {
  const Tensor twice = onnx_reals({4}, {1, 1, 2, 2});
  const Attributes linear = {{"mode", std::string("linear")}};
  const onnx::Model upsample7 = flattened(
      {1, 1, 1, 2}, {}, {onnx_node("Upsample", {"x"}, {"y"}, {{"scales", Numbers{1, 1, 2, 2}}})}, 7);
  const onnx::Model upsample9 =
      flattened({1, 1, 1, 2}, {{"s", twice}}, {onnx_node("Upsample", {"x", "s"}, {"y"}, linear)}, 9);
  const onnx::Model resize10 =
      flattened({1, 1, 1, 2}, {{"s", twice}}, {onnx_node("Resize", {"x", "s"}, {"y"}, linear)}, 10);
  const onnx::Model resize11 = flattened({1, 1, 1, 2}, {{"s", twice}, {"roi", onnx_reals({0})}},
                                         {onnx_node("Resize", {"x", "roi", "s"}, {"y"}, linear)}, 11);
  const onnx::Model resize13 = flattened({1, 1, 1, 2}, {{"to", onnx_integers({1, 1, 2, 4})}},
                                         {onnx_node("Resize", {"x", "", "", "to"}, {"y"}, linear)}, 13);
  Attributes last = linear;
  last["axes"] = List{2, 3};
  const onnx::Model resize18 = flattened({1, 1, 1, 2}, {{"s", onnx_reals({2}, {2, 2})}},
                                         {onnx_node("Resize", {"x", "", "s"}, {"y"}, last)}, 18);
  EXPECT_THAT(computed(upsample7), near({0, 0, 1, 1, 0, 0, 1, 1}));
  // Places x / 2; half pixels are -1/4, 1/4, 3/4, 5/4, with the border's value outside.
  for (const onnx::Model& model : {upsample9, resize10}) {
    EXPECT_THAT(computed(model), near({0, 0.5, 1, 1, 0, 0.5, 1, 1}));
  }
  for (const onnx::Model& model : {resize11, resize13, resize18}) {
    EXPECT_THAT(computed(model), near({0, 0.25, 0.75, 1, 0, 0.25, 0.75, 1}));
  }
}

TEST(OnnxResize, AttributesSayWhichElements) {
  const Graph graph =
      import_model(flattened({1, 1, 4, 4}, {{"s", onnx_reals({4}, {1, 1, 0.6, 1.3})}},
                             {onnx_node("Resize", {"x", "", "s"}, {"y"},
                                        {{"mode", std::string("cubic")},
                                         {"coordinate_transformation_mode", std::string("align_corners")},
                                         {"cubic_coeff_a", -0.5},
                                         {"exclude_outside", kOne}})}))
          .forward;
  const poet::Attributes& attributes = op_of_kind(graph, "resize").attributes;
  EXPECT_EQ(shape_named(graph, "y"), (Shape{1, 1, 2, 5})) << "rounded down";
  EXPECT_EQ(attributes.at("mode"), Attribute(std::string("cubic")));
  EXPECT_EQ(attributes.at("coordinates"), Attribute(std::string("align_corners")));
  EXPECT_EQ(attributes.at("cubic_a"), Attribute(-0.5));
  EXPECT_EQ(attributes.at("exclude_outside"), Attribute(kOne));
  EXPECT_EQ(attributes.at("scale0"), Attribute(0.6));
  EXPECT_EQ(attributes.count("nearest"), 0U);
}

// In single precision 10 times 1.3 is 13; in double precision the float nearest to 1.3 makes it 12.99...
TEST(OnnxResize, SizesAreRoundedAsOnnxDoesIt) {
  const double scale = static_cast<float>(1.3);
  const Graph graph = import_model(flattened({1, 1, 10}, {{"s", onnx_reals({3}, {1, 1, scale})}},
                                             {onnx_node("Resize", {"x", "", "s"}, {"y"})}))
                          .forward;
  EXPECT_EQ(shape_named(graph, "y"), (Shape{1, 1, 13}));
}

// Sizes by shape arithmetic, as of torch's interpolate; an image of its own size is left alone; the batch of
// the list follows --batch-size.
TEST(OnnxResize, SizesMayBeComputed) {
  ImportOptions options;
  options.batch_size = 3;
  const auto model = [](std::vector<std::int64_t> space) {
    return flattened(
        {1, 2, 4, 4},
        {{"zero", onnx_integers({0})}, {"two", onnx_integers({2})}, {"to", onnx_integers(space)}},
        {onnx_node("Shape", {"x"}, {"s"}), onnx_node("Slice", {"s", "zero", "two"}, {"first"}),
         onnx_node("Concat", {"first", "to"}, {"sizes"}, {{"axis", std::int64_t{0}}}),
         onnx_node("Resize", {"x", "", "", "sizes"}, {"y"})});
  };
  EXPECT_EQ(shape_named(import_model(model({2, 8}), options).forward, "y"), (Shape{3, 2, 2, 8}));
  EXPECT_THAT(body(model({4, 4})), ElementsAre());
  const onnx::Model fixed = flattened({1, 2, 4, 4}, {{"sizes", onnx_integers({1, 2, 2, 8})}},
                                      {onnx_node("Resize", {"x", "", "", "sizes"}, {"y"})});
  EXPECT_EQ(body(fixed), std::vector<std::string>{"resize"});
  EXPECT_EQ(shape_named(import_model(fixed, options).forward, "y"), (Shape{3, 2, 2, 8}));
}

// As torch writes scale_factor without constant folding: one list of constants made of others.
TEST(OnnxResize, ScalesMayBeJoined) {
  const onnx::Model model =
      flattened({1, 1, 2, 2}, {},
                {onnx_node("Constant", {}, {"first"}, {{"value", onnx_reals({2}, {1, 1})}}),
                 onnx_node("Constant", {}, {"space"}, {{"value", onnx_reals({2}, {3, 2})}}),
                 onnx_node("Concat", {"first", "space"}, {"s"}, {{"axis", std::int64_t{0}}}),
                 onnx_node("Resize", {"x", "", "s"}, {"y"})});
  EXPECT_EQ(shape_named(import_model(model).forward, "y"), (Shape{1, 1, 6, 4}));
}

TEST(OnnxResize, GradientReadsNothing) {
  const Graph training = differentiate(
      import_model(
          flattened({1, 1, 4, 4}, {{"w", onnx_reals({2, 1, 1, 1})}, {"s", onnx_reals({4}, {1, 1, 2, 2})}},
                    {onnx_node("Conv", {"x", "w"}, {"c"}), onnx_node("Resize", {"c", "", "s"}, {"y"})}))
          .forward);
  EXPECT_EQ(op_of_kind(training, "resize_backward").inputs.size(), 1U);
}

TEST(OnnxBlocks, DepthToSpaceAndBack) {
  const auto rearranged = [](const char* op, const Shape& x, const std::string& mode) {
    Attributes attributes = {{"blocksize", std::int64_t{2}}};
    if (!mode.empty()) attributes["mode"] = mode;
    return computed(flattened(x, {}, {onnx_node(op, {"x"}, {"y"}, attributes)}));
  };
  // 8 channels of one pixel: of two images of 2 x 2. DCR takes every second channel, CRD neighbours.
  EXPECT_THAT(rearranged("DepthToSpace", {1, 8, 1, 1}, "DCR"), near({0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_THAT(rearranged("DepthToSpace", {1, 8, 1, 1}, "CRD"), near({0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_THAT(rearranged("SpaceToDepth", {1, 2, 2, 2}, ""), near({0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(OnnxReductions, ByHand) {
  const auto reduced = [](const std::string& op, Attributes attributes = {}) {
    attributes["axes"] = List{-1};
    attributes["keepdims"] = std::int64_t{0};
    return computed(onnx_model({2, 2}, {}, {onnx_node(op, {"x"}, {"y"}, attributes)}, 11),
                    {{"x", {3, -4, 1, 2}}});
  };
  EXPECT_THAT(reduced("ReduceMax"), near({3, 2}));
  EXPECT_THAT(reduced("ReduceMin"), near({-4, 1}));
  EXPECT_THAT(reduced("ReduceSum"), near({-1, 3}));
  EXPECT_THAT(reduced("ReduceMean"), near({-0.5, 1.5}));
  EXPECT_THAT(reduced("ReduceL1"), near({7, 3}));
  EXPECT_THAT(reduced("ReduceL2"), near({5, std::sqrt(5.0)}));
  EXPECT_THAT(reduced("ReduceSumSquare"), near({25, 5}));
  EXPECT_THAT(reduced("ReduceLogSumExp"),
              near({std::log(std::exp(3.0) + std::exp(-4.0)), std::log(std::exp(1.0) + std::exp(2.0))}));
  const onnx::Model log_sum =
      onnx_model({1, 2, 2}, {}, {onnx_node("ReduceLogSum", {"x"}, {"y"}, {{"axes", List{1}}})});
  EXPECT_THAT(computed(log_sum), near({std::log(2.0), std::log(4.0)}));
}

// An exponent that adds axes.
TEST(OnnxPowers, OfOneExponentOfAHigherRank) {
  const onnx::Model model =
      onnx_model({2, 2}, {{"two", onnx_reals({1, 1, 1}, {2})}}, {onnx_node("Pow", {"x", "two"}, {"y"})});
  EXPECT_THAT(computed(model, {{"x", {1, -2, 3, 0}}}), near({1, 4, 9, 0}));
}

// Nothing overflows, and the length 0 has the gradient 0, as in PyTorch.
TEST(OnnxReductions, AtTheirEnds) {
  const auto reduced = [](const char* op, std::int64_t keep) {
    return onnx_model({2, 2}, {{"w", onnx_reals({2, 2}, {1, 0, 0, 1})}},
                      {onnx_node("MatMul", {"x", "w"}, {"h"}),
                       onnx_node(op, {"h"}, {"y"}, {{"axes", List{-1}}, {"keepdims", keep}})},
                      11);
  };
  const test::OnnxGiven large = {{"x", {1000, 999, -1000, -kInfinity}}};
  for (const std::int64_t keep : {0, 1})
    EXPECT_THAT(
        computed(
            onnx_model({2, 2}, {},
                       {onnx_node("ReduceLogSumExp", {"x"}, {"y"}, {{"axes", List{-1}}, {"keepdims", keep}})},
                       11),
            large),
        near({1000 + std::log1p(std::exp(-1.0)), -1000}));
  test::expect_true_onnx_gradients(reduced("ReduceLogSumExp", 0), {{"x", {2, 1, 3, -2}}});
  test::expect_true_onnx_gradients(reduced("ReduceL2", 1), {{"x", {0, 0, 3, -2}}});
}

TEST(OnnxReductions, AxesAreAnInputOfNewerOpsets) {
  const auto model = [](const char* op, std::vector<std::int64_t> axes, std::int64_t noop) {
    return onnx_model({1, 2, 3}, {{"axes", onnx_integers(std::move(axes))}},
                      {onnx_node(op, {"x", "axes"}, {"y"}, {{"noop_with_empty_axes", noop}})}, 18);
  };
  EXPECT_THAT(computed(model("ReduceMax", {1}, 0)), near({3, 4, 5}));
  EXPECT_THAT(body(model("ReduceMax", {}, 1)), ElementsAre());
  EXPECT_THAT(computed(model("ReduceMin", {}, 0)), near({0}));
  EXPECT_THAT(computed(model("ReduceL2", {1, 2}, 0)), near({std::sqrt(55.0)}));
}

TEST(OnnxActivations, DefaultsAndNumbers) {
  const auto at = [](const std::string& op, double x, const Attributes& attributes = {}) {
    return computed(onnx_model({1, 1}, {}, {onnx_node(op, {"x"}, {"y"}, attributes)}), {{"x", {x}}}).at(0);
  };
  EXPECT_NEAR(at("Softplus", 2), std::log(1 + std::exp(2.0)), 1e-12);
  EXPECT_NEAR(at("Softsign", -3), -0.75, 1e-12);
  EXPECT_NEAR(at("Selu", 2), 2 * 1.0507009873554805, 1e-6);
  EXPECT_NEAR(at("Selu", -1), 1.0507009873554805 * 1.6732632423543772 * (std::exp(-1.0) - 1), 1e-6);
  EXPECT_NEAR(at("Celu", -1, {{"alpha", 2.0}}), 2 * (std::exp(-0.5) - 1), 1e-12);
  EXPECT_NEAR(at("Celu", -1), std::exp(-1.0) - 1, 1e-12);
  EXPECT_EQ(at("ThresholdedRelu", 0.9), 0.0);
  EXPECT_EQ(at("ThresholdedRelu", 0.9, {{"alpha", 0.5}}), 0.9);
  EXPECT_NEAR(at("Mish", 1), std::tanh(std::log(1 + std::exp(1.0))), 1e-12);
  EXPECT_NEAR(at("Sin", 1), std::sin(1.0), 1e-12);
  EXPECT_NEAR(at("Cos", 1), std::cos(1.0), 1e-12);
  EXPECT_NEAR(at("HardSigmoid", 1), 0.7, 1e-12);
}

TEST(OnnxActivations, TheSlopeOfPReluTrains) {
  const onnx::Model model =
      onnx_model({2, 3, 2}, {{"slope", onnx_reals({3, 1})}, {"w", onnx_reals({2, 2})}},
                 {onnx_node("MatMul", {"x", "w"}, {"a"}), onnx_node("PRelu", {"a", "slope"}, {"y"})});
  const ImportedModel imported = import_model(model);
  EXPECT_EQ(parameter_count(imported.forward), 3 + 4);
  const Graph training = differentiate(imported.forward);
  EXPECT_THAT(kinds(training), Contains("prelu_backward_slope"));
  EXPECT_THAT(kinds(training), Contains("sgd_update").Times(2));
}

// PyTorch's default is one slope for all channels, which its exports shape by Unsqueeze.
TEST(OnnxActivations, OneSlopeForAllChannelsTrains) {
  const auto of = [](std::vector<Node> slope, const std::string& read) {
    slope.insert(slope.begin(), onnx_node("MatMul", {"x", "w"}, {"a"}));
    slope.push_back(onnx_node("PRelu", {"a", read}, {"y"}));
    return import_model(onnx_model(
        {2, 3, 2},
        {{"slope", onnx_reals({1}, {0.25})}, {"w", onnx_reals({2, 2})}, {"axes", onnx_integers({1})}},
        slope));
  };
  for (const ImportedModel& imported :
       {of({}, "slope"), of({onnx_node("Unsqueeze", {"slope", "axes"}, {"s"})}, "s")}) {
    EXPECT_EQ(parameter_count(imported.forward), 1 + 4);
    EXPECT_THAT(kinds(differentiate(imported.forward)), Contains("prelu_backward_slope"));
    EXPECT_THAT(imported.notices, ::testing::Not(Contains(HasSubstr("do not train"))));
  }
}

TEST(OnnxElementwise, ExtremaOfValuesAndWeights) {
  const auto of = [](const std::string& op, std::vector<std::string> inputs) {
    return onnx_model({1, 3}, {{"w", onnx_reals({1, 3}, {1, 1, 1})}, {"v", onnx_reals({3}, {2, 0, 5})}},
                      {onnx_node(op, std::move(inputs), {"y"})});
  };
  const std::map<std::string, Numbers> given = {{"x", {0, 1, 2}}, {"w", {1, 1, 1}}, {"v", {2, 0, 5}}};
  EXPECT_THAT(computed(of("Max", {"x", "w"}), given), near({1, 1, 2}));
  EXPECT_THAT(computed(of("Min", {"w", "x"}), given), near({0, 1, 1}));
  EXPECT_THAT(computed(of("Max", {"x", "w", "v"}), given), near({2, 1, 5}));
  EXPECT_THAT(kinds(differentiate(import_model(of("Max", {"x", "w"})).forward)), Contains("sgd_update"));
}

TEST(OnnxLoss, ATurnedOutputIsCopiedOnceAtMost) {
  const auto of = [](const List& order) {
    return kinds(import_model(onnx_model({2, 3, 4, 5}, {},
                                         {onnx_node("Relu", {"x"}, {"r"}),
                                          onnx_node("Transpose", {"r"}, {"y"}, {{"perm", order}})}))
                     .forward);
  };
  EXPECT_THAT(of({0, 2, 3, 1}), Contains("transpose").Times(1)) << "axis 1 of the transposed one to the end";
  EXPECT_THAT(of({0, 3, 1, 2}), ::testing::Not(Contains("transpose"))) << "the classes are last already";
}

TEST(OnnxActivations, StepsStopTheGradient) {
  const ImportedModel imported =
      import_model(onnx_model({2, 3}, {{"w", onnx_reals({3, 3})}, {"v", onnx_reals({3, 2})}},
                              {onnx_node("MatMul", {"x", "w"}, {"a"}), onnx_node("Sign", {"a"}, {"s"}),
                               onnx_node("MatMul", {"s", "v"}, {"y"})}));
  EXPECT_THAT(imported.notices, Contains(HasSubstr("no gradient flows through Sign")));
  EXPECT_THAT(kinds(differentiate(imported.forward)), Contains("sgd_update").Times(1)) << "v alone";
}

onnx::Model gated(std::vector<Node> nodes, std::map<std::string, Tensor> more = {}) {
  std::map<std::string, Tensor> all = std::move(more);
  all["three"] = onnx_reals({}, {3.0});
  all["six"] = onnx_reals({}, {6.0});
  all["zero"] = onnx_reals({}, {0.0});
  nodes.push_back(onnx_node("Identity", {nodes.back().outputs[0]}, {"last"}));
  return onnx_model({2, 3}, std::move(all), std::move(nodes));
}

TEST(OnnxActivations, RecognisesWhatIsSpeltOut) {
  EXPECT_THAT(body(gated({onnx_node("Sigmoid", {"x"}, {"s"}), onnx_node("Mul", {"x", "s"}, {"y"})})),
              ElementsAre("silu"));
  EXPECT_THAT(body(gated({onnx_node("Softplus", {"x"}, {"s"}), onnx_node("Tanh", {"s"}, {"t"}),
                          onnx_node("Mul", {"t", "x"}, {"y"})})),
              ElementsAre("mish"));
  const Attributes sixth = {{"alpha", static_cast<double>(1.0F / 6.0F)}, {"beta", 0.5}};
  EXPECT_THAT(
      body(gated({onnx_node("HardSigmoid", {"x"}, {"s"}, sixth), onnx_node("Mul", {"x", "s"}, {"y"})})),
      ElementsAre("hardswish"));
  EXPECT_THAT(body(gated({onnx_node("HardSigmoid", {"x"}, {"s"}), onnx_node("Mul", {"x", "s"}, {"y"})})),
              ElementsAre("hardsigmoid", "mul"))
      << "slope 0.2";
  const Node plus = onnx_node("Add", {"x", "three"}, {"p"});
  const Node clip = onnx_node("Clip", {"p", "zero", "six"}, {"c"});
  const Node old_clip = onnx_node("Clip", {"p"}, {"c"}, {{"min", 0.0}, {"max", 6.0}});
  EXPECT_THAT(
      body(gated({plus, clip, onnx_node("Mul", {"x", "c"}, {"m"}), onnx_node("Div", {"m", "six"}, {"y"})})),
      ElementsAre("hardswish"));
  EXPECT_THAT(body(gated({plus, old_clip, onnx_node("Div", {"c", "six"}, {"d"}),
                          onnx_node("Mul", {"d", "x"}, {"y"})})),
              ElementsAre("hardswish"));
  EXPECT_THAT(body(gated({plus, clip, onnx_node("Div", {"c", "six"}, {"y"})})), ElementsAre("hardsigmoid"));
  // torch's relu6 before its hard swish, and alone.
  const Node relu = onnx_node("Relu", {"p"}, {"r"});
  const Node above = onnx_node("Clip", {"r", "", "six"}, {"c"});
  EXPECT_THAT(body(gated({plus, relu, above, onnx_node("Mul", {"x", "c"}, {"m"}),
                          onnx_node("Div", {"m", "six"}, {"y"})})),
              ElementsAre("hardswish"));
  EXPECT_THAT(body(gated({onnx_node("Relu", {"x"}, {"r"}), above})), ElementsAre("clip"));
  EXPECT_THAT(body(gated({onnx_node("Relu", {"x"}, {"r"}), onnx_node("Clip", {"r", "six"}, {"c"})})),
              ElementsAre("relu", "clip"))
      << "a lower bound of 6";
  // The sigmoid has another reader, or the factor is another value: both stay as they are.
  EXPECT_THAT(body(gated({onnx_node("Sigmoid", {"x"}, {"s"}), onnx_node("Mul", {"x", "s"}, {"m"}),
                          onnx_node("Add", {"m", "s"}, {"y"})})),
              ElementsAre("sigmoid", "mul", "add"));
  EXPECT_THAT(body(gated({onnx_node("Sigmoid", {"x"}, {"s"}), onnx_node("Neg", {"x"}, {"n"}),
                          onnx_node("Mul", {"n", "s"}, {"y"})})),
              ElementsAre("sigmoid", "scale", "mul"));
}

TEST(OnnxActivations, RecognisedOnesComputeTheSame) {
  const Numbers x = {-4, -2, -0.5, 0, 1, 5};
  const Numbers swish =
      computed(gated({onnx_node("Add", {"x", "three"}, {"p"}), onnx_node("Clip", {"p", "zero", "six"}, {"c"}),
                      onnx_node("Div", {"c", "six"}, {"d"}), onnx_node("Mul", {"d", "x"}, {"y"})}),
               {{"x", x}});
  const Numbers silu =
      computed(gated({onnx_node("Sigmoid", {"x"}, {"s"}), onnx_node("Mul", {"x", "s"}, {"y"})}), {{"x", x}});
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(swish[i], x[i] * std::min(std::max(x[i] + 3, 0.0), 6.0) / 6, 1e-12);
    EXPECT_NEAR(silu[i], x[i] / (1 + std::exp(-x[i])), 1e-12);
  }
}

TEST(OnnxArithmetic, WhatChangesNothingVanishes) {
  const std::map<std::string, Tensor> numbers = {{"one", onnx_reals({}, {1.0})},
                                                 {"none", onnx_reals({}, {0.0})}};
  EXPECT_THAT(
      body(onnx_model({2, 3}, numbers,
                      {onnx_node("Mul", {"one", "x"}, {"a"}), onnx_node("Div", {"a", "one"}, {"b"}),
                       onnx_node("Add", {"none", "b"}, {"c"}), onnx_node("Sub", {"c", "none"}, {"y"})})),
      ElementsAre());
  EXPECT_THAT(
      body(onnx_model({2, 3}, numbers,
                      {onnx_node("Div", {"one", "x"}, {"a"}), onnx_node("Sub", {"none", "a"}, {"y"})})),
      ElementsAre("pow", "scale"));
}

TEST(OnnxSoftmax, InTheMiddleOverAnyAxis) {
  const auto model = [](const char* op, std::int64_t axis, std::int64_t opset) {
    return onnx_model({1, 2, 2}, {},
                      {onnx_node(op, {"x"}, {"s"}, {{"axis", axis}}), onnx_node("Neg", {"s"}, {"y"})}, opset);
  };
  const double p = 1 / (1 + std::exp(1.0));  // of 0 and 1
  const double q = 1 / (1 + std::exp(2.0));  // of 0 and 2
  EXPECT_THAT(computed(model("Softmax", -1, 13)), near({-p, p - 1, -p, p - 1}));
  EXPECT_THAT(computed(model("Softmax", 1, 13)), near({-q, -q, q - 1, q - 1}));
  EXPECT_THAT(computed(model("LogSoftmax", 1, 13)),
              near({-std::log(q), -std::log(q), -std::log(1 - q), -std::log(1 - q)}));
  // Before opset 13 over all axes from this one on.
  Numbers all;
  const double sum = 1 + std::exp(1.0) + std::exp(2.0) + std::exp(3.0);
  for (int i = 0; i < 4; ++i) all.push_back(std::log(sum) - i);
  EXPECT_THAT(computed(model("LogSoftmax", 1, 11)), near(all));
}

TEST(OnnxProducts, LeadingAxesBroadcast) {
  const auto product = [](const Shape& x, const Shape& w, bool weight_first) {
    const std::string a = weight_first ? "w" : "x";
    return computed(onnx_model(x, {{"w", onnx_reals(w)}},
                               {onnx_node("MatMul", {a, weight_first ? "x" : "w"}, {"m"}),
                                onnx_node("Flatten", {"m"}, {"y"}, {{"axis", std::int64_t{0}}})}));
  };
  // (2,1,2) by (2,2) matrices, w = (0 1 / 2 3): rows (0 1) and (2 3).
  EXPECT_THAT(product({2, 1, 2}, {1, 2, 2}, false), near({2, 3, 6, 11}));
  // A matrix by two columns (0 1) and (2 3).
  EXPECT_THAT(product({2, 2, 1}, {2, 2}, true), near({1, 3, 3, 13}));
  // Lists: a row times a matrix, a matrix times a list, and two lists.
  EXPECT_THAT(product({2}, {2, 2, 2}, false), near({2, 3, 6, 7}));
  EXPECT_THAT(product({2, 2}, {2}, false), near({1, 3}));
  EXPECT_THAT(product({1, 2, 2}, {2}, true), near({2, 3}));
}

TEST(OnnxProducts, ARunTimeMatrixIsReadByEveryBatch) {
  const Graph graph =
      import_model(onnx_model({2, 3, 4}, {{"w", onnx_reals({5, 4})}, {"v", onnx_reals({5, 5})}},
                              {onnx_node("MatMul", {"v", "w"}, {"m"}),
                               onnx_node("Transpose", {"m"}, {"t"}, {{"perm", List{1, 0}}}),
                               onnx_node("MatMul", {"x", "t"}, {"y"})}))
          .forward;
  EXPECT_THAT(kinds(graph), Contains("matmul").Times(2));
  EXPECT_EQ(shape_named(graph, "y"), (Shape{2, 3, 5}));
  EXPECT_THAT(kinds(differentiate(graph)), Contains("sgd_update").Times(2));
}

TEST(OnnxProducts, GemmWithAnyFactorsAndShapes) {
  const auto gemm = [](Attributes attributes, const Shape& a, const Shape& b, const Shape& c) {
    std::vector<std::string> inputs = {"x", "w"};
    std::map<std::string, Tensor> weights = {{"w", onnx_reals(b)}};
    if (!c.empty()) {
      inputs.push_back("c");
      weights["c"] = onnx_reals(c);
    }
    return computed(onnx_model(a, weights, {onnx_node("Gemm", inputs, {"y"}, std::move(attributes))}));
  };
  // x = w = (0 1 / 2 3): x w = (2 3 / 6 11), xᵀ w = (4 6 / 6 10), x wᵀ = (1 3 / 3 13), xᵀ wᵀ = (2 6 / 3 11).
  EXPECT_THAT(gemm({{"alpha", 2.0}}, {2, 2}, {2, 2}, {}), near({4, 6, 12, 22}));
  EXPECT_THAT(gemm({{"transA", kOne}}, {2, 2}, {2, 2}, {}), near({4, 6, 6, 10}));
  EXPECT_THAT(gemm({{"transB", kOne}, {"alpha", 3.0}}, {2, 2}, {2, 2}, {}), near({3, 9, 9, 39}));
  EXPECT_THAT(gemm({{"transA", kOne}, {"transB", kOne}}, {2, 2}, {2, 2}, {2}), near({2, 7, 3, 12}));
  EXPECT_THAT(gemm({{"beta", 0.5}}, {2, 2}, {2, 2}, {2}), near({2, 3.5, 6, 11.5}));
  EXPECT_THAT(gemm({{"beta", 2.0}, {"alpha", -1.0}}, {2, 2}, {2, 2}, {2, 1}), near({-2, -3, -4, -9}));
  EXPECT_THAT(gemm({{"beta", 0.0}}, {2, 2}, {2, 2}, {2}), near({2, 3, 6, 11}));
}

// A table that words are looked up in and that scores them, as it is or transposed by the file; layers that
// share a matrix, one of them the other way round.
TEST(OnnxProducts, AWeightMayBeReadBothWays) {
  onnx::Model tied = onnx_model({1, 3}, {{"table", onnx_reals({7, 4})}, {"b", onnx_reals({7})}},
                                {onnx_node("Gather", {"table", "x"}, {"e"}),
                                 onnx_node("Transpose", {"table"}, {"t"}, {{"perm", List{1, 0}}}),
                                 onnx_node("MatMul", {"e", "t"}, {"y"})});
  tied.inputs[0].type = onnx::Type::integer;
  const Graph graph = import_model(tied).forward;
  EXPECT_EQ(parameter_count(graph), 28);
  EXPECT_THAT(kinds(differentiate(graph)), Contains("sgd_update").Times(1));

  const onnx::Model both = onnx_model({2, 3}, {{"w", onnx_reals({3, 3})}, {"b", onnx_reals({3})}},
                                      {onnx_node("Gemm", {"x", "w", "b"}, {"a"}, {{"transB", kOne}}),
                                       onnx_node("Gemm", {"a", "w", "b"}, {"y"})});
  EXPECT_EQ(parameter_count(import_model(both).forward), 12);
  EXPECT_THAT(body(both), ElementsAre("linear", "matmul", "add"));
  // Rows (0 1 2) and (3 4 5) of x, w = 0..8 by rows, b = 0 1 2: x wᵀ + b = (5 15 25), (14 51 88);
  // that times w, plus b: (0+45+150, 5+60+175, 10+75+200) and so on.
  EXPECT_THAT(computed(both), near({195, 241, 287, 681, 835, 989}));
  const Graph training = differentiate(import_model(both).forward);
  EXPECT_THAT(kinds(training), Contains("sgd_update").Times(2));

  // As the file has it, (in, out), where it is added: a copy of what the layer has as (out, in).
  const onnx::Model square =
      onnx_model({3, 3}, {{"w", onnx_reals({3, 3})}, {"v", onnx_reals({3, 2})}},
                 {onnx_node("MatMul", {"x", "w"}, {"a"}), onnx_node("Neg", {"a"}, {"n"}),
                  onnx_node("Add", {"n", "w"}, {"c"}), onnx_node("MatMul", {"c", "v"}, {"y"})});
  EXPECT_THAT(body(square), ElementsAre("linear", "scale", "transpose", "add", "linear"));
}

TEST(OnnxEinsum, ByHand) {
  const auto einsum = [](const std::string& equation, const Shape& x, const Shape& w) {
    return computed(onnx_model(x, {{"w", onnx_reals(w)}},
                               {onnx_node("Einsum", {"x", "w"}, {"e"}, {{"equation", equation}}),
                                onnx_node("Flatten", {"e"}, {"y"}, {{"axis", std::int64_t{0}}})}));
  };
  // (0 1 / 2 3) by itself, in the four ways; the trace of the first; outer and inner products; row sums.
  EXPECT_THAT(einsum("ij,jk->ik", {2, 2}, {2, 2}), near({2, 3, 6, 11}));
  EXPECT_THAT(einsum("ij,kj->ik", {2, 2}, {2, 2}), near({1, 3, 3, 13}));
  EXPECT_THAT(einsum("ij,jk->ki", {2, 2}, {2, 2}), near({2, 6, 3, 11}));
  EXPECT_THAT(einsum("ij, jk", {2, 2}, {2, 2}), near({2, 3, 6, 11}));
  EXPECT_THAT(einsum("ij,ij->ij", {2, 2}, {2, 2}), near({0, 1, 4, 9}));
  EXPECT_THAT(einsum("ij,ij->i", {2, 2}, {2, 2}), near({1, 13}));
  EXPECT_THAT(einsum("ij,ij->", {2, 2}, {2, 2}), near({14}));
  EXPECT_THAT(einsum("i,j->ji", {2}, {3}), near({0, 0, 0, 1, 0, 2}));
  EXPECT_THAT(einsum("ij,k->k", {2, 2}, {2}), near({0, 6}));
  EXPECT_THAT(einsum("bij,bi->bij", {2, 1, 2}, {2, 1}), near({0, 0, 2, 3}));
  // Two axes in a group: 0..3 as (1,2,2) by 0..7 as (2,2,2) over the last and the first two.
  EXPECT_THAT(einsum("aij,ijk->ak", {1, 2, 2}, {2, 2, 2}), near({28, 34}));
}

TEST(OnnxEinsum, AttentionCopiesNothing) {
  const auto part = [](const std::string& in, const std::string& w, const std::string& out) {
    return std::vector<Node>{
        onnx_node("MatMul", {in, w}, {out + "_flat"}),
        onnx_node("Reshape", {out + "_flat", "heads"}, {out}),
    };
  };
  std::vector<Node> nodes;
  for (const char* name : {"q", "k", "v"}) {
    for (const Node& node : part("x", std::string("w") + name, name)) nodes.push_back(node);
  }
  nodes.push_back(onnx_node("Einsum", {"q", "k"}, {"s"}, {{"equation", std::string("bihd,bjhd->bhij")}}));
  nodes.push_back(onnx_node("Softmax", {"s"}, {"p"}));
  nodes.push_back(onnx_node("Einsum", {"p", "v"}, {"c"}, {{"equation", std::string("bhij,bjhd->bihd")}}));
  nodes.push_back(onnx_node("Reshape", {"c", "rows"}, {"y"}));
  const onnx::Model model = onnx_model({2, 5, 8},
                                       {{"wq", onnx_reals({8, 8})},
                                        {"wk", onnx_reals({8, 8})},
                                        {"wv", onnx_reals({8, 8})},
                                        {"heads", onnx_integers({0, 0, 2, 4})},
                                        {"rows", onnx_integers({0, 0, 8})}},
                                       std::move(nodes));
  EXPECT_THAT(body(model), ElementsAre("linear", "linear", "linear", "matmul", "softmax", "matmul"));
  EXPECT_THAT(kinds(differentiate(import_model(model).forward)), Contains("sgd_update").Times(3));
}

TEST(OnnxLayout, NegativeStepsReverse) {
  const auto sliced = [](List starts, List ends, List steps) {
    return onnx_model({2, 5},
                      {{"starts", onnx_integers(std::move(starts))},
                       {"ends", onnx_integers(std::move(ends))},
                       {"axes", onnx_integers({1})},
                       {"steps", onnx_integers(std::move(steps))}},
                      {onnx_node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"})});
  };
  EXPECT_THAT(body(sliced({-1}, {-100}, {-1})), ElementsAre("flip"));
  EXPECT_THAT(computed(sliced({-1}, {-100}, {-1})), near({4, 3, 2, 1, 0, 9, 8, 7, 6, 5}));
  EXPECT_THAT(body(sliced({4}, {0}, {-3})), ElementsAre("slice", "flip"));
  EXPECT_THAT(computed(sliced({4}, {0}, {-3})), near({4, 1, 9, 6}));
}

TEST(OnnxNorms, LayerNormOfNewerOpsets) {
  const onnx::Model model =
      onnx_model({2, 5, 4},
                 {{"axes", onnx_integers({-1})},
                  {"eps", onnx_reals({}, {1e-6})},
                  {"scale", onnx_reals({4})},
                  {"shift", onnx_reals({4})}},
                 {onnx_node("ReduceMean", {"x", "axes"}, {"m"}), onnx_node("Sub", {"x", "m"}, {"c"}),
                  onnx_node("Mul", {"c", "c"}, {"s"}), onnx_node("ReduceMean", {"s", "axes"}, {"v"}),
                  onnx_node("Add", {"v", "eps"}, {"e"}), onnx_node("Sqrt", {"e"}, {"r"}),
                  onnx_node("Div", {"c", "r"}, {"n"}), onnx_node("Mul", {"n", "scale"}, {"w"}),
                  onnx_node("Add", {"w", "shift"}, {"y"})},
                 18);
  EXPECT_THAT(body(model), ElementsAre("layer_norm"));
}

/// As torch exports a GroupNorm of two groups of two channels.
onnx::Model group_norm(const Tensor& ones) {
  return flattened(
      {2, 4, 3, 3}, {{"groups", onnx_integers({0, 2, -1})}, {"w", onnx_reals({4})}, {"b", onnx_reals({4})}},
      {onnx_node("Reshape", {"x", "groups"}, {"r"}), onnx_node("Constant", {}, {"one"}, {{"value", ones}}),
       onnx_node("Constant", {}, {"zero"}, {{"value", onnx_reals({2}, {0, 0})}}),
       onnx_node("InstanceNormalization", {"r", "one", "zero"}, {"n"}, {{"epsilon", 1e-3}}),
       onnx_node("Shape", {"x"}, {"shape"}), onnx_node("Reshape", {"n", "shape"}, {"back"}),
       onnx_node("Unsqueeze", {"w", "axes"}, {"wu"}), onnx_node("Mul", {"back", "wu"}, {"m"}),
       onnx_node("Unsqueeze", {"b", "axes"}, {"bu"}), onnx_node("Add", {"m", "bu"}, {"y"})});
}

TEST(OnnxNorms, RecognisesGroupNorm) {
  onnx::Model model = group_norm(onnx_reals({2}, {1, 1}));
  model.initializers["axes"] = onnx_integers({1, 2});
  EXPECT_THAT(body(model), ElementsAre("group_norm"));
  const Graph graph = import_model(model).forward;
  EXPECT_EQ(parameter_count(graph), 8);
  EXPECT_EQ(op_of_kind(graph, "group_norm").attributes.at("groups"), Attribute(std::int64_t{2}));
  EXPECT_EQ(op_of_kind(graph, "group_norm").attributes.at("eps"), Attribute(1e-3));
  // Scaled by something else than ones it is what it says.
  onnx::Model other = group_norm(onnx_reals({2}, {1, 2}));
  other.initializers["axes"] = onnx_integers({1, 2});
  EXPECT_THAT(body(other), ElementsAre("group_norm", "mul", "add"));
}

// Exporters join initialisers of equal contents, zeros and ones among them.
TEST(OnnxNorms, SharedRunningStatisticsAreKeptApart) {
  const ImportedModel imported = import_model(
      flattened({2, 3, 2}, {{"w", onnx_reals({3})}, {"zeros", onnx_reals({3})}, {"ones", onnx_reals({3})}},
                {onnx_node("BatchNormalization", {"x", "w", "w", "zeros", "ones"}, {"a"}),
                 onnx_node("Relu", {"a"}, {"r"}),
                 onnx_node("BatchNormalization", {"r", "w", "zeros", "zeros", "ones"}, {"y"})}));
  EXPECT_THAT(imported.notices, Contains(HasSubstr("running statistics that the file shares")));
  EXPECT_EQ(parameter_count(imported.forward), 6);
  EXPECT_THAT(kinds(differentiate(imported.forward)), Contains("sgd_update").Times(2));
}

TEST(OnnxNorms, ConstantOnesAndZerosDoNotTrain) {
  const onnx::Model model =
      flattened({2, 2, 3}, {},
                {onnx_node("Constant", {}, {"one"}, {{"value", onnx_reals({2}, {1, 1})}}),
                 onnx_node("Constant", {}, {"zero"}, {{"value", onnx_reals({2}, {0, 0})}}),
                 onnx_node("InstanceNormalization", {"x", "one", "zero"}, {"y"})});
  EXPECT_EQ(parameter_count(import_model(model).forward), 0);
}

}  // namespace
}  // namespace poet
