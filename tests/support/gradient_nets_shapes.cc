// What moves, resizes and pools.

#include <gtest/gtest.h>

#include "tests/support/gradient_nets.h"

namespace poet::test {

Graph layout_net() {
  GraphBuilder g("layout_net");
  const ValueId image = g.input("image", {2, 2, 7, 6});
  ValueId h = nn::conv2d(g, "conv1", image,
                         {.out_channels = 4,
                          .kernel = {3, 3},
                          .stride = {2, 1},
                          .padding = {0, 1},
                          .bias = true,
                          .padding_end = {1, 2}});
  h = nn::lrn(g, "lrn1", h, {.size = 3, .alpha = 0.9, .beta = 0.75, .bias = 1.0});
  h = nn::group_norm(g, "gn", h, 2, 1e-2);
  h = nn::lrn(g, "lrn2", h, {.size = 2, .alpha = 0.5, .beta = 0.5, .bias = 2.0});
  h = nn::max_pool2d(g, "max", h,
                     {.kernel = {2, 2},
                      .stride = {1, 2},
                      .padding = {0, 1},
                      .dilation = {1, 2},
                      .padding_end = {1, 0},
                      .ceil_mode = true});
  EXPECT_EQ(g.shape(h), (Shape{2, 4, 3, 4}));
  ValueId a = nn::avg_pool2d(g, "avg_image", h,
                             {.kernel = {2, 3},
                              .stride = {2, 2},
                              .padding = {1, 0},
                              .padding_end = {0, 1},
                              .ceil_mode = true,
                              .count_include_pad = false});
  a = nn::instance_norm(g, "in", a, 1e-2);
  const ValueId b =
      nn::avg_pool2d(g, "avg", h, {.kernel = {2, 2}, .stride = {2, 3}, .padding = {0, 0}, .ceil_mode = true});
  const ValueId corner = nn::slice(g, "corner", image, {0, 0, 0, 0}, {2, 2, 2, 2});
  h = nn::concat(g, "cat", {a, corner, b, a}, 1);
  EXPECT_EQ(g.shape(h), (Shape{2, 14, 2, 2}));
  h = nn::pad(g, "pad", h, {0, 1, 0, 1}, {0, 0, 1, 0}, 0.5);
  h = nn::slice(g, "slice", h, {0, 0, 0, 0}, {2, 15, 3, 3}, {1, 3, 1, 2});
  const std::vector<ValueId> parts = nn::split(g, "split", h, 1, {2, 3});
  const ValueId transposed = nn::permute(g, "transposed", parts[1], {0, 2, 1, 3});
  const ValueId copied = nn::transpose(g, "copied", transposed, {0, 1, 3, 2});
  const ValueId top = nn::global_max_pool(g, "top", parts[0]);
  h = nn::concat(g, "features", {nn::flatten(g, "flat1", top), nn::flatten(g, "flat2", copied)}, 1);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", h, 3), g.input("targets", {2}, DType::int32));
  return g.finish();
}

Graph resize_net() {
  GraphBuilder g("resize_net");
  const ValueId image = g.input("image", {2, 2, 4, 3});
  ValueId h = nn::unary(g, "silu", "silu", nn::conv2d(g, "conv", image, {.out_channels = 3, .bias = true}));
  ValueId up = nn::resize(g, "nearest", h, {7, 4}, {.coordinates = "asymmetric", .nearest = "floor"});
  up = nn::unary(g, "mish", "mish",
                 nn::resize(g, "linear", up, {3, 5}, {.mode = "linear", .coordinates = "half_pixel"}));
  up =
      nn::resize(g, "cubic", up, {4, 3},
                 {.mode = "cubic", .coordinates = "align_corners", .cubic_a = -0.5, .exclude_outside = true});
  h = nn::prelu(g, "prelu", nn::add(g, "skip", nn::flip(g, "flip", h, {2, 3}), up),
                g.parameter("slope.weight", {3, 1, 1}));
  ValueId row = nn::flatten(g, "row", h);
  row = nn::unary(g, "celu", "celu", nn::unary(g, "selu", "selu", row, {{"alpha", 1.7}, {"gamma", 1.1}}),
                  {{"alpha", 0.8}});
  row = nn::resize(g, "line", nn::reshape(g, "line_in", row, {2, 3, 12}), {5},
                   {.mode = "linear", .coordinates = "pytorch_half_pixel", .scales = {0.45}});
  row = nn::unary(g, "softplus", "softplus",
                  nn::add(g, "wave", nn::unary(g, "sin", "sin", row), nn::unary(g, "cos", "cos", row)));
  // Steps: 0 almost everywhere, so only what passes them by trains.
  ValueId steps = nn::unary(
      g, "sign", "sign",
      nn::unary(g, "round", "round", nn::unary(g, "floor", "floor", nn::unary(g, "ceil", "ceil", row))));
  row = nn::add(g, "stepped", row, nn::scale(g, "little", steps, 0.25));
  row = nn::log_softmax(g, "log_softmax", nn::unary(g, "softsign", "softsign", row));
  row = nn::add(g, "extremes", nn::reduce(g, "reduce_max", "max", row, {1}),
                nn::reduce(g, "reduce_min", "min", row, {2}));
  // (2,3,5) by (5,4), (4,5) by the result, and both stretched.
  const ValueId w = g.parameter("w.weight", {5, 4});
  ValueId m = nn::matmul(g, "right", row, w, {.alpha = 0.5, .storage_order = {}});
  m = nn::matmul(g, "left", nn::permute(g, "wT", g.parameter("v.weight", {3, 4}), {1, 0}), m);
  m = nn::matmul(g, "both", nn::reshape(g, "a", m, {2, 1, 4, 4}), g.parameter("u.weight", {1, 2, 4, 3}));
  m = nn::unary(g, "thresholded_relu", "threshold", m, {{"alpha", 0.1}});
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", nn::flatten(g, "flat", m), 3),
                            g.input("targets", {2}, DType::int32));
  return g.finish();
}

Graph volume_net() {
  GraphBuilder g("volume_net");
  ValueId h = nn::conv3d(g, "conv0", g.input("volume", {2, 2, 4, 5, 4}), {.out_channels = 2});
  h = nn::conv3d(g, "conv1", h,
                 {.out_channels = 4,
                  .kernel = {3, 2, 3},
                  .stride = {1, 2, 1},
                  .padding = {1, 1, 0},
                  .dilation = {1, 2, 1},
                  .groups = 2,
                  .bias = true,
                  .padding_end = {1, 0, 2}});
  h = nn::tanh(g, "tanh", h);
  EXPECT_EQ(g.shape(h), (Shape{2, 4, 4, 2, 4}));
  const ValueId most = nn::max_pool3d(
      g, "max", h, {.kernel = {2, 1, 2}, .stride = {1, 1, 2}, .padding = {1, 0, 0}, .ceil_mode = true});
  const ValueId mean = nn::avg_pool3d(g, "avg", h,
                                      {.kernel = {3, 2, 2},
                                       .stride = {2, 1, 3},
                                       .padding = {1, 0, 0},
                                       .ceil_mode = true,
                                       .count_include_pad = false});
  EXPECT_EQ(g.shape(mean), (Shape{2, 4, 3, 1, 2}));
  const ValueId up = nn::conv_transpose3d(g, "up", mean,
                                          {.out_channels = 4,
                                           .kernel = {2, 2, 1},
                                           .stride = {2, 1, 1},
                                           .padding = {1, 0, 0},
                                           .groups = 2,
                                           .bias = true,
                                           .padding_end = {0, 0, 0}});
  h = nn::add(g, "sum", most, up);
  const ValueId top = nn::flatten(g, "top.flat", nn::global_max_pool(g, "top", h));
  const ValueId middle = nn::flatten(g, "middle.flat", nn::global_avg_pool(g, "middle", h));
  h = nn::conv_transpose2d(g, "grow", nn::reshape(g, "plane", h, {2, 4, 5, 4}),
                           {.out_channels = 2,
                            .kernel = {3, 2},
                            .stride = {2, 1},
                            .padding = {1, 0},
                            .dilation = {1, 2},
                            .groups = 2,
                            .bias = true,
                            .output_padding = {1, 0}});
  EXPECT_EQ(g.shape(h), (Shape{2, 2, 10, 6}));
  h = nn::pad(g, "long", nn::reshape(g, "line", h, {2, 1, 1, 120}), {0, 0, 0, 70}, {0, 0, 0, 70}, -0.2);
  h = nn::max_pool2d(g, "longest", h, {.kernel = {1, 257}, .stride = {1, 41}, .padding = {0, 60}});
  h = nn::concat(g, "features", {top, middle, nn::flatten(g, "longest.flat", h)}, 1);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", h, 3), g.input("targets", {2}, DType::int32));
  return g.finish();
}

}  // namespace poet::test
