// What recurrent layers refuse, built and imported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poet/frontend/onnx/import.h"
#include "poet/graph/nn.h"
#include "tests/support/input_error.h"
#include "tests/support/onnx_models.h"

namespace poet {
namespace {

using test::input_error;
using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_reals;

using Texts = std::vector<std::string>;
using NodeAttributes = std::map<std::string, onnx::AttributeValue>;

class RecurrentErrors : public testing::Test {
 protected:
  GraphBuilder g{"g"};
  ValueId x = g.input("x", {5, 3, 2});
  ValueId h = g.input("h", {1, 3, 4});
};

TEST_F(RecurrentErrors, ShapesAndStates) {
  EXPECT_EQ(input_error([&] { nn::rnn(g, "r", h, {.hidden_size = 0}); }),
            "op 'r': hidden_size must be between 1 and 1099511627776, not 0");
  EXPECT_EQ(input_error([&] {
              nn::rnn(g, "r", nn::reshape(g, "flat", x, {15, 2}), {});
            }),
            "op 'r': 'flat' must have 3 dimensions, not (15, 2)");
  EXPECT_EQ(input_error([&] {
              nn::rnn(g, "r", nn::permute(g, "transposed", x, {1, 0, 2}), {});
            }),
            "op 'r': 'transposed' must be row-major: only matmul and transpose read strided views");
  EXPECT_EQ(input_error([&] { nn::gru(g, "r", x, {.hidden_size = 5, .initial_h = h}); }),
            "op 'r': the initial state 'h' is (1, 3, 4), but must be (1, 3, 5)");
  EXPECT_EQ(input_error([&] {
              nn::gru(g, "r", x,
                      {.hidden_size = 4, .direction = nn::Direction::bidirectional, .initial_h = h});
            }),
            "op 'r': the initial state 'h' is (1, 3, 4), but must be (2, 3, 4)");
  EXPECT_EQ(input_error([&] { nn::lstm(g, "r", x, {.hidden_size = 4, .initial_h = h}); }),
            "op 'r': has both initial states or none");
  EXPECT_EQ(input_error([&] { nn::lstm(g, "r", x, {.hidden_size = 4, .initial_c = h}); }),
            "op 'r': has both initial states or none");
  EXPECT_EQ(input_error([&] { nn::gru(g, "r", x, {.hidden_size = 4, .initial_h = h, .initial_c = h}); }),
            "op 'r': has no cell state");
}

TEST_F(RecurrentErrors, WeightsThatAreBound) {
  g.bind("r.weight_ih", g.parameter("w", {1, 4, 3}));
  EXPECT_EQ(input_error([&] { nn::rnn(g, "r", x, {.hidden_size = 4}); }),
            "op 'r': 'w' is (1, 4, 3), but must be (1, 4, 2)");
  g.bind("q.weight_ih", nn::permute(g, "t", g.parameter("s", {4, 1, 2}), {1, 0, 2}));
  EXPECT_NO_THROW(nn::rnn(g, "q", x, {.hidden_size = 4}));  // an axis of size 1 lies anywhere
  g.bind("p.weight_hh", nn::permute(g, "u", g.parameter("v", {1, 4, 4}), {0, 2, 1}));
  EXPECT_EQ(input_error([&] { nn::rnn(g, "p", x, {.hidden_size = 4}); }),
            "op 'p': 'u' must be row-major: only matmul and transpose read strided views");
}

TEST_F(RecurrentErrors, StatesOfAnotherLayer) {
  const ValueId y = nn::rnn(g, "r", x, {.hidden_size = 4});
  EXPECT_EQ(input_error([&] { nn::last_step(g, "l", y, nn::Direction::bidirectional); }),
            "op 'l': (5, 1, 3, 4) has not the states of a bidirectional layer");
  EXPECT_EQ(input_error([&] { nn::last_step(g, "l", x, nn::Direction::forward); }),
            "op 'l': 'x' must have 4 dimensions, not (5, 3, 2)");
  EXPECT_EQ(input_error([&] { nn::rnn(g, "huge", x, {.hidden_size = std::int64_t{1} << 40}); }),
            "op 'huge': shape (1, 1099511627776, 1099511627776): more elements than 64 bits can count");
}

// Four steps, two samples, three inputs, five units.
class RecurrentImport : public testing::Test {
 protected:
  std::map<std::string, onnx::Tensor> weights = {
      {"lw", onnx_reals({1, 20, 3})},  {"lr", onnx_reals({1, 20, 5})},  {"lb", onnx_reals({1, 40})},
      {"gw", onnx_reals({1, 15, 3})},  {"gr", onnx_reals({1, 15, 5})},  {"rw", onnx_reals({1, 5, 3})},
      {"rr", onnx_reals({1, 5, 5})},   {"p", onnx_reals({1, 15})},      {"c", onnx_reals({1, 2, 5})},
      {"two", onnx_reals({2, 20, 5})}, {"same", onnx_integers({4, 4})}, {"other", onnx_integers({4, 3})}};

  std::string error(const std::string& op, std::vector<std::string> inputs,
                    const NodeAttributes& attributes) {
    return input_error([&] {
      (void)import_model(onnx_model(
          {4, 2, 3}, weights,
          {onnx_node(op, std::move(inputs), {"y"}, attributes), onnx_node("Relu", {"y"}, {"out"})}));
    });
  }
};

TEST_F(RecurrentImport, AttributesThatAreNotCovered) {
  const std::vector<std::string> lstm = {"x", "lw", "lr"};
  EXPECT_EQ(error("LSTM", lstm, {{"clip", 1.0}}), "node 0 'y' (LSTM): attribute 'clip': must be absent");
  EXPECT_EQ(error("LSTM", lstm, {{"input_forget", std::int64_t{1}}}),
            "node 0 'y' (LSTM): attribute 'input_forget': must be 0");
  EXPECT_EQ(error("LSTM", lstm, {{"direction", std::string("sideways")}}),
            "node 0 'y' (LSTM): attribute 'direction': 'sideways' is not known");
  EXPECT_EQ(error("LSTM", lstm, {{"hidden_size", std::int64_t{4}}}),
            "node 0 'y' (LSTM): attribute 'hidden_size': is 4, but input 2 is (1, 20, 5)");
  EXPECT_EQ(
      error("LSTM", lstm, {{"activations", Texts{"Sigmoid", "Tanh", "Relu"}}}),
      "node 0 'y' (LSTM): attribute 'activations': must be sigmoid, tanh, tanh, the operator's own, not "
      "sigmoid, tanh, relu");
  EXPECT_EQ(error("GRU", {"x", "gw", "gr"}, {{"activations", Texts{"HardSigmoid", "Tanh"}}}),
            "node 0 'y' (GRU): attribute 'activations': must be sigmoid, tanh, the operator's own, not "
            "hardsigmoid, tanh");
  EXPECT_EQ(error("GRU", {"x", "gw", "gr"}, {{"activations", Texts{"Sigmoid"}}}),
            "node 0 'y' (GRU): attribute 'activations': has 1 names, not 2");
  EXPECT_EQ(error("RNN", {"x", "rw", "rr"}, {{"activations", Texts{"Affine"}}}),
            "node 0 'y' (RNN): attribute 'activations': must be Tanh or Relu, not affine");
  EXPECT_EQ(error("RNN", {"x", "rw", "rr"}, {{"activations", std::string("Tanh")}}),
            "node 0 'y' (RNN): attribute 'activations': must be a list of texts");
}

TEST_F(RecurrentImport, DirectionsActivateAlike) {
  weights["rw"] = onnx_reals({2, 5, 3});
  weights["rr"] = onnx_reals({2, 5, 5});
  const auto with = [&](Texts names) {
    return error("RNN", {"x", "rw", "rr"},
                 {{"direction", std::string("bidirectional")}, {"activations", std::move(names)}});
  };
  EXPECT_EQ(with({"Tanh", "Relu"}),
            "node 0 'y' (RNN): attribute 'activations': must be the same in both directions");
  EXPECT_EQ(with({"Tanh"}), "node 0 'y' (RNN): attribute 'activations': has 1 names, not 2");
}

TEST_F(RecurrentImport, InputsThatAreNotCovered) {
  EXPECT_EQ(error("LSTM", {"x", "lw", "lr", "lb", "", "", "", "p"}, {}),
            "node 0 'y' (LSTM): input 7 ('p'): peepholes are not supported");
  EXPECT_EQ(error("LSTM", {"x", "lw", "lr", "lb", "other"}, {}),
            "node 0 'y' (LSTM): input 4 ('other') must be 4 for every sample: poet plans sequences of one "
            "length; export without lengths");
  EXPECT_EQ(
      error("LSTM", {"x", "lw", "lr", "lb", "x"}, {}),
      "node 0 'y' (LSTM): input 4 ('x') must be 4 for every sample: poet plans sequences of one length; "
      "export without lengths");
  EXPECT_EQ(error("LSTM", {"x", "lw"}, {}), "node 0 'y' (LSTM): input 2 is missing");
  EXPECT_EQ(error("LSTM", {"x", "lw", "gr"}, {}),
            "node 0 'y' (LSTM): input 2 must be (directions, 4 hidden_size, hidden_size), not (1, 15, 5)");
  EXPECT_EQ(error("LSTM", {"x", "gw", "lr"}, {}),
            "node 0 'y' (LSTM): op 'y': 'gw' is (1, 15, 3), but must be (1, 20, 3)");
  EXPECT_EQ(error("LSTM", {"x", "lw", "two"}, {}),
            "node 0 'y' (LSTM): op 'y': 'two' is (2, 20, 5), but must be (1, 20, 5)");
  EXPECT_EQ(error("LSTM", {"lb", "lw", "lr"}, {}), "node 0 'y' (LSTM): input 0 must have 3 dimensions");
  EXPECT_EQ(error("GRU", {"x", "gw", "gr", "", "", "lr"}, {}),
            "node 0 'y' (GRU): op 'y': the initial state 'lr' is (1, 20, 5), but must be (1, 2, 5)");
}

}  // namespace
}  // namespace poet
