// What changed in opsets 18 to 24: read by the new rule, or refused, and never by the old one. Results
// against numbers by hand, gradients against differences.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "poet/cost/tabulate.h"
#include "tests/support/input_error.h"
#include "tests/support/onnx_models.h"
#include "tests/support/onnx_training.h"

namespace poet::newest_opsets_test {
namespace {

using onnx::Node;
using test::expect_true_onnx_gradients;
using test::input_error;
using test::kinds;
using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_output;
using test::onnx_reals;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

using Settings = std::map<std::string, onnx::AttributeValue>;
using Tensors = std::map<std::string, onnx::Tensor>;
using Numbers = std::vector<double>;
using List = std::vector<std::int64_t>;

auto results_near(const Numbers& wanted) { return Pointwise(DoubleNear(1e-9), wanted); }

Numbers numbers_to(std::int64_t n) {
  Numbers out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(static_cast<double>(i));
  return out;
}

/// x plus a weight of its shape, called z, so that a gradient goes through the nodes; they write y last.
onnx::Model trained(const Shape& x, Tensors tensors, std::vector<Node> nodes, std::int64_t opset) {
  tensors["w"] = onnx_reals(x, Numbers(static_cast<std::size_t>(element_count(x)), 0.0));
  tensors["w"].reals[0] = 0.5;
  nodes.insert(nodes.begin(), onnx_node("Add", {"x", "w"}, {"z"}));
  return onnx_model(x, std::move(tensors), std::move(nodes), opset);
}

std::string error(const onnx::Model& model) {
  return input_error([&] { (void)test::import_as_numbers(model); });
}

TEST(OnnxNewestOpsets, ThoseBeyondTheRulesAreSaid) {
  const auto notices = [](std::int64_t opset) {
    return test::import_as_numbers(trained({2, 1}, {}, {onnx_node("Relu", {"z"}, {"y"})}, opset)).notices;
  };
  EXPECT_THAT(notices(25),
              Contains(HasSubstr("the file is of opset 25; its operators are read by the rules")));
  EXPECT_THAT(notices(24), ::testing::Not(Contains(HasSubstr("opset"))));
}

TEST(OnnxNewestOpsets, NumbersThatBecomeFloat32AreSaid) {
  Tensors tensors = {{"v", onnx_reals({2, 1}, {1, 2})}};
  tensors["v"].type_name = "float16";
  const onnx::Model model = trained({2, 1}, tensors,
                                    {onnx_node("Cast", {"z"}, {"half"}, {{"to", std::int64_t{10}}}),
                                     onnx_node("Add", {"half", "v"}, {"sum"}),
                                     onnx_node("Cast", {"sum"}, {"y"}, {{"to", std::int64_t{1}}})},
                                    18);
  const std::vector<std::string> notices = test::import_as_numbers(model).notices;
  EXPECT_THAT(notices, Contains("a Cast to float16 is taken as float32: nothing is rounded"));
  EXPECT_THAT(notices, Contains("float16 weights are taken as float32"));
}

TEST(OnnxNewestActivations, GeluSwishMish) {
  const auto f = [](const char* op, double x, const Settings& settings, std::int64_t opset) {
    const onnx::Model model = trained({2, 1}, {}, {onnx_node(op, {"z"}, {"y"}, settings)}, opset);
    expect_true_onnx_gradients(model, {{"x", {x, -x}}});
    return onnx_output(model, {{"x", {0, x}}}).at(1);
  };
  const auto by_tanh = [](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  };
  for (const double x : {-2.0, -0.3, 1.1}) {
    EXPECT_NEAR(f("Gelu", x, {{"approximate", std::string("tanh")}}, 20), by_tanh(x), 1e-12);
    EXPECT_NEAR(f("Gelu", x, {}, 20), 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)), 1e-12);
    EXPECT_NEAR(f("Swish", x, {}, 24), x / (1 + std::exp(-x)), 1e-12);
    EXPECT_NEAR(f("Swish", x, {{"alpha", 1.5}}, 24), x / (1 + std::exp(-1.5 * x)), 1e-12);
    EXPECT_NEAR(f("Mish", x, {}, 18), x * std::tanh(std::log1p(std::exp(x))), 1e-12);
    EXPECT_NEAR(f("HardSwish", x, {}, 22), x * std::clamp(x / 6 + 0.5, 0.0, 1.0), 1e-12);
  }
  EXPECT_THAT(
      error(trained({2, 1}, {}, {onnx_node("Gelu", {"z"}, {"y"}, {{"approximate", std::string("no")}})}, 20)),
      HasSubstr("attribute 'approximate': 'no' is not known"));
}

onnx::Model group_norm(std::int64_t opset, Numbers scale, Numbers shift) {
  const auto n = static_cast<std::int64_t>(scale.size());
  return trained({1, 4, 2},
                 {{"scale", onnx_reals({n}, std::move(scale))}, {"shift", onnx_reals({n}, std::move(shift))}},
                 {onnx_node("GroupNormalization", {"z", "scale", "shift"}, {"y"},
                            {{"num_groups", std::int64_t{2}}, {"epsilon", 1e-3}})},
                 opset);
}

TEST(OnnxNewestNorms, GroupNormHasANumberPerGroupThenPerChannel) {
  const Numbers x = {0, 2, 1, 5, 3, 3, 4, 1};
  const Numbers of_channels = onnx_output(group_norm(21, {2, 2, 3, 3}, {1, 1, -1, -1}), {{"x", x}});
  const onnx::Model of_groups = group_norm(18, {2, 3}, {1, -1});
  EXPECT_THAT(onnx_output(of_groups, {{"x", x}}), results_near(of_channels));
  // z has 0.5 more in its first place: mean 2.125.
  const double variance = (1.625 * 1.625 + 0.125 * 0.125 + 1.125 * 1.125 + 2.875 * 2.875) / 4;
  EXPECT_NEAR(of_channels[1], 2 * -0.125 / std::sqrt(variance + 1e-3) + 1, 1e-9);
  EXPECT_EQ(parameter_count(test::import_as_numbers(of_groups).forward), 8 + 2 + 2);
  expect_true_onnx_gradients(of_groups, {{"x", x}});
  EXPECT_THAT(error(group_norm(21, {2, 3}, {1, -1})), HasSubstr("one number per channel"));
  EXPECT_THAT(error(group_norm(18, {2, 3, 1}, {1, -1, 1})), HasSubstr("per group before opset 21"));
}

TEST(OnnxNewestSplit, TheLastPartMayBeSmaller) {
  const auto model = [](std::int64_t opset, std::int64_t stated) {
    Settings settings = {{"axis", std::int64_t{1}}};
    if (stated > 0) settings["num_outputs"] = stated;
    return trained({1, 5}, {},
                   {onnx_node("Split", {"z"}, {"a", "b"}, settings), onnx_node("Neg", {"a"}, {"n"}),
                    onnx_node("Concat", {"b", "n"}, {"y"}, {{"axis", std::int64_t{1}}})},
                   opset);
  };
  EXPECT_THAT(onnx_output(model(18, 2), {{"x", {0, 1, 2, 3, 4}}}), results_near({3, 4, -0.5, -1, -2}));
  expect_true_onnx_gradients(model(18, 2));
  EXPECT_THAT(error(model(18, 3)), HasSubstr("attribute 'num_outputs': is not the number of outputs, 2"));
  EXPECT_THAT(error(model(17, 0)), HasSubstr("5 elements do not make 2 equal parts"));
}

TEST(OnnxNewestReductions, AxesAreAnInput) {
  const auto model = [](const char* op, List axes, std::int64_t noop) {
    return trained({1, 2, 3}, {{"axes", onnx_integers(std::move(axes))}},
                   {onnx_node(op, {"z", "axes"}, {"y"}, {{"noop_with_empty_axes", noop}})}, 18);
  };
  EXPECT_THAT(onnx_output(model("ReduceMean", {-1}, 0), {{"x", numbers_to(6)}}), results_near({3.5 / 3, 4}));
  EXPECT_THAT(onnx_output(model("ReduceMean", {}, 0), {{"x", numbers_to(6)}}), results_near({15.5 / 6}));
  EXPECT_THAT(onnx_output(model("ReduceMean", {}, 1), {{"x", numbers_to(6)}}),
              results_near({0.5, 1, 2, 3, 4, 5}));
  for (const char* op : {"ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare"})
    expect_true_onnx_gradients(model(op, {2}, 0));
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"})
    EXPECT_THAT(error(model(op, {}, 1)), HasSubstr("attribute 'noop_with_empty_axes'"));
}

TEST(OnnxNewestResize, HalfPixelsAreSymmetricWhereNothingIsCutOff) {
  const auto model = [](const char* coordinates, double scale) {
    return trained({1, 1, 1, 4}, {{"s", onnx_reals({1}, {scale})}},
                   {onnx_node("Resize", {"z", "", "s"}, {"y"},
                              {{"mode", std::string("linear")},
                               {"axes", List{3}},
                               {"coordinate_transformation_mode", std::string(coordinates)}})},
                   19);
  };
  const onnx::Model symmetric = model("half_pixel_symmetric", 1.5);
  EXPECT_THAT(onnx_output(symmetric), results_near(onnx_output(model("half_pixel", 1.5))));
  expect_true_onnx_gradients(symmetric);
  EXPECT_THAT(error(model("half_pixel_symmetric", 1.3)),
              HasSubstr("'half_pixel_symmetric' is not supported"));
}

TEST(OnnxNewestLists, TrianglesMeansAndTypes) {
  const onnx::Model lower =
      trained({2, 2, 3}, {{"k", onnx_integers({1})}},
              {onnx_node("Trilu", {"z", "k"}, {"y"}, {{"upper", std::int64_t{0}}})}, 18);
  EXPECT_THAT(onnx_output(lower, {{"x", numbers_to(12)}}),
              results_near({0.5, 1, 0, 3, 4, 5, 6, 7, 0, 9, 10, 11}));
  expect_true_onnx_gradients(lower);
  const onnx::Model upper = trained({2, 2}, {}, {onnx_node("Trilu", {"z"}, {"y"})}, 18);
  EXPECT_THAT(onnx_output(upper, {{"x", numbers_to(4)}}), results_near({0.5, 1, 0, 3}));
  const onnx::Model mean =
      trained({2, 2}, {{"b", onnx_reals({2}, {3, 6})}}, {onnx_node("Mean", {"z", "b", "x"}, {"y"})}, 13);
  EXPECT_THAT(onnx_output(mean, {{"x", numbers_to(4)}}), results_near({3.5 / 3, 8.0 / 3, 7.0 / 3, 12.0 / 3}));
  expect_true_onnx_gradients(mean);
  // A number that is cast to the type of x, then a comparison cast to it.
  const onnx::Model cast =
      trained({1, 3}, {{"one", onnx_integers({1})}},
              {onnx_node("CastLike", {"one", "z"}, {"c"}), onnx_node("Greater", {"z", "c"}, {"g"}),
               onnx_node("CastLike", {"g", "z"}, {"t"}), onnx_node("Mul", {"z", "t"}, {"y"})},
              18);
  EXPECT_THAT(onnx_output(cast, {{"x", {1, 1, 2}}}), results_near({1.5, 0, 2}));
}

/// Parts of z along axis 1 as a list, and what makes y of it.
onnx::Model list_of(std::vector<std::string> inputs, Settings settings, std::vector<Node> nodes) {
  onnx::Tensor two = onnx_integers({2});
  two.shape = {};
  nodes.insert(nodes.begin(), onnx_node("SplitToSequence", std::move(inputs), {"list"}, std::move(settings)));
  return trained({2, 3, 2},
                 {{"two", two},
                  {"sizes", onnx_integers({1, 2})},
                  {"first", onnx_integers({0})},
                  {"last", onnx_integers({-1})},
                  {"third", onnx_integers({3})}},
                 std::move(nodes), 18);
}

TEST(OnnxNewestLists, SplitTakenApartAndJoined) {
  const Settings axis = {{"axis", std::int64_t{1}}};
  const Node join = onnx_node("ConcatFromSequence", {"turned"}, {"y"}, axis);
  const std::vector<Node> turned = {onnx_node("SequenceAt", {"list", "last"}, {"a"}),
                                    onnx_node("SequenceAt", {"list", "first"}, {"b"}),
                                    onnx_node("SequenceConstruct", {"a", "b"}, {"turned"}), join};
  const onnx::Model by_two = list_of({"z", "two"}, axis, turned);
  const onnx::Model by_sizes = list_of({"z", "sizes"}, axis, turned);
  const test::OnnxGiven x = {{"x", numbers_to(12)}};
  EXPECT_THAT(onnx_output(by_two, x), results_near({4, 5, 0.5, 1, 2, 3, 10, 11, 6, 7, 8, 9}));
  EXPECT_THAT(onnx_output(by_sizes, x), results_near({2, 3, 4, 5, 0.5, 1, 8, 9, 10, 11, 6, 7}));
  EXPECT_THAT(kinds(test::import_as_numbers(by_two).forward), Contains("split"));
  expect_true_onnx_gradients(by_two);
  // One row each, without its axis; stacked in another order, as `torch.stack(list)` is.
  Settings rows = axis;
  rows["keepdims"] = std::int64_t{0};
  const onnx::Model stacked = list_of(
      {"z"}, rows,
      {onnx_node("SequenceAt", {"list", "first"}, {"a"}),
       onnx_node("SequenceErase", {"list", "first"}, {"rest"}), onnx_node("SequenceEmpty", {}, {"none"}),
       onnx_node("SequenceInsert", {"none", "a"}, {"one"}), onnx_node("SequenceAt", {"rest", "last"}, {"c"}),
       onnx_node("SequenceInsert", {"one", "c", "first"}, {"two_of"}),
       onnx_node("Identity", {"two_of"}, {"same"}),
       onnx_node("ConcatFromSequence", {"same"}, {"y"},
                 {{"axis", std::int64_t{-1}}, {"new_axis", std::int64_t{1}}})});
  EXPECT_THAT(onnx_output(stacked, x), results_near({4, 0.5, 5, 1, 10, 6, 11, 7}));
  expect_true_onnx_gradients(stacked);
}

TEST(OnnxNewestLists, TheirLengthIsKnown) {
  const onnx::Model model = list_of(
      {"z"}, {{"axis", std::int64_t{1}}},
      {onnx_node("SequenceLength", {"list"}, {"n"}),
       onnx_node("Cast", {"n"}, {"f"}, {{"to", std::int64_t{1}}}), onnx_node("Mul", {"z", "f"}, {"y"})});
  EXPECT_THAT(onnx_output(model, {{"x", numbers_to(12)}}).at(11), 33);
  EXPECT_THAT(kinds(test::import_as_numbers(model).forward), Contains("scale"));
  const auto taken = [](const char* position) {
    return list_of({"z"}, {{"axis", std::int64_t{1}}}, {onnx_node("SequenceAt", {"list", position}, {"y"})});
  };
  EXPECT_THAT(error(taken("third")), HasSubstr("3 is not in [-3, 3)"));
  EXPECT_THAT(error(list_of({"z"}, {},
                            {onnx_node("SequenceEmpty", {}, {"none"}),
                             onnx_node("ConcatFromSequence", {"none"}, {"y"}, {{"axis", std::int64_t{0}}})})),
              HasSubstr("joins an empty sequence"));
  EXPECT_THAT(
      error(trained({2, 2}, {{"p", onnx_integers({0})}}, {onnx_node("SequenceAt", {"z", "p"}, {"y"})}, 18)),
      HasSubstr("input 0 ('z') is no known sequence"));
}

}  // namespace
}  // namespace poet::newest_opsets_test
