// Elementwise operators, comparisons and functions of one element.

#include "tests/support/operator_costs.h"

namespace poet::test {

const std::vector<OperatorCost>& elementwise_costs() {
  static const std::vector<OperatorCost> all = {
      {"input", {}, {{{2, 3}}}, 0, 0},
      // One operation per element of what is written, whatever the types: 24 and 6 read (4 bytes), 24 bytes
      // written.
      {"equal", {{{2, 3, 2, 2}}, {{3, 2, 1}}}, {bytes({2, 3, 2, 2})}, 24, 4 * 30 + 24},
      {"less", {integers({2, 3}), integers({3})}, {bytes({2, 3})}, 6, 4 * 9 + 6},
      {"less_or_equal", {{{2, 3}}, {{2, 3}}}, {bytes({2, 3})}, 6, 4 * 12 + 6},
      {"greater", {{{2, 3}}, {{2, 1}}}, {bytes({2, 3})}, 6, 4 * 8 + 6},
      {"greater_or_equal", {{{2, 3}}, {{}}}, {bytes({2, 3})}, 6, 4 * 7 + 6},
      {"logical_and", {bytes({2, 3}), bytes({3})}, {bytes({2, 3})}, 6, 15},
      {"logical_or", {bytes({2, 3}), bytes({2, 3})}, {bytes({2, 3})}, 6, 18},
      {"logical_xor", {bytes({2, 1}), bytes({1, 3})}, {bytes({2, 3})}, 6, 11},
      {"logical_not", {bytes({2, 3})}, {bytes({2, 3})}, 6, 12},
      {"cast", {bytes({2, 3})}, {{{2, 3}}}, 6, 6 + 24},
      {"int_div", {integers({2, 3}), integers({})}, {integers({2, 3})}, 6, 4 * 13},
      {"mod", {integers({2, 3}), integers({3})}, {integers({2, 3})}, 6, 4 * 15},
      // Condition 6 bytes, operands 6 and 3 elements, 6 written.
      {"where", {bytes({2, 3}), {{2, 3}}, {{3}}}, {{{2, 3}}}, 6, 6 + 4 * 15},
      // Both read dy and the condition; the second sums two rows to one: 2 * 6.
      {"where_backward_a", {{{2, 3}}, bytes({2, 3})}, {{{2, 3}}}, 6, 6 + 4 * 12},
      {"where_backward_b", {{{2, 3}}, bytes({2, 3})}, {{{3}}}, 12, 6 + 4 * 9},
      {"softmax", {{{2, 3}}}, {{{2, 3}}}, 6 * 14, 4 * 12},
      // The mask has one byte per element.
      {"dropout", {{{2, 3}}}, {{{2, 3}}, bytes({2, 3})}, 6 * 2, 4 * 12 + 6},
      {"add", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 6, 4 * 18},
      // A row of 3 is added to both: reads 6 + 3, writes 6.
      {"add", {{{2, 3}}, parameter({3})}, {{{2, 3}}}, 6, 4 * 15},
      {"sub", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 6, 4 * 18},
      // A column and a row make a matrix.
      {"mul", {{{2, 1}}, {{3}}}, {{{2, 3}}}, 6, 4 * (2 + 3 + 6)},
      {"div", {{{2, 3}}, parameter({})}, {{{2, 3}}}, 6, 4 * 13},
      {"scale", {{{2, 3}}}, {{{2, 3}}}, 12, 4 * 12},
      {"shift", {{{2, 3}}}, {{{2, 3}}}, 6, 4 * 12},
      // x³: two products. The square root: logarithm, product, exp. Back: 3 * x * x * dy; a power, 2
      // products, 1 less.
      {"pow", {{{2, 3}}}, {{{2, 3}}}, 6 * 2, 4 * 12, {{"exponent", 3.0}}},
      {"pow", {{{2, 3}}}, {{{2, 3}}}, 6 * 21, 4 * 12, {{"exponent", 0.5}}},
      {"pow_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 6 * 3, 4 * 18, {{"exponent", 3.0}}},
      {"pow_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 6 * 23, 4 * 18, {{"exponent", -1.0}}},
      {"clip", {{{2, 3}}}, {{{2, 3}}}, 12, 4 * 12},
      // One slope per column: 6 + 3 in, 6 out; back 2 per element, for the slope a sum over rows as well.
      {"prelu", {{{2, 3}}, parameter({3})}, {{{2, 3}}}, 6 * 2, 4 * 15},
      {"prelu_backward_input", {{{2, 3}}, {{2, 3}}, parameter({3})}, {{{2, 3}}}, 6 * 2, 4 * 21},
      {"prelu_backward_slope", {{{2, 3}}, {{2, 3}}}, {{{3}}}, 6 * 3, 4 * 15},
      // As softmax, and a logarithm per row; back per element a sum, exp 10, product, difference.
      {"log_softmax", {{{2, 3}}}, {{{2, 3}}}, 6 * 14 + 2 * 10, 4 * 12},
      {"log_softmax_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 6 * 13, 4 * 18},
      {"sum_to", {{{2, 3}}}, {{{3}}}, 6, 4 * 9},
      // Element by element; then with the additions of a sum over rows.
      {"sub_backward_b", {{{2, 3}}}, {{{2, 3}}}, 6, 4 * 12},
      {"sub_backward_b", {{{2, 3}}}, {{{3}}}, 12, 4 * 9},
      {"mul_backward", {{{2, 3}}, {{3}}}, {{{2, 3}}}, 6, 4 * 15},
      {"mul_backward", {{{2, 3}}, {{2, 3}}}, {{{3}}}, 12, 4 * 15},
      {"div_backward_a", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 6, 4 * 18},
      {"div_backward_b", {{{2, 3}}, {{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 24, 4 * 24},
      {"div_backward_b", {{{2, 3}}, {{2, 3}}, parameter({3})}, {{{3}}}, 30, 4 * 18},
      {"scale_backward", {{{2, 3}}}, {{{2, 3}}}, 6, 4 * 12},
      {"clip_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 12, 4 * 18},
      {"opaque", {{{2, 3}}, integers({4})}, {{{5}}}, 6 + 4 + 5, 4 * 15},
      {"softmax_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 6 * 4, 4 * 18},
      {"dropout_backward", {{{2, 3}}, bytes({2, 3})}, {{{2, 3}}}, 6, 4 * 12 + 6},
      {"opaque_backward", {{{5}}, {{2, 3}}, integers({4}), {{5}}}, {{{2, 3}}}, 5 + 6 + 4 + 5 + 6, 4 * 26},
  };
  return all;
}

}  // namespace poet::test
