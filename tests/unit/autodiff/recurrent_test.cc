// Recurrent layers: what the builder makes of them, and what their backward ops read.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/graph/nn.h"
#include "tests/support/graph_text.h"

namespace poet {
namespace {

using test::op_named;
using test::shapes;

// Five steps, three samples, two inputs, four units.
TEST(Recurrent, LstmKeepsItsCellsAndGates) {
  GraphBuilder g("g");
  const ValueId x = g.input("x", {5, 3, 2});
  const ValueId h = g.input("h", {2, 3, 4});
  const ValueId c = g.input("c", {2, 3, 4});
  nn::lstm(g, "lstm", x,
           {.hidden_size = 4, .direction = nn::Direction::bidirectional, .initial_h = h, .initial_c = c});
  const Graph graph = g.finish();
  const Op& op = op_named(graph, "lstm");
  EXPECT_EQ(shapes(graph, op.inputs),
            (std::vector<Shape>{{5, 3, 2}, {2, 16, 2}, {2, 16, 4}, {2, 3, 4}, {2, 3, 4}, {2, 32}}));
  EXPECT_EQ(shapes(graph, op.outputs), (std::vector<Shape>{{5, 2, 3, 4}, {5, 2, 3, 4}, {5, 2, 3, 16}}));
  EXPECT_EQ(op.attributes,
            (Attributes{{"direction", std::string("bidirectional")}, {"initial_state", std::int64_t{1}}}));
  EXPECT_EQ(graph.values[op.inputs[1]].name, "lstm.weight_ih");
  EXPECT_EQ(graph.values[op.inputs[2]].name, "lstm.weight_hh");
  EXPECT_EQ(graph.values[op.inputs[5]].name, "lstm.bias");
  EXPECT_EQ(graph.values[op.inputs[5]].persistence, Persistence::parameter);
}

TEST(Recurrent, GruKeepsItsGatesAndAProductThatItResets) {
  for (const bool linear_before_reset : {false, true}) {
    GraphBuilder g("g");
    nn::gru(g, "gru", g.input("x", {5, 3, 2}), {.hidden_size = 4, .direction = nn::Direction::reverse},
            linear_before_reset);
    const Graph graph = g.finish();
    const Op& op = op_named(graph, "gru");
    EXPECT_EQ(shapes(graph, op.inputs), (std::vector<Shape>{{5, 3, 2}, {1, 12, 2}, {1, 12, 4}, {1, 24}}));
    EXPECT_EQ(shapes(graph, op.outputs),
              (std::vector<Shape>{{5, 1, 3, 4}, {5, 1, 3, linear_before_reset ? 16 : 12}}));
    EXPECT_EQ(op.attributes, (Attributes{{"direction", std::string("reverse")},
                                         {"linear_before_reset", std::int64_t{linear_before_reset}}}));
  }
}

TEST(Recurrent, RnnKeepsNothingElse) {
  GraphBuilder g("g");
  nn::rnn(g, "rnn", g.input("x", {5, 3, 2}), {.hidden_size = 4, .bias = false}, true);
  const Graph graph = g.finish();
  const Op& op = op_named(graph, "rnn");
  EXPECT_EQ(shapes(graph, op.inputs), (std::vector<Shape>{{5, 3, 2}, {1, 4, 2}, {1, 4, 4}}));
  EXPECT_EQ(shapes(graph, op.outputs), (std::vector<Shape>{{5, 1, 3, 4}}));
  EXPECT_EQ(op.attributes,
            (Attributes{{"direction", std::string("forward")}, {"activation", std::string("relu")}}));
}

// A layer of one step is left with all that it has.
TEST(Recurrent, TheLastStepOfEachDirection) {
  const auto kinds = [](std::int64_t steps, nn::Direction direction) {
    GraphBuilder g("g");
    const ValueId y =
        nn::rnn(g, "rnn", g.input("x", {steps, 3, 2}), {.hidden_size = 4, .direction = direction});
    const ValueId last = nn::last_step(g, "last", y, direction);
    EXPECT_EQ(g.shape(last), (Shape{direction == nn::Direction::bidirectional ? 2 : 1, 3, 4}));
    std::vector<std::string> result;
    for (const Op& op : g.finish().ops) {
      if (op.kind != "slice") {
        result.push_back(op.kind);
        continue;
      }
      const auto& starts = std::get<std::vector<std::int64_t>>(op.attributes.at("starts"));
      result.push_back("slice " + std::to_string(starts[0]) + " " + std::to_string(starts[1]));
    }
    return result;
  };
  EXPECT_EQ(kinds(5, nn::Direction::forward), (std::vector<std::string>{"input", "rnn", "slice 4 0"}));
  EXPECT_EQ(kinds(5, nn::Direction::reverse), (std::vector<std::string>{"input", "rnn", "slice 0 0"}));
  EXPECT_EQ(kinds(5, nn::Direction::bidirectional),
            (std::vector<std::string>{"input", "rnn", "slice 4 0", "slice 0 1", "concat"}));
  EXPECT_EQ(kinds(1, nn::Direction::bidirectional), (std::vector<std::string>{"input", "rnn"}));
}

enum class States { none, parameters };

/// The backward op of a layer between two linear ones, as text.
std::string backward(const std::string& kind, States states, const std::vector<std::string>& trainable) {
  GraphBuilder g("g");
  const ValueId x = nn::linear(g, "below", g.input("in", {5, 3, 2}), 2);
  nn::RecurrentOptions options;
  options.hidden_size = 4;
  if (states == States::parameters) {
    options.initial_h = g.parameter("h0", {1, 3, 4});
    if (kind == "lstm") options.initial_c = g.parameter("c0", {1, 3, 4});
  }
  const ValueId y = kind == "lstm"  ? nn::lstm(g, "layer", x, options).y
                    : kind == "gru" ? nn::gru(g, "layer", x, options)
                                    : nn::rnn(g, "layer", x, options);
  nn::softmax_cross_entropy(g, "loss", nn::reshape(g, "rows", y, {15, 4}),
                            g.input("targets", {15}, DType::int32));
  const Graph training = differentiate(g.finish(), {Optimizer::sgd, [&](const std::string& name) {
                                                      return std::find(trainable.begin(), trainable.end(),
                                                                       name) != trainable.end();
                                                    }});
  const Op& op = op_named(training, "layer:backward");
  std::string text = test::text(training, op);
  if (const auto found = op.attributes.find("gradients"); found != op.attributes.end()) {
    for (const std::int64_t i : std::get<std::vector<std::int64_t>>(found->second)) {
      text += " " + std::to_string(i);
    }
  }
  return text;
}

TEST(Recurrent, ABackwardOpReadsWhatItsGradientsNeed) {
  const std::vector<std::string> all = {
      "below.weight", "layer.weight_ih", "layer.weight_hh", "layer.bias", "h0", "c0"};
  EXPECT_EQ(
      backward("lstm", States::parameters, all),
      "layer:backward lstm_backward(grad:layer, below, layer.weight_ih, layer.weight_hh, h0, c0, layer, "
      "layer.cells, layer.gates) -> grad:below, grad:layer.weight_ih, grad:layer.weight_hh, grad:h0, "
      "grad:c0, grad:layer.bias");
  EXPECT_EQ(backward("gru", States::none, all),
            "layer:backward gru_backward(grad:layer, below, layer.weight_ih, layer.weight_hh, layer, "
            "layer.gates) -> grad:below, grad:layer.weight_ih, grad:layer.weight_hh, grad:layer.bias");
  EXPECT_EQ(backward("rnn", States::parameters, all),
            "layer:backward rnn_backward(grad:layer, below, layer.weight_ih, layer.weight_hh, h0, layer) -> "
            "grad:below, grad:layer.weight_ih, grad:layer.weight_hh, grad:h0, grad:layer.bias");
  // Nothing below trains.
  EXPECT_EQ(
      backward("lstm", States::none, {"layer.weight_ih", "layer.weight_hh", "layer.bias"}),
      "layer:backward lstm_backward(grad:layer, below, layer.weight_hh, layer, layer.cells, layer.gates) "
      "-> grad:layer.weight_ih, grad:layer.weight_hh, grad:layer.bias 1 2 3");
  // Frozen itself, and with a gradient to pass on: neither x nor the states.
  EXPECT_EQ(backward("lstm", States::parameters, {"below.weight"}),
            "layer:backward lstm_backward(grad:layer, layer.weight_ih, layer.weight_hh, c0, layer.cells, "
            "layer.gates) -> grad:below 0");
  EXPECT_EQ(backward("rnn", States::parameters, {"layer.bias"}),
            "layer:backward rnn_backward(grad:layer, layer.weight_hh, layer) -> grad:layer.bias 4");
  // A gru's update gate weighs the states.
  EXPECT_EQ(backward("gru", States::parameters, {"h0"}),
            "layer:backward gru_backward(grad:layer, layer.weight_hh, h0, layer, layer.gates) -> grad:h0 3");
}

}  // namespace
}  // namespace poet
