// Recurrent layers of small models by hand, as PyTorch exports them and otherwise.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/onnx/import.h"
#include "tests/support/graph_text.h"
#include "tests/support/onnx_models.h"

namespace poet {
namespace {

using onnx::Node;
using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_reals;
using test::op_of_kind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using List = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;
using RecurrentTensors = std::map<std::string, onnx::Tensor>;

/// The ops between the inputs and the loss.
std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> lines;
  for (const Op& op : graph.ops) {
    if (op.kind != "input" && op.kind != "softmax_cross_entropy") lines.push_back(test::text(graph, op));
  }
  return lines;
}

Shape shape_of(const Graph& graph, const std::string& name) {
  return graph.values[test::find_value(graph, name)].shape;
}

/// RecurrentTensors "w", "r", "b" for three inputs and five units.
RecurrentTensors weights(std::int64_t gates, std::int64_t directions = 1) {
  return {{"w", onnx_reals({directions, gates * 5, 3})},
          {"r", onnx_reals({directions, gates * 5, 5})},
          {"b", onnx_reals({directions, gates * 10})}};
}

void add(RecurrentTensors& to, const RecurrentTensors& more) { to.insert(more.begin(), more.end()); }

/// PyTorch's classifier with batch_first: the batch is transposed inside and out again, the initial states
/// are zeros of a shape that it computes, the last step is taken.
onnx::Model batch_first_classifier() {
  RecurrentTensors all = weights(4);
  add(all, {{"fc.weight", onnx_reals({7, 5})},
            {"fc.bias", onnx_reals({7})},
            {"zero", onnx_integers({0})},
            {"one", onnx_integers({1})},
            {"five", onnx_integers({5})},
            {"last", onnx_integers({-1})}});
  all["last"].shape = {};
  return onnx_model(
      {-1, 4, 3}, std::move(all),
      {onnx_node("Shape", {"x"}, {"s"}), onnx_node("Gather", {"s", "zero"}, {"n"}),
       onnx_node("Concat", {"one", "n", "five"}, {"to"}, {{"axis", std::int64_t{0}}}),
       onnx_node("ConstantOfShape", {"to"}, {"h0"}, {{"value", onnx_reals({1}, {0.0})}}),
       onnx_node("Transpose", {"x"}, {"t"}, {{"perm", List{1, 0, 2}}}),
       onnx_node("LSTM", {"t", "w", "r", "b", "", "h0", "h0"}, {"y", "yh", "yc"},
                 {{"hidden_size", std::int64_t{5}}}),
       onnx_node("Squeeze", {"y", "one"}, {"q"}),
       onnx_node("Transpose", {"q"}, {"u"}, {{"perm", List{1, 0, 2}}}),
       onnx_node("Gather", {"u", "last"}, {"z"}, {{"axis", std::int64_t{1}}}),
       onnx_node("Gemm", {"z", "fc.weight", "fc.bias"}, {"out"}, {{"transB", std::int64_t{1}}})});
}

TEST(OnnxRecurrent, AClassifierOfSequences) {
  ImportOptions options;
  options.batch_size = 2;
  const ImportedModel model = import_model(batch_first_classifier(), options);
  EXPECT_THAT(ops(model.forward),
              ElementsAre("y.0.contiguous transpose(t) -> y.0.contiguous",
                          "y lstm(y.0.contiguous, w, r, b) -> y, y.cells, y.gates", "z slice(z.stored) -> z",
                          "out linear(z.squeezed, fc.weight, fc.bias) -> out"))
      << "the last step of the transposed states is taken before it is copied";
  EXPECT_EQ(shape_of(model.forward, "y"), (Shape{4, 1, 2, 5}));
  EXPECT_EQ(shape_of(model.forward, "w"), (Shape{1, 20, 3}));
  // 20*3 + 20*5 + 40 + 7*5 + 7
  EXPECT_EQ(parameter_count(model.forward), 242);
  EXPECT_EQ(forward_macs(model.forward), 4 * 2 * 20 * (3 + 5) + 2 * 35);
  const Graph training = differentiate(model.forward);
  EXPECT_EQ(op_of_kind(training, "lstm_backward").outputs.size(), 3U) << "w, r, b; x is an input";
}

// Two layers in both directions: their states are cut out of the zeros of all layers.
TEST(OnnxRecurrent, TwoLayersInBothDirections) {
  RecurrentTensors all = weights(3, 2);
  add(all, {{"w2", onnx_reals({2, 15, 10})},
            {"r2", onnx_reals({2, 15, 5})},
            {"to", onnx_integers({4, 2, 5})},
            {"0", onnx_integers({0})},
            {"2", onnx_integers({2})},
            {"4", onnx_integers({4})},
            {"merged", onnx_integers({0, 0, -1})}});
  const std::map<std::string, onnx::AttributeValue> both = {{"direction", std::string("bidirectional")},
                                                            {"linear_before_reset", std::int64_t{1}}};
  const ImportedModel model = import_model(onnx_model(
      {4, 2, 3}, std::move(all),
      {onnx_node("ConstantOfShape", {"to"}, {"h0"}), onnx_node("Slice", {"h0", "0", "2", "0"}, {"h1"}),
       onnx_node("GRU", {"x", "w", "r", "b", "", "h1"}, {"y"}, both),
       onnx_node("Transpose", {"y"}, {"t"}, {{"perm", List{0, 2, 1, 3}}}),
       onnx_node("Reshape", {"t", "merged"}, {"m"}), onnx_node("Slice", {"h0", "2", "4", "0"}, {"h2"}),
       onnx_node("GRU", {"m", "w2", "r2", "", "", "h2"}, {"y2", "yh2"}, both),
       onnx_node("Flatten", {"yh2"}, {"out"})}));
  EXPECT_THAT(ops(model.forward),
              ElementsAre("y gru(x, w, r, b) -> y, y.gates", "m.0.contiguous transpose(t) -> m.0.contiguous",
                          "y2 gru(m, w2, r2) -> y2, y2.gates", "y2.h.forward slice(y2) -> y2.h.forward",
                          "y2.h.reverse slice(y2) -> y2.h.reverse",
                          "y2.h.steps concat(y2.h.forward, y2.h.reverse) -> y2.h.steps"));
  EXPECT_EQ(shape_of(model.forward, "m"), (Shape{4, 2, 10}));
  EXPECT_EQ(shape_of(model.forward, "y2.h"), (Shape{2, 2, 5}));
  EXPECT_EQ(shape_of(model.forward, "y.gates"), (Shape{4, 2, 2, 20}));
  EXPECT_NO_THROW((void)differentiate(model.forward));
}

// Static exports have a constant of zeros and an Expand to what it is already.
TEST(OnnxRecurrent, ZerosThatAreSpeltOtherwise) {
  const auto layer = [](RecurrentTensors more, std::vector<Node> nodes) {
    RecurrentTensors all = weights(1);
    add(all, more);
    nodes.push_back(
        onnx_node("RNN", {"x", "w", "r", "b", "", "h0"}, {"y", "yh"}, {{"activations", Texts{"Relu"}}}));
    nodes.push_back(onnx_node("Squeeze", {"y"}, {"out"}));
    return import_model(onnx_model({4, 2, 3}, std::move(all), std::move(nodes), 11));
  };
  const RecurrentTensors zeros = {{"zeros", onnx_reals({1, 1, 5}, std::vector<double>(5, 0.0))},
                                  {"to", onnx_integers({1, 2, 5})}};
  const auto constant = onnx_node("Constant", {}, {"k"}, {{"value", zeros.at("zeros")}});
  const std::string plain = "y rnn(x, w, r, b) -> y";
  const ImportedModel expanded = layer(zeros, {constant, onnx_node("Expand", {"k", "to"}, {"h0"})});
  EXPECT_THAT(ops(expanded.forward), ElementsAre(plain));
  EXPECT_THAT(expanded.notices, ::testing::Not(Contains(HasSubstr("initial states"))));
  EXPECT_EQ(std::get<std::string>(op_of_kind(expanded.forward, "rnn").attributes.at("activation")), "relu");

  const ImportedModel joined =
      layer({}, {constant, onnx_node("Concat", {"k", "k"}, {"h0"}, {{"axis", std::int64_t{1}}})});
  EXPECT_THAT(ops(joined.forward), ElementsAre(plain));

  // In the file itself: said, since it might have been meant to train.
  const ImportedModel stored = layer({{"h0", onnx_reals({1, 2, 5}, std::vector<double>(10, 0.0))}}, {});
  EXPECT_THAT(ops(stored.forward), ElementsAre(plain));
  EXPECT_THAT(stored.notices, Contains(HasSubstr("initial states of zeros")));
}

TEST(OnnxRecurrent, StatesThatTrainAndStatesThatAreFed) {
  RecurrentTensors all = weights(4);
  add(all, {{"h0", onnx_reals({1, 2, 5})}, {"c0", onnx_reals({1, 2, 5}, std::vector<double>(10, 0.5))}});
  onnx::Model model = onnx_model({4, 2, 3}, all,
                                 {onnx_node("LSTM", {"x", "w", "r", "", "", "h0", "c0"}, {"y", "yh"}),
                                  onnx_node("Squeeze", {"yh"}, {"out"})});
  const Graph weights_graph = import_model(model).forward;
  EXPECT_THAT(ops(weights_graph),
              ElementsAre("y lstm(x, w, r, h0, c0) -> y, y.cells, y.gates", "y.h.step slice(y) -> y.h.step"));
  EXPECT_EQ(op_of_kind(differentiate(weights_graph), "lstm_backward").outputs.size(), 4U);

  // Only one of them: the other one is zeros that do not train.
  model.nodes[0].inputs[5] = "";
  const Graph one = import_model(model).forward;
  EXPECT_THAT(ops(one), Contains("y lstm(x, w, r, y.initial_h, c0) -> y, y.cells, y.gates"));
  EXPECT_EQ(op_of_kind(differentiate(one), "lstm_backward").outputs.size(), 3U);

  // Expanded from a weight for every sample: it trains, though it starts at zero.
  all["h1"] = onnx_reals({1, 1, 5}, std::vector<double>(5, 0.0));
  all["to"] = onnx_integers({1, 2, 5});
  all["gw"] = onnx_reals({1, 15, 3});
  all["gr"] = onnx_reals({1, 15, 5});
  const Graph expanded =
      import_model(onnx_model({4, 2, 3}, all,
                              {onnx_node("Expand", {"h1", "to"}, {"h2"}),
                               onnx_node("GRU", {"x", "gw", "gr", "", "", "h2"}, {"y", "yh"}),
                               onnx_node("Squeeze", {"yh"}, {"out"})}))
          .forward;
  EXPECT_THAT(ops(differentiate(expanded)), Contains(HasSubstr("sgd_update(h1")));
}

// Encoder and decoder: the one's last state is where the other starts.
TEST(OnnxRecurrent, AStateIsPassedOn) {
  RecurrentTensors all = weights(3);
  add(all, {{"w2", onnx_reals({1, 15, 5})}, {"r2", onnx_reals({1, 15, 5})}});
  const Graph graph = import_model(onnx_model({4, 2, 3}, std::move(all),
                                              {onnx_node("GRU", {"x", "w", "r", "b"}, {"y", "yh"}),
                                               onnx_node("Squeeze", {"y"}, {"q"}),
                                               onnx_node("GRU", {"q", "w2", "r2", "", "", "yh"}, {"y2"}),
                                               onnx_node("Squeeze", {"y2"}, {"out"})},
                                              11))
                          .forward;
  EXPECT_THAT(ops(graph), ElementsAre("y gru(x, w, r, b) -> y, y.gates", "y.h.step slice(y) -> y.h.step",
                                      "y2 gru(q, w2, r2, y.h) -> y2, y2.gates"));
  const Graph training = differentiate(graph);
  EXPECT_THAT(ops(training), Contains(HasSubstr("-> grad:q, grad:w2, grad:r2, grad:y.h")));
}

TEST(OnnxRecurrent, BothStatesArePassedOn) {
  RecurrentTensors all = weights(4, 2);
  add(all, {{"w2", onnx_reals({2, 20, 3})}, {"r2", onnx_reals({2, 20, 5})}});
  const std::map<std::string, onnx::AttributeValue> both = {{"direction", std::string("bidirectional")}};
  const Graph graph =
      import_model(onnx_model({4, 2, 3}, std::move(all),
                              {onnx_node("LSTM", {"x", "w", "r", "b"}, {"y", "yh", "yc"}, both),
                               onnx_node("LSTM", {"x", "w2", "r2", "", "", "yh", "yc"}, {"y2"}, both),
                               onnx_node("Flatten", {"y2"}, {"out"})}))
          .forward;
  EXPECT_THAT(ops(graph), Contains("y2 lstm(x, w2, r2, y.h, y.c) -> y2, y2.cells, y2.gates"));
  EXPECT_EQ(shape_of(graph, "y.c"), (Shape{2, 2, 5}));
  const Graph training = differentiate(graph);
  EXPECT_THAT(ops(training), Contains(HasSubstr("-> grad:w2, grad:r2, grad:y.h, grad:y.c")));
  const Op& encoder = training.ops[test::find_op(training, "y:backward")];
  EXPECT_EQ(
      test::text(training, encoder),
      "y:backward lstm_backward(grad:y:sum, grad:y.cells:sum, x, r, y, y.cells, y.gates) -> grad:w, grad:r, "
      "grad:b");
  EXPECT_FALSE(encoder.attributes.contains("output_gradients"));
  const Op& decoder = training.ops[test::find_op(training, "y2:backward")];
  EXPECT_EQ(std::get<List>(decoder.attributes.at("output_gradients")), List{0});
}

// layout 1 of opset 14: everything has its batch first.
TEST(OnnxRecurrent, BatchFirst) {
  RecurrentTensors all = weights(3, 2);
  all["h0"] = onnx_reals({2, 2, 5});
  const auto layer = [&](const std::string& read) {
    return import_model(onnx_model({2, 4, 3}, all,
                                   {onnx_node("GRU", {"x", "w", "r", "b", "", "h0"}, {"y", "yh"},
                                              {{"layout", std::int64_t{1}},
                                               {"direction", std::string("bidirectional")}}),
                                    onnx_node("Relu", {read}, {"out"})}))
        .forward;
  };
  const Graph states = layer("y");
  std::vector<std::string> lines = ops(states);
  lines.resize(5);  // without those of the loss
  EXPECT_THAT(lines, ElementsAre("y.0.transposed transpose(x) -> y.0.transposed",
                                 "y.5.transposed transpose(h0) -> y.5.transposed",
                                 "y gru(y.0.transposed, w, r, y.5.transposed, b) -> y, y.gates",
                                 "out.0.contiguous transpose(y.transposed) -> out.0.contiguous",
                                 "out relu(out.0.contiguous) -> out"));
  EXPECT_EQ(shape_of(states, "y"), (Shape{4, 2, 2, 5}));
  EXPECT_EQ(shape_of(states, "y.transposed"), (Shape{2, 4, 2, 5}));
  EXPECT_EQ(shape_of(layer("yh"), "y.h.transposed"), (Shape{2, 2, 5}));
  EXPECT_NO_THROW((void)differentiate(states));
}

TEST(OnnxRecurrent, LengthsThatAreAllOfIt) {
  RecurrentTensors all = weights(1);
  all["lengths"] = onnx_integers({4, 4});
  const Graph graph =
      import_model(
          onnx_model({4, 2, 3}, std::move(all),
                     {onnx_node("RNN", {"x", "w", "r", "b", "lengths"}, {"", "yh"},
                                {{"direction", std::string("reverse")}, {"activations", Texts{"tanh"}}}),
                      onnx_node("Squeeze", {"yh"}, {"out"})},
                     11))
          .forward;
  EXPECT_THAT(ops(graph),
              ElementsAre("RNN_0 rnn(x, w, r, b) -> RNN_0", "RNN_0.h.step slice(RNN_0) -> RNN_0.h.step"));
  EXPECT_EQ(std::get<List>(op_of_kind(graph, "slice").attributes.at("starts")), (List{0, 0, 0, 0}));
}

// PyTorch without constant folding: the gates are put into ONNX's order by nodes.
TEST(OnnxRecurrent, WeightsThatNodesPutTogether) {
  RecurrentTensors all = weights(1);
  add(all, {{"v", onnx_reals({5, 3})},
            {"0", onnx_integers({0})},
            {"2", onnx_integers({2})},
            {"5", onnx_integers({5})}});
  const ImportedModel model = import_model(onnx_model(
      {4, 2, 3}, std::move(all),
      {onnx_node("Slice", {"v", "2", "5", "0"}, {"a"}), onnx_node("Slice", {"v", "0", "2", "0"}, {"b1"}),
       onnx_node("Concat", {"a", "b1"}, {"c"}, {{"axis", std::int64_t{0}}}),
       onnx_node("Unsqueeze", {"c", "0"}, {"w1"}), onnx_node("RNN", {"x", "w1", "r", "b"}, {"y"}),
       onnx_node("Squeeze", {"y"}, {"out"})}));
  EXPECT_THAT(ops(model.forward), Contains("y rnn(x, w1, r, b) -> y"));
  EXPECT_EQ(parameter_count(model.forward), 5 * 3 + 5 * 5 + 10);
  EXPECT_THAT(model.notices, Contains(HasSubstr("export with constant folding")));
  EXPECT_THAT(ops(differentiate(model.forward)), Contains(HasSubstr("sgd_update(v")));
}

// One that clips is opaque on demand, and gets its zeros as the file says.
TEST(OnnxRecurrent, WhatIsNotCoveredMayBeOpaque) {
  ImportOptions options;
  options.allow_opaque = true;
  RecurrentTensors all = weights(4);
  all["to"] = onnx_integers({1, 2, 5});
  const ImportedModel model =
      import_model(onnx_model({4, 2, 3}, std::move(all),
                              {onnx_node("ConstantOfShape", {"to"}, {"h0"}),
                               onnx_node("LSTM", {"x", "w", "r", "b", "", "h0"}, {"y"},
                                         {{"clip", 1.0}, {"hidden_size", std::int64_t{5}}}),
                               onnx_node("Flatten", {"y"}, {"out"})}),
                   options);
  EXPECT_EQ(op_of_kind(model.forward, "opaque").inputs.size(), 5U);
  EXPECT_EQ(shape_of(model.forward, "y"), (Shape{4, 1, 2, 5}));
  EXPECT_THAT(model.notices,
              Contains(HasSubstr("LSTM is opaque to poet (attribute 'clip': must be absent)")));
}

}  // namespace
}  // namespace poet
