// Elements written and read at positions, the largest ones, and guards against rows that a mask empties.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poet/base/numbers.h"
#include "poet/frontend/onnx/import.h"
#include "tests/support/graph_text.h"
#include "tests/support/input_error.h"
#include "tests/support/onnx_models.h"
#include "tests/support/onnx_training.h"

namespace poet {
namespace {

using test::expect_true_onnx_gradients;
using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_output;
using test::onnx_reals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

onnx::Tensor in_shape(onnx::Tensor tensor, Shape shape) {
  tensor.shape = std::move(shape);
  return tensor;
}

TEST(OnnxPositions, RowsAreReplaced) {
  const onnx::Model model = onnx_model(
      {3, 2}, {{"at", in_shape(onnx_integers({2, -3}), {2, 1})}, {"rows", onnx_reals({2, 2}, {7, 8, 9, 10})}},
      {onnx_node("ScatterND", {"x", "at", "rows"}, {"y"})});
  EXPECT_THAT(onnx_output(model, {{"x", {1, 2, 3, 4, 5, 6}}}), ElementsAre(9, 10, 3, 4, 7, 8));
  expect_true_onnx_gradients(model);
}

TEST(OnnxPositions, ElementsAreReplaced) {
  const onnx::Model model = onnx_model(
      {2, 3}, {{"at", in_shape(onnx_integers({1, -1}), {2, 1})}, {"new", onnx_reals({2, 1}, {7, 8})}},
      {onnx_node("ScatterElements", {"x", "at", "new"}, {"y"}, {{"axis", std::int64_t{1}}})});
  EXPECT_THAT(onnx_output(model, {{"x", {1, 2, 3, 4, 5, 6}}}), ElementsAre(1, 7, 3, 4, 5, 8));
}

TEST(OnnxPositions, TuplesAreRead) {
  const onnx::Model model =
      onnx_model({2, 3}, {{"at", in_shape(onnx_integers({0, 2, 1, -3}), {2, 2})}, {"w", onnx_reals({2})}},
                 {onnx_node("GatherND", {"x", "at"}, {"g"}), onnx_node("Mul", {"g", "w"}, {"y"})});
  EXPECT_THAT(onnx_output(model, {{"x", {1, 2, 3, 4, 5, 6}}, {"w", {1, 1}}}), ElementsAre(3, 4));
  expect_true_onnx_gradients(model);
}

onnx::Model largest(std::int64_t k, std::int64_t from_above) {
  onnx::Model model = onnx_model({2, 3}, {{"k", onnx_integers({k})}},
                                 {onnx_node("TopK", {"x", "k"}, {"y"}, {{"largest", from_above}})});
  model.nodes[0].outputs.push_back("places");
  return model;
}

TEST(OnnxPositions, TheLargestAndTheSmallest) {
  const test::OnnxGiven given = {{"x", {1, 3, 2, 6, 4, 5}}};
  EXPECT_THAT(onnx_output(largest(2, 1), given), ElementsAre(3, 2, 6, 5));
  EXPECT_THAT(onnx_output(largest(2, 0), given), ElementsAre(1, 2, 4, 5));
  // What is taken is taken, also where only infinite numbers are left.
  EXPECT_THAT(onnx_output(largest(2, 1), {{"x", {7, -kInfinity, -kInfinity, -kInfinity, 8, -kInfinity}}}),
              ElementsAre(7, -kInfinity, 8, -kInfinity));
  EXPECT_THAT(test::input_error([] { (void)import_model(largest(4, 1)); }), HasSubstr("no more than 3"));
}

/// Where(IsNaN(p), 0, p) of a softmax of x W plus masks.
ImportedModel guarded(const std::vector<std::vector<double>>& masks, std::int64_t axis = -1) {
  std::map<std::string, onnx::Tensor> stored = {{"w", onnx_reals({2, 2})}, {"zero", onnx_reals({}, {0})}};
  std::vector<onnx::Node> nodes = {onnx_node("MatMul", {"x", "w"}, {"s0"})};
  for (std::size_t i = 0; i < masks.size(); ++i) {
    const std::string at = std::to_string(i), next = std::to_string(i + 1);
    stored["m" + at] = onnx_reals({2, 2}, masks[i]);
    stored["m" + at].patterned = true;
    nodes.push_back(onnx_node("Add", {"s" + at, "m" + at}, {"s" + next}));
  }
  nodes.push_back(onnx_node("Softmax", {"s" + std::to_string(masks.size())}, {"p"}, {{"axis", axis}}));
  nodes.push_back(onnx_node("IsNaN", {"p"}, {"none"}));
  nodes.push_back(onnx_node("Where", {"none", "zero", "p"}, {"y"}));
  ImportOptions options;
  options.loss = Loss::mean_squared_error;
  return import_model(onnx_model({2, 2}, stored, nodes), options);
}

// The product and the bias after it are one layer.
TEST(OnnxPositions, TheGuardLooksBehindALinearLayer) {
  ImportOptions options;
  options.loss = Loss::mean_squared_error;
  const onnx::Model model =
      onnx_model({2, 2}, {{"w", onnx_reals({2, 3})}, {"b", onnx_reals({3})}, {"zero", onnx_reals({}, {0})}},
                 {onnx_node("MatMul", {"x", "w"}, {"s"}), onnx_node("Add", {"s", "b"}, {"z"}),
                  onnx_node("Softmax", {"z"}, {"p"}), onnx_node("IsNaN", {"p"}, {"none"}),
                  onnx_node("Where", {"none", "zero", "p"}, {"y"})});
  EXPECT_THAT(test::kinds(import_model(model, options).forward), Not(Contains("where")));
}

// Of a row that is masked out as a whole, probabilities and gradients are 0.
TEST(OnnxPositions, TheGuardOfASoftmaxKeepsGradientsFinite) {
  const double none = -kInfinity;
  const onnx::Model model = onnx_model(
      {2, 3}, {{"w", onnx_reals({3, 3})}, {"zero", onnx_reals({}, {0})}},
      {onnx_node("MatMul", {"x", "w"}, {"s"}),
       onnx_node("Constant", {}, {"m"}, {{"value", onnx_reals({2, 3}, {none, none, none, 0, none, 0})}}),
       onnx_node("Add", {"s", "m"}, {"z"}), onnx_node("Softmax", {"z"}, {"p"}, {{"axis", std::int64_t{-1}}}),
       onnx_node("IsNaN", {"p"}, {"none"}), onnx_node("Where", {"none", "zero", "p"}, {"y"})});
  const test::OnnxNumbers y = onnx_output(model);
  EXPECT_THAT(test::OnnxNumbers(y.begin(), y.begin() + 3), ElementsAre(0, 0, 0));
  EXPECT_NEAR(y[3] + y[5], 1, 1e-12);
  test::expect_true_onnx_gradients(model);
}

TEST(OnnxPositions, TheGuardOfASoftmaxGoesWhereNoRowIsMaskedOut) {
  const auto kept = Contains("where");
  EXPECT_THAT(test::kinds(guarded({}).forward), Not(kept));
  EXPECT_THAT(test::kinds(guarded({{0, -kInfinity, 0, 0}}).forward), Not(kept));
  EXPECT_THAT(test::kinds(guarded({{-kInfinity, -kInfinity, 0, 0}}).forward), kept);
  EXPECT_THAT(test::kinds(guarded({{0, -kInfinity, 0, 0}, {-kInfinity, 0, 0, 0}}).forward), kept);
  EXPECT_THAT(test::kinds(guarded({{0, -kInfinity, 0, -kInfinity}}, 0).forward), kept);
}

}  // namespace
}  // namespace poet
