// Recurrent layers.

#include "tests/support/operator_costs.h"

namespace poet::test {

const std::vector<OperatorCost>& recurrent_costs() {
  static const std::vector<OperatorCost> all = {
      // 6 * 14 for softmax, 2 rows * 12. logits 6, targets 2, loss 1, probabilities 6.
      // x (2,3,5) into 4 units in both directions: y (2,2,3,4), M = 48. Four gates of 2 (5 + 4) = 72; four
      // biases; three sigmoids of 13, two tanh of 10, four products and sums: 72 + 4 + 63 = 139 per element.
      // Moves x 30, weights 2*16*5 = 160 and 2*16*4 = 128, bias 64, y and cells 48 each, gates 192: 670.
      {"lstm",
       {{{2, 3, 5}}, parameter({2, 16, 5}), parameter({2, 16, 4}), parameter({2, 32})},
       {{{2, 2, 3, 4}}, {{2, 2, 3, 4}}, {{2, 2, 3, 16}}},
       48 * 139,
       4 * 670},
      // With states of 2*3*4 = 24 each and without bias: 4 per element less; 670 - 64 + 48.
      {"lstm",
       {{{2, 3, 5}}, parameter({2, 16, 5}), parameter({2, 16, 4}), {{2, 3, 4}}, {{2, 3, 4}}},
       {{{2, 2, 3, 4}}, {{2, 2, 3, 4}}, {{2, 2, 3, 16}}},
       48 * 135,
       4 * 654,
       {{"initial_state", std::int64_t{1}}}},
      // One direction, M = 24. Three gates of 2 (5 + 4) = 54, four biases, two sigmoids 26, tanh 10, the
      // state 4, the reset 2: 100. Moves x 30, weights 60 and 48, bias 24, y 24, gates 96: 282.
      {"gru",
       {{{2, 3, 5}}, parameter({1, 12, 5}), parameter({1, 12, 4}), parameter({1, 24})},
       {{{2, 1, 3, 4}}, {{2, 1, 3, 16}}},
       24 * 100,
       4 * 282,
       {{"linear_before_reset", std::int64_t{1}}}},
      // A bias and an addition less; the gates are 72.
      {"gru",
       {{{2, 3, 5}}, parameter({1, 12, 5}), parameter({1, 12, 4}), parameter({1, 24})},
       {{{2, 1, 3, 4}}, {{2, 1, 3, 12}}},
       24 * 98,
       4 * 258,
       {{"linear_before_reset", std::int64_t{0}}}},
      // One gate of 18, a bias, tanh. x 30, weights 20 and 16, bias 8, y 24.
      {"rnn",
       {{{2, 3, 5}}, parameter({1, 4, 5}), parameter({1, 4, 4}), parameter({1, 8})},
       {{{2, 1, 3, 4}}},
       24 * 29,
       4 * 98,
       {{"activation", std::string("tanh")}}},
      {"rnn",
       {{{2, 3, 5}}, parameter({1, 4, 5}), parameter({1, 4, 4})},
       {{{2, 1, 3, 4}}},
       24 * 19,
       4 * 90,
       {{"activation", std::string("relu")}}},
      // Everything trains: twice the products of the forward op, 144, four biases, 33 others. Reads dy 48, x
      // 30, weights 288, y 48, cells 48, gates 192; writes dx 30, 288, 64.
      {"lstm_backward",
       {{{2, 2, 3, 4}},
        {{2, 3, 5}},
        parameter({2, 16, 5}),
        parameter({2, 16, 4}),
        {{2, 2, 3, 4}},
        {{2, 2, 3, 4}},
        {{2, 2, 3, 16}}},
       {{{2, 3, 5}}, {{2, 16, 5}}, {{2, 16, 4}}, {{2, 32}}},
       48 * (144 + 4 + 33),
       4 * (654 + 382),
       {{"output_gradients", std::vector<std::int64_t>{0}}}},
      // With a gradient of the cell states besides y's: 48 to read and to add.
      {"lstm_backward",
       {{{2, 2, 3, 4}},
        {{2, 2, 3, 4}},
        {{2, 3, 5}},
        parameter({2, 16, 5}),
        parameter({2, 16, 4}),
        {{2, 2, 3, 4}},
        {{2, 2, 3, 4}},
        {{2, 2, 3, 16}}},
       {{{2, 3, 5}}, {{2, 16, 5}}, {{2, 16, 4}}, {{2, 32}}},
       48 * (144 + 4 + 34),
       4 * (654 + 48 + 382)},
      // Nothing of it trains: dx alone, 4 * 2 (5 + 4) and no bias; neither x nor y is read.
      {"lstm_backward",
       {{{2, 2, 3, 4}}, parameter({2, 16, 5}), parameter({2, 16, 4}), {{2, 2, 3, 4}}, {{2, 2, 3, 16}}},
       {{{2, 3, 5}}},
       48 * (72 + 33),
       4 * (48 + 288 + 48 + 192 + 30),
       {{"gradients", std::vector<std::int64_t>{0}}, {"output_gradients", std::vector<std::int64_t>{1}}}},
      // The first layer: no dx, and the state has a gradient. 3 * 2 * (5 + 4 + 4) = 78; four biases; 15 and
      // the reset 2. Reads dy 24, x 30, weight 48, state 12, y 24, gates 96; writes 60, 48, 12, 24.
      {"gru_backward",
       {{{2, 1, 3, 4}}, {{2, 3, 5}}, parameter({1, 12, 4}), {{1, 3, 4}}, {{2, 1, 3, 4}}, {{2, 1, 3, 16}}},
       {{{1, 12, 5}}, {{1, 12, 4}}, {{1, 3, 4}}, {{1, 24}}},
       24 * (78 + 4 + 17),
       4 * (234 + 144),
       {{"linear_before_reset", std::int64_t{1}},
        {"initial_state", std::int64_t{1}},
        {"gradients", std::vector<std::int64_t>{1, 2, 3, 4}}}},
      // Resets the state, no bias: 3 * 2 * 18 = 108, 15, the reset 4 with weight_hh's gradient. Reads 24, 30,
      // 60, 48, 24, 72; writes 30, 60, 48.
      {"gru_backward",
       {{{2, 1, 3, 4}},
        {{2, 3, 5}},
        parameter({1, 12, 5}),
        parameter({1, 12, 4}),
        {{2, 1, 3, 4}},
        {{2, 1, 3, 12}}},
       {{{2, 3, 5}}, {{1, 12, 5}}, {{1, 12, 4}}},
       24 * (108 + 19),
       4 * (258 + 138),
       {{"linear_before_reset", std::int64_t{0}}}},
      // Only the bias: the state's product 8, a bias, tanh's slope 3 and the sum. Reads dy 24, weight 16,
      // y 24.
      {"rnn_backward",
       {{{2, 1, 3, 4}}, parameter({1, 4, 4}), {{2, 1, 3, 4}}},
       {{{1, 8}}},
       24 * 13,
       4 * (64 + 8),
       {{"activation", std::string("tanh")}, {"gradients", std::vector<std::int64_t>{3}}}},
  };
  return all;
}

}  // namespace poet::test
