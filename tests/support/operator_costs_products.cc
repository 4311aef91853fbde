// Matrix products and normalisations.

#include "tests/support/operator_costs.h"

namespace poet::test {

const std::vector<OperatorCost>& products_costs() {
  static const std::vector<OperatorCost> all = {
      // 2 rows, 3 -> 5: 10 outputs * 3 * 2 = 60, + 10 for the bias. 6 + 15 + 5 + 10 = 36.
      {"linear", {{{2, 3}}, parameter({5, 3}), parameter({5})}, {{{2, 5}}}, 70, 4 * 36},
      // 2 batches of (3,4)*(4,5): 30 outputs * 4 * 2 = 240; scaled by alpha: + 30. 24 + 40 + 30 = 94.
      {"matmul", {{{2, 3, 4}}, {{2, 4, 5}}}, {{{2, 3, 5}}}, 240, 4 * 94},
      {"matmul", {{{2, 3, 4}}, {{2, 4, 5}}}, {{{2, 3, 5}}}, 270, 4 * 94, {{"alpha", 0.125}}},
      {"matmul", {{{2, 3, 4}}, {{2, 4, 5}}}, {{{2, 3, 5}}}, 240, 4 * 94, {{"alpha", 1.0}}},
      // 96 * 6; x, weight, bias, y, mean, invstd: 96 + 3 + 3 + 96 + 3 + 3 = 204.
      {"batch_norm",
       {{{2, 3, 4, 4}}, parameter({3}), parameter({3})},
       {{{2, 3, 4, 4}}, {{3}}, {{3}}},
       576,
       4 * 204},
      // 3 * 10; reads 4 vectors, writes 2: 18 elements.
      {"batch_norm_stats", {{{3}}, {{3}}, state({3}), state({3})}, {}, 30, 4 * 18, {}, {2, 3}},
      // 6 * 8; x, weight, bias, y, mean, rstd: 6 + 3 + 3 + 6 + 2 + 2 = 22.
      {"layer_norm", {{{2, 3}}, parameter({3}), parameter({3})}, {{{2, 3}}, {{2}}, {{2}}}, 48, 4 * 22},
      // One matrix (4,5) for both of 2: as above, but 20 elements less. Its gradient (4,3) * (3,5) for both:
      // 2 * 20 * 3 * 2 = 240; reads 24 + 30, writes 20.
      {"matmul", {{{2, 3, 4}}, {{4, 5}}}, {{{2, 3, 5}}}, 240, 4 * 74, {{"alpha", 1.0}}},
      {"matmul", {{{2, 4, 3}}, {{2, 3, 5}}}, {{{4, 5}}}, 240, 4 * 74, {{"alpha", 1.0}}},
      // One group: 96 * 6; x, weight, bias, y, and 2 each of mean and rstd: 96 + 3 + 3 + 96 + 2 + 2 = 202.
      {"group_norm",
       {{{2, 3, 4, 4}}, parameter({3}), parameter({3})},
       {{{2, 3, 4, 4}}, {{2, 1}}, {{2, 1}}},
       576,
       4 * 202},
      // Windows of 5: square 1, sum 4, multiply-add 2, power 20, product 1 = 28 per element.
      {"lrn", {{{2, 3}}}, {{{2, 3}}}, 6 * 28, 4 * 12, {{"size", std::int64_t{5}}}},
      {"linear_backward_input", {{{2, 5}}, parameter({5, 3})}, {{{2, 3}}}, 60, 4 * (10 + 15 + 6)},
      {"linear_backward_weight", {{{2, 5}}, {{2, 3}}}, {{{5, 3}}, {{5}}}, 70, 4 * (10 + 6 + 15 + 5)},
      {"batch_norm_backward",
       {{{2, 3, 4, 4}}, {{2, 3, 4, 4}}, parameter({3}), {{3}}, {{3}}},
       {{{2, 3, 4, 4}}, {{3}}, {{3}}},
       96 * 11,
       4 * (3 * 96 + 5 * 3)},
      {"layer_norm_backward",
       {{{2, 3}}, {{2, 3}}, parameter({3}), {{2}}, {{2}}},
       {{{2, 3}}, {{3}}, {{3}}},
       6 * 13,
       4 * (3 * 6 + 3 * 3 + 2 * 2)},
      // Some of the gradients only: dx needs both sums all the same; dweight x-hat 2 and its sum 2; dbias one
      // sum.
      {"batch_norm_backward",
       {{{2, 3, 4, 4}}, {{2, 3, 4, 4}}, parameter({3}), {{3}}, {{3}}},
       {{{2, 3, 4, 4}}},
       96 * 11,
       4 * (3 * 96 + 3 * 3),
       gradients({0})},
      {"batch_norm_backward",
       {{{2, 3, 4, 4}}, {{2, 3, 4, 4}}, parameter({3}), {{3}}, {{3}}},
       {{{3}}, {{3}}},
       96 * 5,
       4 * (2 * 96 + 5 * 3),
       gradients({1, 2})},
      {"layer_norm_backward",
       {{{2, 3}}, {{2, 3}}, parameter({3}), {{2}}, {{2}}},
       {{{2, 3}}},
       6 * 10,
       4 * (3 * 6 + 3 + 2 * 2),
       gradients({0})},
      {"layer_norm_backward",
       {{{2, 3}}, {{2, 3}}, parameter({3}), {{2}}, {{2}}},
       {{{3}}},
       6 * 1,
       4 * (2 * 6 + 2 * 3 + 2 * 2),
       gradients({2})},
      {"linear_backward_bias", {{{2, 5}}}, {{{5}}}, 10, 4 * 15},
      {"group_norm_backward",
       {{{2, 3, 4, 4}}, {{2, 3, 4, 4}}, parameter({3}), {{2, 1}}, {{2, 1}}},
       {{{2, 3, 4, 4}}, {{3}}, {{3}}},
       96 * 11,
       4 * (3 * 96 + 3 * 3 + 2 * 2)},
      {"group_norm_backward",
       {{{2, 3, 4, 4}}, {{2, 3, 4, 4}}, parameter({3}), {{2, 1}}, {{2, 1}}},
       {{{3}}},
       96 * 1,
       4 * (2 * 96 + 2 * 3 + 2 * 2),
       gradients({2})},
      // The scale again 7, power 20, three products 3, sum 4, times x and a constant 2, difference 1 = 37.
      {"lrn_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 6 * 37, 4 * 18, {{"size", std::int64_t{5}}}},
  };
  return all;
}

}  // namespace poet::test
