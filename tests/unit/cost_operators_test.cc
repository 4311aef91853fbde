// Work per operator kind, by hand from the shapes.

#include "poet/cost/tabulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "poet/base/error.h"
#include "poet/graph/operators/schema.h"
#include "tests/support/function_rows.h"
#include "tests/support/one_op.h"

namespace poet {
namespace {

using test::bytes;
using test::integers;
using test::last_op;
using test::one_op;
using test::Operand;
using test::parameter;
using test::state;

struct Expected {
  std::string kind;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::int64_t flops;
  std::int64_t moved;
  Attributes attributes = {};
  std::vector<std::size_t> updates = {};
};

Attributes window(std::int64_t side) {
  return {{"kernel", std::vector<std::int64_t>{side, side}},
          {"stride", std::vector<std::int64_t>{side, side}},
          {"padding", std::vector<std::int64_t>{0, 0}}};
}

Attributes cube(std::int64_t side) { return {{"kernel", std::vector<std::int64_t>{side, side, side}}}; }

Attributes gradients(std::vector<std::int64_t> positions) { return {{"gradients", std::move(positions)}}; }

// Elements: {2,3,4,4} = 96, {2,3,2,2} = 24, {2,3} = 6. Four bytes each.
const std::vector<Expected>& cases() {
  static const std::vector<Expected> all = {
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
      {"cumsum", {integers({2, 3})}, {integers({2, 3})}, 6, 4 * 12},
      {"cumsum_backward", {{{2, 3}}}, {{{2, 3}}}, 6, 4 * 12},
      // Every element is compared, two positions are written.
      {"argmax", {{{2, 3}}}, {integers({2})}, 6, 4 * 8},
      // Condition 6 bytes, operands 6 and 3 elements, 6 written.
      {"where", {bytes({2, 3}), {{2, 3}}, {{3}}}, {{{2, 3}}}, 6, 6 + 4 * 15},
      // Both read dy and the condition; the second sums two rows to one: 2 * 6.
      {"where_backward_a", {{{2, 3}}, bytes({2, 3})}, {{{2, 3}}}, 6, 6 + 4 * 12},
      {"where_backward_b", {{{2, 3}}, bytes({2, 3})}, {{{3}}}, 12, 6 + 4 * 9},
      {"expand", {{{2, 1}}}, {{{2, 3}}}, 0, 4 * 8},
      // Four of ten columns of a table of two rows: 8 elements read and written, 4 positions. The gradient
      // adds 8 elements to a table of 20.
      {"gather", {parameter({2, 10}), integers({4})}, {{{2, 4}}}, 0, 4 * 20, {{"axis", std::int64_t{1}}}},
      {"gather_backward", {{{2, 4}}, integers({4})}, {{{2, 10}}}, 8, 4 * 32, {{"axis", std::int64_t{1}}}},
      {"gather_elements", {{{2, 10}}, integers({2, 4})}, {{{2, 4}}}, 0, 4 * 24, {{"axis", std::int64_t{1}}}},
      {"gather_elements_backward",
       {{{2, 4}}, integers({2, 4})},
       {{{2, 10}}},
       8,
       4 * 36,
       {{"axis", std::int64_t{1}}}},
      // 5 output channels of 3*3*3 taps on 2*4*4 positions: 160 elements * 27 * 2 = 8640, + 160 for the bias.
      // Moves x 96, weight 135, bias 5, y 160 = 396 elements.
      {"conv2d", {{{2, 3, 4, 4}}, parameter({5, 3, 3, 3}), parameter({5})}, {{{2, 5, 4, 4}}}, 8800, 4 * 396},
      // Stride 2: a quarter of the positions, 40 elements * 27 * 2 = 2160; no bias. 96 + 135 + 40 = 271.
      {"conv2d",
       {{{2, 3, 4, 4}}, parameter({5, 3, 3, 3})},
       {{{2, 5, 2, 2}}},
       2160,
       4 * 271,
       {{"stride", std::vector<std::int64_t>{2, 2}}}},
      // Depthwise (groups = 3): weight (3,1,3,3), 96 elements * 9 * 2 = 1728. 96 + 27 + 96 = 219.
      {"conv2d",
       {{{2, 3, 4, 4}}, parameter({3, 1, 3, 3})},
       {{{2, 3, 4, 4}}},
       1728,
       4 * 219,
       {{"groups", std::int64_t{3}}}},
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
      {"reduce_max", {{{2, 3}}}, {{{2}}}, 6, 4 * 8},
      {"reduce_min", {{{2, 3}}}, {{{2}}}, 6, 4 * 8},
      // Compared, counted and written 6 times, 2 divisions. Reads dy 2, x 6, y 2, writes 6.
      {"reduce_max_backward", {{{2}}, {{2, 3}}, {{2}}}, {{{2, 3}}}, 6 * 3 + 2, 4 * 16},
      {"reduce_min_backward", {{{2}}, {{2, 3}}, {{2}}}, {{{2, 3}}}, 6 * 3 + 2, 4 * 16},
      // 24 elements to 96: copies; 4 multiply-adds each; 16 each. Back 96 additions, 96 * 4 and 96 * 16
      // multiply-adds. Along one axis 6 elements become 12 of 2 multiply-adds.
      {"resize", {{{2, 3, 2, 2}}}, {{{2, 3, 4, 4}}}, 0, 4 * 120, {{"mode", std::string("nearest")}}},
      {"resize", {{{2, 3, 2, 2}}}, {{{2, 3, 4, 4}}}, 768, 4 * 120, {{"mode", std::string("linear")}}},
      {"resize", {{{2, 3, 2, 2}}}, {{{2, 3, 4, 4}}}, 3072, 4 * 120, {{"mode", std::string("cubic")}}},
      {"resize", {{{1, 3, 2}}}, {{{1, 3, 4}}}, 48, 4 * 18, {{"mode", std::string("linear")}}},
      {"resize_backward",
       {{{2, 3, 4, 4}}},
       {{{2, 3, 2, 2}}},
       96,
       4 * 120,
       {{"mode", std::string("nearest")}}},
      {"resize_backward",
       {{{2, 3, 4, 4}}},
       {{{2, 3, 2, 2}}},
       768,
       4 * 120,
       {{"mode", std::string("linear")}}},
      {"resize_backward",
       {{{2, 3, 4, 4}}},
       {{{2, 3, 2, 2}}},
       3072,
       4 * 120,
       {{"mode", std::string("cubic")}}},
      {"flip", {{{2, 3}}}, {{{2, 3}}}, 0, 4 * 12},
      {"flip_backward", {{{2, 3}}}, {{{2, 3}}}, 0, 4 * 12},
      // One matrix (4,5) for both of 2: as above, but 20 elements less. Its gradient (4,3) * (3,5) for both:
      // 2 * 20 * 3 * 2 = 240; reads 24 + 30, writes 20.
      {"matmul", {{{2, 3, 4}}, {{4, 5}}}, {{{2, 3, 5}}}, 240, 4 * 74, {{"alpha", 1.0}}},
      {"matmul", {{{2, 4, 3}}, {{2, 3, 5}}}, {{{4, 5}}}, 240, 4 * 74, {{"alpha", 1.0}}},
      {"reduce_sum", {{{2, 3}}}, {{{2}}}, 6, 4 * 8},
      {"reduce_mean", {{{2, 3}}}, {{{2}}}, 6, 4 * 8},
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
      {"reduce_sum_backward", {{{2}}}, {{{2, 3}}}, 0, 4 * 8},
      {"reduce_mean_backward", {{{2}}}, {{{2, 3}}}, 2, 4 * 8},
      // 24 windows of 4: 3 comparisons each; indices are bytes.
      {"max_pool2d",
       {{{2, 3, 4, 4}}},
       {{{2, 3, 2, 2}}, bytes({2, 3, 2, 2})},
       72,
       4 * (96 + 24) + 24,
       window(2)},
      {"avg_pool2d", {{{2, 3, 4, 4}}}, {{{2, 3, 2, 2}}}, 96, 4 * (96 + 24), window(2)},
      {"global_avg_pool", {{{2, 3, 4, 4}}}, {{{2, 3, 1, 1}}}, 96, 4 * (96 + 6)},
      // 5 output channels of 3*2*3*3 taps on 4*4 positions: 80 elements * 54 * 2 = 8640, + 80 for the bias.
      // x 96, weight 270, bias 5, y 80 = 451.
      {"conv3d",
       {{{1, 3, 2, 4, 4}}, parameter({5, 3, 2, 3, 3}), parameter({5})},
       {{{1, 5, 1, 4, 4}}},
       8720,
       4 * 451},
      // Every element of x is added to 5*3*3 places: 24 * 45 * 2 = 2160, + 160 for the bias. x 24, weight
      // 135, bias 5, y 160 = 324.
      {"conv_transpose2d",
       {{{2, 3, 2, 2}}, parameter({3, 5, 3, 3}), parameter({5})},
       {{{2, 5, 4, 4}}},
       2320,
       4 * 324},
      {"conv_transpose3d",
       {{{1, 3, 2, 2, 2}}, parameter({3, 5, 1, 3, 3})},
       {{{1, 5, 2, 4, 4}}},
       2160,
       4 * 319},
      // 12 windows of 8: 7 comparisons each; indices are bytes. 12 windows of 3*10*10: they take 4 bytes.
      {"max_pool3d",
       {{{1, 3, 2, 4, 4}}},
       {{{1, 3, 1, 2, 2}}, bytes({1, 3, 1, 2, 2})},
       84,
       4 * (96 + 12) + 12,
       cube(2)},
      {"max_pool3d",
       {{{1, 3, 3, 20, 20}}},
       {{{1, 3, 1, 2, 2}}, integers({1, 3, 1, 2, 2})},
       12 * 299,
       4 * (3600 + 12 + 12),
       {{"kernel", std::vector<std::int64_t>{3, 10, 10}}}},
      {"avg_pool3d", {{{1, 3, 2, 4, 4}}}, {{{1, 3, 1, 2, 2}}}, 96, 4 * (96 + 12), cube(2)},
      // Reads 2 ids and 2 rows of 3 out of 100, writes 6 elements.
      {"embedding", {integers({2}), parameter({100, 3})}, {{{2, 3}}}, 0, 4 * (2 + 6 + 6)},
      // Reads one of 7 positions: 2*3 elements, writes as many.
      {"select", {{{2, 7, 3}}}, {{{2, 3}}}, 0, 4 * (6 + 6), {{"index", std::int64_t{0}}}},
      {"global_max_pool", {{{2, 3, 4, 4}}}, {{{2, 3, 1, 1}}, integers({2, 3, 1, 1})}, 96, 4 * (96 + 6 + 6)},
      // One group: 96 * 6; x, weight, bias, y, and 2 each of mean and rstd: 96 + 3 + 3 + 96 + 2 + 2 = 202.
      {"group_norm",
       {{{2, 3, 4, 4}}, parameter({3}), parameter({3})},
       {{{2, 3, 4, 4}}, {{2, 1}}, {{2, 1}}},
       576,
       4 * 202},
      // Windows of 5: square 1, sum 4, multiply-add 2, power 20, product 1 = 28 per element.
      {"lrn", {{{2, 3}}}, {{{2, 3}}}, 6 * 28, 4 * 12, {{"size", std::int64_t{5}}}},
      // Copies: what is read and what is written. 6 + 4 in, 10 out.
      {"concat", {{{2, 3}}, {{2, 2}}}, {{{2, 5}}}, 0, 4 * 20},
      // Reads only what it delivers.
      {"slice", {{{2, 7}}}, {{{2, 3}}}, 0, 4 * 12},
      {"pad", {{{2, 3}}}, {{{4, 5}}}, 0, 4 * 26},
      {"transpose", {{{2, 3}}}, {{{3, 2}}}, 0, 4 * 12},
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
      {"softmax_cross_entropy", {{{2, 3}}, integers({2})}, {{{1}}, {{2, 3}}}, 108, 4 * 15},
      {"mse_loss", {{{2, 3}}, {{2, 3}}}, {{{1}}}, 3 * 6, 4 * 13},
      {"l1_loss", {{{2, 3}}, {{2, 3}}}, {{{1}}}, 3 * 6, 4 * 13},
      {"huber_loss", {{{2, 3}}, {{2, 3}}}, {{{1}}}, 6 * 6, 4 * 13, {{"delta", 1.0}}},
      {"bce_with_logits_loss", {{{2, 3}}, {{2, 3}}}, {{{1}}}, 26 * 6, 4 * 13},
      {"bce_loss", {{{2, 3}}, {{2, 3}}}, {{{1}}}, 25 * 6, 4 * 13},
      {"split", {{{2, 5}}}, {{{2, 3}}, {{2, 2}}}, 0, 4 * 20},
      {"opaque", {{{2, 3}}, integers({4})}, {{{5}}}, 6 + 4 + 5, 4 * 15},
      // As the forward convolution of stride 2: 40 gradients * 27 * 2 = 2160. dy 40, weight 135, dx 96.
      {"conv2d_backward_input", {{{2, 5, 2, 2}}, parameter({5, 3, 3, 3})}, {{{2, 3, 4, 4}}}, 2160, 4 * 271},
      // 2160 + 40 for dbias. dy 40, x 96, dweight 135, dbias 5.
      {"conv2d_backward_weight", {{{2, 5, 2, 2}}, {{2, 3, 4, 4}}}, {{{5, 3, 3, 3}}, {{5}}}, 2200, 4 * 276},
      {"conv2d_backward_weight", {{{2, 5, 2, 2}}, {{2, 3, 4, 4}}}, {{{5, 3, 3, 3}}}, 2160, 4 * 271},
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
      {"conv2d_backward_bias", {{{2, 5, 2, 2}}}, {{{5}}}, 40, 4 * 45},
      {"linear_backward_bias", {{{2, 5}}}, {{{5}}}, 10, 4 * 15},
      // As the forward ones; dy 80 and 160.
      {"conv3d_backward_input",
       {{{1, 5, 1, 4, 4}}, parameter({5, 3, 2, 3, 3})},
       {{{1, 3, 2, 4, 4}}},
       8640,
       4 * 446},
      {"conv3d_backward_weight",
       {{{1, 5, 1, 4, 4}}, {{1, 3, 2, 4, 4}}},
       {{{5, 3, 2, 3, 3}}, {{5}}},
       8720,
       4 * 451},
      {"conv3d_backward_bias", {{{1, 5, 1, 4, 4}}}, {{{5}}}, 80, 4 * 85},
      {"conv_transpose2d_backward_input",
       {{{2, 5, 4, 4}}, parameter({3, 5, 3, 3})},
       {{{2, 3, 2, 2}}},
       2160,
       4 * 319},
      {"conv_transpose2d_backward_weight",
       {{{2, 5, 4, 4}}, {{2, 3, 2, 2}}},
       {{{3, 5, 3, 3}}, {{5}}},
       2320,
       4 * 324},
      {"conv_transpose2d_backward_bias", {{{2, 5, 4, 4}}}, {{{5}}}, 160, 4 * 165},
      {"conv_transpose3d_backward_input",
       {{{1, 5, 2, 4, 4}}, parameter({3, 5, 1, 3, 3})},
       {{{1, 3, 2, 2, 2}}},
       2160,
       4 * 319},
      {"conv_transpose3d_backward_weight",
       {{{1, 5, 2, 4, 4}}, {{1, 3, 2, 2, 2}}},
       {{{3, 5, 1, 3, 3}}},
       2160,
       4 * 319},
      {"conv_transpose3d_backward_bias", {{{1, 5, 2, 4, 4}}}, {{{5}}}, 160, 4 * 165},
      {"max_pool3d_backward",
       {{{1, 3, 1, 2, 2}}, bytes({1, 3, 1, 2, 2})},
       {{{1, 3, 2, 4, 4}}},
       12,
       4 * (12 + 96) + 12,
       cube(2)},
      // One scaling and 8 additions per window.
      {"avg_pool3d_backward", {{{1, 3, 1, 2, 2}}}, {{{1, 3, 2, 4, 4}}}, 12 * 9, 4 * (12 + 96), cube(2)},
      {"softmax_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 6 * 4, 4 * 18},
      {"dropout_backward", {{{2, 3}}, bytes({2, 3})}, {{{2, 3}}}, 6, 4 * 12 + 6},
      {"max_pool2d_backward",
       {{{2, 3, 2, 2}}, bytes({2, 3, 2, 2})},
       {{{2, 3, 4, 4}}},
       24,
       4 * (24 + 96) + 24,
       window(2)},
      // One scaling and 4 additions per window.
      {"avg_pool2d_backward", {{{2, 3, 2, 2}}}, {{{2, 3, 4, 4}}}, 24 * 5, 4 * (24 + 96), window(2)},
      {"global_avg_pool_backward", {{{2, 3, 1, 1}}}, {{{2, 3, 4, 4}}}, 6, 4 * (6 + 96)},
      // One copy per plane, zeros elsewhere.
      {"global_max_pool_backward",
       {{{2, 3, 1, 1}}, integers({2, 3, 1, 1})},
       {{{2, 3, 4, 4}}},
       0,
       4 * (6 + 6 + 96)},
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
      // Reads its part of the gradient only.
      {"concat_backward", {{{2, 5}}}, {{{2, 3}}}, 0, 4 * 12, gradients({0})},
      {"slice_backward", {{{2, 3}}}, {{{2, 7}}}, 0, 4 * 20},
      {"pad_backward", {{{4, 5}}}, {{{2, 3}}}, 0, 4 * 12},
      {"transpose_backward", {{{3, 2}}}, {{{2, 3}}}, 0, 4 * 12},
      // Writes zeros everywhere but in one position.
      {"select_backward", {{{2, 3}}}, {{{2, 7, 3}}}, 0, 4 * (6 + 42)},
      // The dense table's gradient is written entirely.
      {"first_occurrences", {integers({2, 3})}, {integers({2, 3})}, 18, 4 * (6 + 6)},  // 6 * 6 / 2
      {"embedding_backward", {{{2, 3}}, integers({2})}, {{{100, 3}}}, 6, 4 * (6 + 2 + 300)},
      {"mse_loss_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 2 * 6, 4 * 18},
      {"l1_loss_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 2 * 6, 4 * 18},
      {"huber_loss_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 4 * 6, 4 * 18, {{"delta", 1.0}}},
      {"bce_with_logits_loss_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 14 * 6, 4 * 18},
      {"bce_loss_backward", {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, 6 * 6, 4 * 18},
      {"split_backward", {{{2, 3}}}, {{{2, 5}}}, 0, 4 * 16},
      {"opaque_backward", {{{5}}, {{2, 3}}, integers({4}), {{5}}}, {{{2, 3}}}, 5 + 6 + 4 + 5 + 6, 4 * 26},
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

TEST(OperatorWork, IsTheHandCount) {
  for (const Expected& c : cases()) {
    SCOPED_TRACE(c.kind);
    const Graph graph = one_op(c.kind, c.inputs, c.outputs, c.attributes, c.updates);
    const Work work = work_of(graph, last_op(graph));
    EXPECT_EQ(work.flops.value(), c.flops);
    EXPECT_EQ(work.moved.value(), c.moved);
    EXPECT_EQ(work.workspace.value(), 0);
  }
}

TEST(OperatorWork, OfFunctionsIsThatOfTheirRows) {
  for (const test::FunctionRow& row : test::function_rows()) {
    SCOPED_TRACE(row.kind);
    const Graph forward = one_op(row.kind, {{{2, 3}}}, {{{2, 3}}}, row.attributes);
    EXPECT_EQ(work_of(forward, last_op(forward)).flops.value(), 6 * row.flops);
    EXPECT_EQ(work_of(forward, last_op(forward)).moved.value(), 4 * 12);
    if (row.slope == nullptr) continue;
    const Graph backward =
        one_op(row.kind + std::string("_backward"), {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, row.attributes);
    EXPECT_EQ(work_of(backward, last_op(backward)).flops.value(), 6 * row.slope_flops);
    EXPECT_EQ(work_of(backward, last_op(backward)).moved.value(), 4 * 18);
  }
}

TEST(OperatorWork, EveryKindHasACaseHere) {
  std::set<std::string> seen;
  for (const test::FunctionRow& row : test::function_rows())
    seen.insert({row.kind, row.kind + std::string("_backward")});
  for (const Expected& c : cases()) seen.insert(c.kind);
  for (const OperatorSchema& schema : operators_of_all_families())
    EXPECT_TRUE(seen.count(schema.kind) == 1) << schema.kind;
}

TEST(OperatorWork, TensorReadTwiceIsMovedOnce) {
  // add(x, x): reads 6 elements, writes 6.
  Graph graph = one_op("add", {{{2, 3}}}, {{{2, 3}}});
  Op& op = graph.ops[last_op(graph)];
  op.inputs.push_back(op.inputs[0]);
  EXPECT_EQ(work_of(graph, last_op(graph)).moved.value(), 4 * 12);
}

TEST(OperatorWork, ViewIsItsStorage) {
  // matmul(a, a transposed): reads a's 6 elements once, writes 4.
  Graph graph = one_op("matmul", {{{2, 3}}}, {{{2, 2}}}, {{"alpha", 1.0}});
  Value view = graph.values[graph.ops[last_op(graph)].inputs[0]];
  view.alias_of = graph.ops[last_op(graph)].inputs[0];
  view.producer = OpId();
  view.shape = {3, 2};
  view.strides = {1, 3};
  const ValueId transposed = graph.values.push_back(view);
  graph.ops[last_op(graph)].inputs.push_back(transposed);
  const Work work = work_of(verified(graph), last_op(graph));
  EXPECT_EQ(work.flops.value(), 4 * 3 * 2);
  EXPECT_EQ(work.moved.value(), 4 * (6 + 4));
}

TEST(ForwardMacs, CountsConvolutionsLinearsAndProductsOfTheForwardPass) {
  EXPECT_EQ(forward_macs(one_op("conv2d", {{{2, 3, 4, 4}}, parameter({5, 3, 3, 3})}, {{{2, 5, 2, 2}}})),
            40 * 27);
  EXPECT_EQ(
      forward_macs(one_op("conv3d", {{{1, 3, 2, 4, 4}}, parameter({5, 3, 2, 3, 3})}, {{{1, 5, 1, 4, 4}}})),
      80 * 54);
  EXPECT_EQ(
      forward_macs(one_op("conv_transpose2d", {{{2, 3, 2, 2}}, parameter({3, 5, 3, 3})}, {{{2, 5, 4, 4}}})),
      24 * 45);
  EXPECT_EQ(forward_macs(one_op("linear", {{{2, 3}}, parameter({5, 3}), parameter({5})}, {{{2, 5}}})), 30);
  EXPECT_EQ(forward_macs(one_op("matmul", {{{2, 3, 4}}, {{2, 4, 5}}}, {{{2, 3, 5}}})), 120);
  EXPECT_EQ(forward_macs(one_op("relu", {{{2, 3}}}, {{{2, 3}}})), 0);
  EXPECT_EQ(forward_macs(one_op("lstm", {{{2, 3, 5}}, parameter({1, 16, 5}), parameter({1, 16, 4})},
                                {{{2, 1, 3, 4}}, {{2, 1, 3, 4}}, {{2, 1, 3, 16}}})),
            24 * 4 * 9);
  EXPECT_EQ(forward_macs(one_op("gru", {{{2, 3, 5}}, parameter({1, 12, 5}), parameter({1, 12, 4})},
                                {{{2, 1, 3, 4}}, {{2, 1, 3, 12}}})),
            24 * 3 * 9);
  EXPECT_EQ(forward_macs(one_op("matmul", {{{3, 4}}, {{4, 5}}}, {{{3, 5}}}, {}, {}, Pass::backward)), 0);
}

TEST(ParameterCount, IsElementsOfParametersOnly) {
  EXPECT_EQ(parameter_count(one_op("linear", {{{2, 3}}, parameter({5, 3}), parameter({5})}, {{{2, 5}}})), 20);
  EXPECT_EQ(parameter_count(
                one_op("momentum_update", {parameter({2, 3}), {{2, 3}}, state({2, 3})}, {}, {}, {0, 2})),
            6);
}

std::string diagnostic(const Graph& graph) {
  try {
    static_cast<void>(work_of(graph, last_op(graph)));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OperatorWork, AnUnknownKindHasNoPrice) {
  EXPECT_EQ(diagnostic(one_op("fft", {}, {{{2}}})),
            "op 0 \"the_op\" (fft): this kind of operator has no cost rule");
}

TEST(OperatorWork, OverflowIsADiagnostic) {
  Graph graph = one_op("relu", {{{2}}}, {{{2}}});
  graph.values[ValueId(0)].shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  EXPECT_EQ(diagnostic(graph), "op 1 \"the_op\" (relu): its work does not fit 64 bits");
}

}  // namespace
}  // namespace poet
