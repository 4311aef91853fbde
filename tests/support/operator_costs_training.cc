// Losses and updates.

#include "tests/support/operator_costs.h"

namespace poet::test {

const std::vector<OperatorCost>& training_costs() {
  static const std::vector<OperatorCost> all = {
      {"softmax_cross_entropy", {{{2, 3}}, integers({2})}, {{{1}}, {{2, 3}}}, 108, 4 * 15},
      {"mean_loss", {{{2, 3}}}, {{{1}}}, 6, 4 * 7},
      {"mean_loss_backward", {{{2, 3}}}, {{{2, 3}}}, 6, 4 * 12},
      {"mse_loss", {{{2, 3}}, {{2, 3}}}, {{{1}}}, 3 * 6, 4 * 13},
      {"l1_loss", {{{2, 3}}, {{2, 3}}}, {{{1}}}, 3 * 6, 4 * 13},
      {"huber_loss", {{{2, 3}}, {{2, 3}}}, {{{1}}}, 6 * 6, 4 * 13, {{"delta", 1.0}}},
      {"bce_with_logits_loss", {{{2, 3}}, {{2, 3}}}, {{{1}}}, 26 * 6, 4 * 13},
      {"bce_loss", {{{2, 3}}, {{2, 3}}}, {{{1}}}, 25 * 6, 4 * 13},
      {"mse_loss_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 2 * 6, 4 * 18},
      {"l1_loss_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 2 * 6, 4 * 18},
      {"huber_loss_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 4 * 6, 4 * 18, {{"delta", 1.0}}},
      {"bce_with_logits_loss_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 14 * 6, 4 * 18},
      {"bce_loss_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 6 * 6, 4 * 18},
      {"softmax_cross_entropy_backward", {{{2, 3}}, integers({2})}, {{{2, 3}}}, 6 + 2, 4 * 14},
      // Reads parameter and gradient, writes the parameter.
      {"sgd_update", {parameter({2, 3}), {{2, 3}}}, {}, 12, 4 * 18, {}, {0}},
      {"momentum_update", {parameter({2, 3}), {{2, 3}}, state({2, 3})}, {}, 24, 4 * 30, {}, {0, 2}},
      {"adam_update",
       {parameter({2, 3}), {{2, 3}}, state({2, 3}), state({2, 3})},
       {},
       126,
       4 * 42,
       {},
       {0, 2, 3}},
      // And 2 for the decay of each.
      {"adamw_update",
       {parameter({2, 3}), {{2, 3}}, state({2, 3}), state({2, 3})},
       {},
       138,
       4 * 42,
       {{"weight_decay", 0.01}},
       {0, 2, 3}},
      // Reads gradient and sum, writes sum and mean.
      {"accumulate_gradient",
       {{{2, 3}}, state({2, 3})},
       {{{2, 3}}},
       12,
       4 * 24,
       {{"every", std::int64_t{4}}},
       {1}},
      {"squared_norm", {{{2, 3}}, {{1}}}, {{{1}}}, 12, 4 * 8},
      {"clip_factor", {{{1}}}, {{{1}}}, 13, 4 * 2, {{"max_norm", 1.0}}},
  };
  return all;
}

}  // namespace poet::test
