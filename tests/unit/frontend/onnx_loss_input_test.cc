// What the loss of an imported network reads, and losses that the network computes itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "poet/frontend/onnx/import.h"
#include "tests/support/graph_text.h"
#include "tests/support/input_error.h"
#include "tests/support/onnx_models.h"
#include "tests/support/onnx_training.h"

namespace poet {
namespace {

using test::input_error;
using test::kinds;
using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_reals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kLast = -1;

/// x W, then these.
onnx::Model classifier(std::vector<onnx::Node> after) {
  after.insert(after.begin(), onnx_node("MatMul", {"x", "w"}, {"h"}));
  return onnx_model({4, 3},
                    {{"w", onnx_reals({3, 5})},
                     {"one", onnx_integers({1})},
                     {"flat", onnx_integers({4, 5})},
                     {"turned", onnx_integers({5, 4})},
                     {"low", onnx_reals({}, {1e-7})},
                     {"high", onnx_reals({}, {1.0})}},
                    std::move(after));
}

onnx::Node softmax(const std::string& from = "h") {
  return onnx_node("Softmax", {from}, {"p"}, {{"axis", kLast}});
}

std::vector<std::string> with_logits() { return {"input", "linear", "input", "softmax_cross_entropy"}; }

// Cross-entropy of probabilities would be the loss of another network.
TEST(OnnxLossInput, ASoftmaxIsTakenOffBehindWhatKeepsIt) {
  const std::vector<std::vector<onnx::Node>> endings = {
      {softmax()},
      {softmax(), onnx_node("Identity", {"p"}, {"y"})},
      {softmax(), onnx_node("Clip", {"p", "low", "high"}, {"y"})},
      {softmax(), onnx_node("Cast", {"p"}, {"y"}, {{"to", std::int64_t{1}}})},
      {softmax(), onnx_node("Unsqueeze", {"p", "one"}, {"u"}), onnx_node("Squeeze", {"u", "one"}, {"y"})},
      {softmax(), onnx_node("Clip", {"p", "low", "high"}, {"c"}), onnx_node("Reshape", {"c", "flat"}, {"y"})},
      {onnx_node("Exp", {"h"}, {"e"}),
       onnx_node("ReduceSum", {"e", "one"}, {"s"}, {{"keepdims", std::int64_t{1}}}),
       onnx_node("Div", {"e", "s"}, {"y"})},
      {onnx_node("ReduceMax", {"h"}, {"m"}, {{"axes", std::vector<std::int64_t>{1}}}),
       onnx_node("Sub", {"h", "m"}, {"d"}), onnx_node("Exp", {"d"}, {"e"}),
       onnx_node("ReduceSum", {"e", "one"}, {"s"}), onnx_node("Div", {"e", "s"}, {"y"})},
      {onnx_node("Exp", {"h"}, {"e"}), onnx_node("Exp", {"h"}, {"again"}),
       onnx_node("ReduceSum", {"again", "one"}, {"s"}), onnx_node("Div", {"e", "s"}, {"y"})},
      {softmax(), onnx_node("CastLike", {"low", "p"}, {"bound"}), onnx_node("Clip", {"p", "bound"}, {"y"})},
  };
  for (const std::vector<onnx::Node>& ending : endings) {
    SCOPED_TRACE(ending.back().op_type);
    const ImportedModel model = import_model(classifier(ending));
    EXPECT_EQ(kinds(model.forward), with_logits());
    EXPECT_THAT(model.notices, Contains(HasSubstr("was taken off")));
  }
}

// Of logarithms of probabilities, too, the classes are along the softmax's axis.
TEST(OnnxLossInput, ClassesAreAlongTheAxisOfTheSoftmax) {
  const auto targets = [](std::vector<onnx::Node> after, std::vector<std::int64_t> reshaped = {2, 4, 9}) {
    after.insert(after.begin(), onnx_node("Mul", {"x", "w"}, {"h"}));
    const onnx::Model model = onnx_model({2, 4, 3, 3},
                                         {{"w", onnx_reals({4, 1, 1})},
                                          {"low", onnx_reals({}, {-100.0})},
                                          {"to", onnx_integers(std::move(reshaped))}},
                                         std::move(after));
    const Graph forward = import_model(model).forward;
    return test::value_named(forward, "targets").shape;
  };
  const auto normalised = [](const char* op_type, std::int64_t axis) {
    return onnx_node(op_type, {"h"}, {"p"}, {{"axis", axis}});
  };
  const onnx::Node cast = onnx_node("Cast", {"p"}, {"y"}, {{"to", std::int64_t{1}}});
  const onnx::Node reshape = onnx_node("Reshape", {"p", "to"}, {"y"});
  const Shape pixels = {18}, last = {24};
  for (const char* op_type : {"Softmax", "LogSoftmax"}) {
    EXPECT_EQ(targets({normalised(op_type, 1), cast}), pixels) << op_type;
    EXPECT_EQ(targets({normalised(op_type, 3), cast}), last) << op_type;
    EXPECT_EQ(targets({normalised(op_type, 1), reshape}), pixels) << op_type;
    EXPECT_EQ(targets({normalised(op_type, 3), reshape}, {2, 4, 1, 3, 3}), last) << op_type;
    EXPECT_THAT(input_error([&] {
                  (void)targets({normalised(op_type, 1), reshape}, {8, 9});
                }),
                HasSubstr("normalises axis 1"))
        << op_type;
  }
  EXPECT_EQ(targets({normalised("LogSoftmax", 1), onnx_node("Clip", {"p", "low"}, {"y"})}), pixels);
  EXPECT_EQ(targets({normalised("Softmax", 1), onnx_node("Log", {"p"}, {"l"}),
                     onnx_node("Identity", {"l"}, {"y"})}),
            pixels);
}

TEST(OnnxLossInput, ASoftmaxWhoseRowsAreNotTheOutputsIsRefused) {
  EXPECT_THAT(input_error([] {
                (void)import_model(classifier({softmax(), onnx_node("Reshape", {"p", "turned"}, {"y"})}));
              }),
              AllOf(HasSubstr("(Softmax)"), HasSubstr("`loss_output`")));
}

// Less the largest of each column, rows are no softmax of the same numbers.
TEST(OnnxLossInput, OnlyTheLargestOfTheSameRowsChangesNothing) {
  const ImportedModel model = import_model(
      classifier({onnx_node("ReduceMax", {"h"}, {"m"}, {{"axes", std::vector<std::int64_t>{0}}}),
                  onnx_node("Sub", {"h", "m"}, {"d"}), onnx_node("Exp", {"d"}, {"e"}),
                  onnx_node("ReduceSum", {"e", "one"}, {"s"}), onnx_node("Div", {"e", "s"}, {"y"})}));
  EXPECT_THAT(kinds(model.forward), Contains("sub"));
}

TEST(OnnxLossInput, AClipThatCutsProbabilitiesOffIsRefused) {
  onnx::Model model = classifier({softmax(), onnx_node("Clip", {"p", "low", "high"}, {"y"})});
  model.initializers["low"] = onnx_reals({}, {0.2});
  EXPECT_THAT(input_error([&] { (void)import_model(model); }), HasSubstr("cut off by a Clip"));
}

TEST(OnnxLossInput, ASigmoidNeedsALossOfItsOwn) {
  const onnx::Model model =
      classifier({onnx_node("Sigmoid", {"h"}, {"p"}), onnx_node("Identity", {"p"}, {"y"})});
  EXPECT_THAT(input_error([&] { (void)import_model(model); }), AllOf(HasSubstr("Sigmoid"), HasSubstr("bce")));
  ImportOptions options;
  options.loss = Loss::binary_cross_entropy_with_logits;
  EXPECT_THAT(kinds(import_model(model, options).forward), Not(Contains("sigmoid")));
  options.loss = Loss::binary_cross_entropy;
  EXPECT_THAT(kinds(import_model(model, options).forward), Contains("sigmoid"));
}

ImportOptions own_loss(std::optional<std::string> outputs = {}) {
  ImportOptions options;
  options.loss = Loss::none;
  options.loss_output = std::move(outputs);
  return options;
}

/// What the network says its loss is.
double loss_of(const onnx::Model& model, const ImportOptions& options, const test::OnnxGiven& given) {
  const ImportedModel imported = import_model(model, options);
  reference::Interpreter run(imported.forward);
  test::set_by_name(run, imported.forward, test::onnx_data(imported, model, given));
  run.run();
  return run.get(test::op_of_kind(imported.forward, "mean_loss").outputs.front()).data.front();
}

// By hand: scores (1, 3) and (2, 0) of two samples, targets 1 and 0.
TEST(OnnxLossInput, TheNetworksOwnCrossEntropy) {
  const double first = std::log1p(std::exp(1.0 - 3.0)), second = std::log1p(std::exp(0.0 - 2.0));
  const auto model = [](std::map<std::string, onnx::AttributeValue> attributes, bool weighted,
                        std::vector<std::int64_t> targets) {
    std::vector<std::string> inputs = {"x", "t"};
    if (weighted) inputs.emplace_back("c");
    return onnx_model({2, 2},
                      {{"t", onnx_integers(std::move(targets))},
                       {"c", onnx_reals({2}, {0.25, 0.75})},
                       {"unused", onnx_reals({2})}},
                      {onnx_node("Mul", {"x", "unused"}, {"z"}),
                       onnx_node("SoftmaxCrossEntropyLoss", inputs, {"y"}, std::move(attributes))});
  };
  const test::OnnxGiven given = {{"x", {1, 3, 2, 0}}};
  EXPECT_NEAR(loss_of(model({}, false, {1, 0}), own_loss(), given), (first + second) / 2, 1e-9);
  EXPECT_NEAR(loss_of(model({{"reduction", std::string("sum")}}, false, {1, 0}), own_loss(), given),
              first + second, 1e-9);
  EXPECT_NEAR(loss_of(model({}, true, {1, 0}), own_loss(), given), 0.75 * first + 0.25 * second, 1e-9);
  EXPECT_NEAR(loss_of(model({{"ignore_index", std::int64_t{-1}}}, false, {1, -1}), own_loss(), given), first,
              1e-9);
  // What is ignored may be impossible.
  const test::OnnxGiven masked = {{"x", {1, 3, -std::numeric_limits<double>::infinity(), 0}}};
  EXPECT_NEAR(loss_of(model({{"ignore_index", std::int64_t{-1}}}, false, {1, -1}), own_loss(), masked), first,
              1e-9);
}

TEST(OnnxLossInput, SeveralLossesAreSummed) {
  onnx::Model model =
      onnx_model({2, 3}, {{"w", onnx_reals({3, 3})}},
                 {onnx_node("MatMul", {"x", "w"}, {"h"}), onnx_node("ReduceMean", {"h"}, {"a"}),
                  onnx_node("ReduceMean", {"w"}, {"b"}, {{"keepdims", std::int64_t{0}}})});
  model.outputs = {"h", "a", "b"};
  EXPECT_THAT(kinds(import_model(model, own_loss("a,b")).forward), Contains("mean_loss"));
  EXPECT_THAT(input_error([&] { (void)import_model(model, own_loss()); }),
              HasSubstr("outputs of one number"));
  EXPECT_THAT(input_error([&] { (void)import_model(model, own_loss("a,c")); }),
              HasSubstr("\"c\" is not one"));
}

// A file for one sample may divide the sum of its losses by 1.
TEST(OnnxLossInput, AnotherBatchThanTheFilesIsSaid) {
  onnx::Model model =
      onnx_model({1, 3}, {{"w", onnx_reals({3, 3})}},
                 {onnx_node("MatMul", {"x", "w"}, {"h"}), onnx_node("ReduceSum", {"h"}, {"a"})});
  ImportOptions options = own_loss();
  EXPECT_THAT(import_model(model, options).notices, Not(Contains(HasSubstr("is for batches of"))));
  options.batch_size = 4;
  EXPECT_THAT(import_model(model, options).notices, Contains(HasSubstr("the file is for batches of 1")));
  model.inputs.front().shape->front().size.reset();
  EXPECT_THAT(import_model(model, options).notices, Not(Contains(HasSubstr("is for batches of"))));
}

// An input that the user pins is a constant that shape arithmetic may read.
TEST(OnnxLossInput, PinnedInputs) {
  onnx::Model model =
      onnx_model({2, 3}, {{"w", onnx_reals({3, 4})}},
                 {onnx_node("Add", {"x", "state"}, {"s"}), onnx_node("MatMul", {"s", "w"}, {"y"})});
  onnx::Declaration state = model.inputs.front();
  state.name = "state";
  state.shape->front().size = 1;
  state.shape->front().symbol.clear();
  model.inputs.push_back(state);
  ImportOptions options;
  options.batch_size = 2;
  options.input_values = {{"state", 0.5}};
  options.input_shapes = {{"state", {1, 3}}};
  const ImportedModel pinned = import_model(model, options);
  EXPECT_EQ(test::value_named(pinned.forward, "state").persistence, Persistence::optimizer_state);
  EXPECT_EQ(pinned.contents.at("state").fill, 0.5);
  options.input_values.clear();
  EXPECT_THAT(import_model(model, options).notices,
              Contains(AllOf(HasSubstr("'state'"), HasSubstr("cannot feed"))));
  options.input_values = {{"stat", 0.5}};
  EXPECT_THAT(input_error([&] { (void)import_model(model, options); }), HasSubstr("no input 'stat'"));
}

}  // namespace
}  // namespace poet
