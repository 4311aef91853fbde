// Convolutions and pools.

#include "tests/support/operator_costs.h"

namespace poet::test {
namespace {

Attributes pool_window(std::int64_t side) {
  return {{"kernel", std::vector<std::int64_t>{side, side}},
          {"stride", std::vector<std::int64_t>{side, side}},
          {"padding", std::vector<std::int64_t>{0, 0}}};
}

Attributes pool_cube(std::int64_t side) { return {{"kernel", std::vector<std::int64_t>{side, side, side}}}; }

}  // namespace

const std::vector<OperatorCost>& windows_costs() {
  static const std::vector<OperatorCost> all = {
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
      // 24 windows of 4: 3 comparisons each; indices are bytes.
      {"max_pool2d",
       {{{2, 3, 4, 4}}},
       {{{2, 3, 2, 2}}, bytes({2, 3, 2, 2})},
       72,
       4 * (96 + 24) + 24,
       pool_window(2)},
      {"avg_pool2d", {{{2, 3, 4, 4}}}, {{{2, 3, 2, 2}}}, 96, 4 * (96 + 24), pool_window(2)},
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
       pool_cube(2)},
      {"max_pool3d",
       {{{1, 3, 3, 20, 20}}},
       {{{1, 3, 1, 2, 2}}, integers({1, 3, 1, 2, 2})},
       12 * 299,
       4 * (3600 + 12 + 12),
       {{"kernel", std::vector<std::int64_t>{3, 10, 10}}}},
      {"avg_pool3d", {{{1, 3, 2, 4, 4}}}, {{{1, 3, 1, 2, 2}}}, 96, 4 * (96 + 12), pool_cube(2)},
      {"global_max_pool", {{{2, 3, 4, 4}}}, {{{2, 3, 1, 1}}, integers({2, 3, 1, 1})}, 96, 4 * (96 + 6 + 6)},
      // As the forward convolution of stride 2: 40 gradients * 27 * 2 = 2160. dy 40, weight 135, dx 96.
      {"conv2d_backward_input", {{{2, 5, 2, 2}}, parameter({5, 3, 3, 3})}, {{{2, 3, 4, 4}}}, 2160, 4 * 271},
      // 2160 + 40 for dbias. dy 40, x 96, dweight 135, dbias 5.
      {"conv2d_backward_weight", {{{2, 5, 2, 2}}, {{2, 3, 4, 4}}}, {{{5, 3, 3, 3}}, {{5}}}, 2200, 4 * 276},
      {"conv2d_backward_weight", {{{2, 5, 2, 2}}, {{2, 3, 4, 4}}}, {{{5, 3, 3, 3}}}, 2160, 4 * 271},
      {"conv2d_backward_bias", {{{2, 5, 2, 2}}}, {{{5}}}, 40, 4 * 45},
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
       pool_cube(2)},
      // One scaling and 8 additions per window.
      {"avg_pool3d_backward", {{{1, 3, 1, 2, 2}}}, {{{1, 3, 2, 4, 4}}}, 12 * 9, 4 * (12 + 96), pool_cube(2)},
      {"max_pool2d_backward",
       {{{2, 3, 2, 2}}, bytes({2, 3, 2, 2})},
       {{{2, 3, 4, 4}}},
       24,
       4 * (24 + 96) + 24,
       pool_window(2)},
      // One scaling and 4 additions per window.
      {"avg_pool2d_backward", {{{2, 3, 2, 2}}}, {{{2, 3, 4, 4}}}, 24 * 5, 4 * (24 + 96), pool_window(2)},
      {"global_avg_pool_backward", {{{2, 3, 1, 1}}}, {{{2, 3, 4, 4}}}, 6, 4 * (6 + 96)},
      // One copy per plane, zeros elsewhere.
      {"global_max_pool_backward",
       {{{2, 3, 1, 1}}, integers({2, 3, 1, 1})},
       {{{2, 3, 4, 4}}},
       0,
       4 * (6 + 6 + 96)},
  };
  return all;
}

}  // namespace poet::test
