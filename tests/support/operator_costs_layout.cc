// Operators that move, select, sum over axes or resize.

#include "tests/support/operator_costs.h"

namespace poet::test {

const std::vector<OperatorCost>& layout_costs() {
  static const std::vector<OperatorCost> all = {
      {"cumsum", {integers({2, 3})}, {integers({2, 3})}, 6, 4 * 12},
      {"cumsum_backward", {{{2, 3}}}, {{{2, 3}}}, 6, 4 * 12},
      // Every element is compared, two positions are written.
      {"argmax", {{{2, 3}}}, {integers({2})}, 6, 4 * 8},
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
      {"reduce_sum", {{{2, 3}}}, {{{2}}}, 6, 4 * 8},
      {"reduce_mean", {{{2, 3}}}, {{{2}}}, 6, 4 * 8},
      {"reduce_sum_backward", {{{2}}}, {{{2, 3}}}, 0, 4 * 8},
      {"reduce_mean_backward", {{{2}}}, {{{2, 3}}}, 2, 4 * 8},
      // Reads 2 ids and 2 rows of 3 out of 100, writes 6 elements.
      {"embedding", {integers({2}), parameter({100, 3})}, {{{2, 3}}}, 0, 4 * (2 + 6 + 6)},
      // Reads one of 7 positions: 2*3 elements, writes as many.
      {"select", {{{2, 7, 3}}}, {{{2, 3}}}, 0, 4 * (6 + 6), {{"index", std::int64_t{0}}}},
      // Copies: what is read and what is written. 6 + 4 in, 10 out.
      {"concat", {{{2, 3}}, {{2, 2}}}, {{{2, 5}}}, 0, 4 * 20},
      // Reads only what it delivers.
      {"slice", {{{2, 7}}}, {{{2, 3}}}, 0, 4 * 12},
      {"pad", {{{2, 3}}}, {{{4, 5}}}, 0, 4 * 26},
      {"transpose", {{{2, 3}}}, {{{3, 2}}}, 0, 4 * 12},
      {"split", {{{2, 5}}}, {{{2, 3}}, {{2, 2}}}, 0, 4 * 20},
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
      {"split_backward", {{{2, 3}}}, {{{2, 5}}}, 0, 4 * 16},
  };
  return all;
}

}  // namespace poet::test
