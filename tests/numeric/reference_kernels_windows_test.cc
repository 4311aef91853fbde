// The naive kernels of windows and resizes, by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "poet/graph/nn.h"
#include "tests/support/computed.h"
#include "tests/support/graph_text.h"

namespace poet::test {
namespace {

using reference::Interpreter;

// The kernels themselves, by hand: the differences above would not notice a backward and a forward kernel
// that are wrong alike.
TEST(ReferenceWindows, UnevenWindowsByHand) {
  const std::vector<double> row = {1, 2, 3, 4, 5};
  const auto average = [&row](bool ceil, bool include) {
    GraphBuilder g("avg");
    const ValueId x = g.input("x", {1, 1, 1, 5});
    const ValueId y = nn::avg_pool2d(g, "y", x,
                                     {.kernel = {1, 4},
                                      .stride = {1, 3},
                                      .padding = {0, 2},
                                      .padding_end = {0, 1},
                                      .ceil_mode = ceil,
                                      .count_include_pad = include});
    return computed(g, x, row, y);
  };
  // Windows of 4 every 3 over (0, 0, 1, 2, 3, 4, 5, 0): 0 0 1 2 and 2 3 4 5; rounded up one more: 5, padding
  // and two places outside of the padded row, which never count.
  expect_all_near(average(false, true), {3.0 / 4, 14.0 / 4});
  expect_all_near(average(false, false), {3.0 / 2, 14.0 / 4});
  expect_all_near(average(true, true), {3.0 / 4, 14.0 / 4, 5.0 / 2});
  expect_all_near(average(true, false), {3.0 / 2, 14.0 / 4, 5.0});

  GraphBuilder g("max");
  const ValueId x = g.input("x", {1, 1, 1, 5});
  const ValueId y =
      nn::max_pool2d(g, "y", x, {.kernel = {1, 2}, .stride = {1, 1}, .padding = {0, 1}, .dilation = {1, 2}});
  // Places (-1, 1), (0, 2), (1, 3), (2, 4), (3, 5).
  expect_all_near(computed(g, x, {5, 1, 3, 4, 2}, y), {1, 5, 4, 3, 4});
}

TEST(ReferenceWindows, TransposedConvolutionByHand) {
  GraphBuilder g("grow");
  const ValueId x = g.input("x", {1, 2, 1, 3});
  const ValueId y = nn::conv_transpose2d(g, "y", x,
                                         {.out_channels = 2,
                                          .kernel = {1, 3},
                                          .stride = {1, 2},
                                          .padding = {0, 1},
                                          .groups = 2,
                                          .bias = true,
                                          .output_padding = {0, 1}});
  const Graph graph = g.finish();
  Interpreter run(graph);
  run.set(x, {1, 2, 3, 1, 0, 0});
  run.set(find_value(graph, "y.weight"), {1, 10, 100, 1, 1, 1});
  run.set(find_value(graph, "y.bias"), {0.5, 0});
  run.run();
  // 1 10 100 . . . ., then 2 20 200 two places on, 3 30 300 four; the first place is padding, the one behind
  // the last would be, too, but for the output padding.
  expect_all_near(run.get(y).data, {10.5, 102.5, 20.5, 203.5, 30.5, 300.5, 1, 1, 0, 0, 0, 0});
}

TEST(ReferenceWindows, VolumesByHand) {
  GraphBuilder g("volume");
  const ValueId x = g.input("x", {1, 1, 2, 2, 2});
  const ValueId conv = nn::conv3d(g, "conv", x, {.kernel = {2, 1, 2}});
  const ValueId max = nn::max_pool3d(g, "max", x, {.kernel = {2, 2, 1}});
  const ValueId avg = nn::avg_pool3d(g, "avg", x, {.kernel = {1, 2, 2}});
  const Graph graph = g.finish();
  Interpreter run(graph);
  run.set(x, {1, 2, 3, 4, 5, 6, 8, 7});
  run.set(find_value(graph, "conv.weight"), {1, 10, 100, 1000});
  run.run();
  // Depth, then width: rows 1 2 and 5 6, rows 3 4 and 8 7.
  expect_all_near(run.get(conv).data, {1 + 20 + 500 + 6000, 3 + 40 + 800 + 7000});
  expect_all_near(run.get(max).data, {8, 7});
  expect_all_near(run.get(avg).data, {10.0 / 4, 26.0 / 4});
}

// Expectations of ONNX's own tests of Resize, or by hand where they have none.
TEST(ReferenceWindows, ResizesByHand) {
  const auto resized = [](const Shape& shape, const std::vector<double>& data,
                          const std::vector<std::int64_t>& sizes, const nn::ResizeOptions& options) {
    GraphBuilder g("resize");
    const ValueId x = g.input("x", shape);
    return computed(g, x, data, nn::resize(g, "y", x, sizes, options));
  };
  const std::vector<double> four = {1, 2, 3, 4};
  expect_all_near(resized({1, 1, 2, 2}, four, {4, 6}, {.coordinates = "half_pixel"}),
                  {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4});
  expect_all_near(resized({1, 1, 2, 2}, four, {4, 4}, {.mode = "linear", .coordinates = "half_pixel"}),
                  {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  const double third = 1.0 / 3;
  expect_all_near(resized({1, 1, 4}, four, {3}, {.mode = "linear", .coordinates = "align_corners"}),
                  {1, 2.5, 4});
  // Places (x + 1/2) 4/3 - 1/2 = 1/6, 3/2, 17/6; places 4/3 x = 0, 4/3, 8/3.
  expect_all_near(resized({1, 1, 4}, four, {3}, {.mode = "linear"}), {1 + third / 2, 2.5, 3.5 + third});
  expect_all_near(resized({1, 1, 4}, four, {3}, {.mode = "linear", .coordinates = "asymmetric"}),
                  {1, 2 + third, 3 + 2 * third});
  // One element of five is the middle one by half pixels, the first by PyTorch's and by corners.
  for (const auto& [coordinates, wanted] : std::map<std::string, double>{
           {"half_pixel", 3}, {"pytorch_half_pixel", 1}, {"align_corners", 1}, {"asymmetric", 1}}) {
    expect_all_near(resized({1, 1, 5}, {1, 2, 3, 4, 5}, {1}, {.mode = "linear", .coordinates = coordinates}),
                    {wanted});
  }
  // Places 0, 1/2, 1, 3/2, 2 and 5/2 of 3 elements.
  const auto nearest = [&](const std::string& how) {
    return resized({1, 1, 3}, {1, 2, 3}, {6}, {.coordinates = "asymmetric", .nearest = how});
  };
  expect_all_near(nearest("floor"), {1, 1, 2, 2, 3, 3});
  expect_all_near(nearest("ceil"), {1, 2, 2, 3, 3, 3});
  expect_all_near(nearest("round_prefer_floor"), {1, 1, 2, 2, 3, 3});
  expect_all_near(nearest("round_prefer_ceil"), {1, 2, 2, 3, 3, 3});
  // Half way between 2 and 3 the weights of a = -3/4 are -3/32, 19/32, 19/32, -3/32: (-1 + 4) / 32 less.
  const std::vector<double> odd = {1, 2, 4, 9};
  expect_all_near(resized({1, 1, 4}, odd, {3}, {.mode = "cubic", .coordinates = "align_corners"}),
                  {1, (19.0 * 6 - 3.0 * 10) / 32, 9});
  // Half way before the first element: the border thrice, or without those that are not there.
  const nn::ResizeOptions half = {.mode = "cubic", .coordinates = "half_pixel", .scales = {2}};
  // Place -1/4: distances 7/4, 3/4, 1/4, 5/4 with weights of a = -3/4: -9/256, 67/256 and so on.
  const double w[] = {-9.0 / 256, 67.0 / 256, 225.0 / 256, -27.0 / 256};
  EXPECT_NEAR(w[0] + w[1] + w[2] + w[3], 1.0, 1e-15);
  EXPECT_NEAR(resized({1, 1, 4}, odd, {8}, half)[0], (w[0] + w[1] + w[2]) * 1 + w[3] * 2, 1e-12);
  nn::ResizeOptions inside = half;
  inside.exclude_outside = true;
  EXPECT_NEAR(resized({1, 1, 4}, odd, {8}, inside)[0], (w[2] * 1 + w[3] * 2) / (w[2] + w[3]), 1e-12);
}

}  // namespace
}  // namespace poet::test
