// What GraphBuilder rejects: every message names the op.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "poet/graph/nn.h"
#include "tests/support/input_error.h"

namespace poet {
namespace {

using test::input_error;
using testing::HasSubstr;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

class BuilderErrors : public testing::Test {
 protected:
  GraphBuilder g{"g"};
  ValueId image = g.input("image", {2, 6, 8, 8});
  ValueId matrix = g.input("matrix", {4, 5});
  ValueId ids = g.input("ids", {4}, DType::int32);

  template <class Action>
  void expect(const char* message, const Action& action) {
    EXPECT_EQ(input_error(action), message);
  }
  /// By the operator's schema, whose messages end so.
  template <class Action>
  void refused(const char* rule, const Action& action) {
    EXPECT_THAT(input_error(action), testing::EndsWith(rule));
  }
};

TEST_F(BuilderErrors, Input) {
  expect("op 'x': every dimension of (0, 3) must be positive", [&] { g.input("x", {0, 3}); });
  expect("op 'x': shape (9223372036854775807, 3): more elements than 64 bits can count", [&] {
    g.input("x", {kMost, 3});
  });
}

TEST_F(BuilderErrors, OperandTypeAndRank) {
  refused("\"r\" (relu): needs input 0 of type float32, not int32", [&] { nn::relu(g, "r", ids); });
  expect("op 'e': 'matrix' must be int32, not float32", [&] { nn::embedding(g, "e", matrix, 2, 2); });
  expect("op 'c': 'matrix' must have 4 dimensions, not (4, 5)", [&] { nn::conv2d(g, "c", matrix, {}); });
}

TEST_F(BuilderErrors, OnlyMatmulAndTransposeReadStridedViews) {
  const ValueId transposed = nn::permute(g, "transposed", matrix, {1, 0});
  expect("op 'r': 'transposed' must be row-major: only matmul and transpose read strided views",
         [&] { nn::relu(g, "r", transposed); });
}

TEST_F(BuilderErrors, Conv2d) {
  expect("op 'c': kernel must be positive, not 0 x 1", [&] {
    nn::conv2d(g, "c", image, {.kernel = {0, 1}});
  });
  expect("op 'c': stride must be positive, not 1 x -1", [&] {
    nn::conv2d(g, "c", image, {.stride = {1, -1}});
  });
  expect("op 'c': dilation must be positive, not 0 x 0", [&] {
    nn::conv2d(g, "c", image, {.dilation = {0, 0}});
  });
  expect("op 'c': padding must be >= 0", [&] { nn::conv2d(g, "c", image, {.padding = {-1, 0}}); });
  expect("op 'c': out_channels must be positive, not 0",
         [&] { nn::conv2d(g, "c", image, {.out_channels = 0}); });
  expect("op 'c': groups must be positive, not 0", [&] { nn::conv2d(g, "c", image, {.groups = 0}); });
  expect("op 'c': 4 groups must divide 6 input and 8 output channels",
         [&] { nn::conv2d(g, "c", image, {.out_channels = 8, .groups = 4}); });
  expect("op 'c': 2 groups must divide 6 input and 3 output channels",
         [&] { nn::conv2d(g, "c", image, {.out_channels = 3, .groups = 2}); });
  expect("op 'c': a window of 5 (dilation 2) does not fit in 8 with padding 0", [&] {
    nn::conv2d(g, "c", image, {.kernel = {5, 5}, .dilation = {2, 2}});
  });
  expect("op 'c': the window is too large for 64 bits", [&] {
    nn::conv2d(g, "c", image, {.padding = {kMost, 0}});
  });
  expect("op 'c': the window is too large for 64 bits", [&] {
    nn::conv2d(g, "c", image, {.kernel = {kMost, 1}, .dilation = {kMost, 1}});
  });
}

TEST_F(BuilderErrors, Linear) {
  expect("op 'fc': out_features must be positive, not 0", [&] { nn::linear(g, "fc", matrix, 0); });
  expect("op 'fc': needs at least one dimension", [&] { nn::linear(g, "fc", g.input("scalar", {}), 1); });
  EXPECT_THAT(input_error([&] { nn::linear(g, "fc2", matrix, kMost); }),
              HasSubstr("op 'fc2': shape (9223372036854775807"));
}

TEST_F(BuilderErrors, Matmul) {
  expect("op 'm': both operands must be float32", [&] { nn::matmul(g, "m", ids, ids); });
  expect(
      "op 'm': multiplies (4, 5) by (4, 5): they must be (..., M, K) and (..., K, N), their leading axes "
      "equal or "
      "broadcast",
      [&] { nn::matmul(g, "m", matrix, matrix); });
  expect(
      "op 'm': multiplies (4, 5) by (2, 6, 8, 8): they must be (..., M, K) and (..., K, N), their leading "
      "axes equal or "
      "broadcast",
      [&] { nn::matmul(g, "m", matrix, image); });
  const ValueId other = g.input("other", {3, 6, 8, 8});
  EXPECT_THAT(input_error([&] { nn::matmul(g, "m", image, other); }),
              HasSubstr("op 'm': multiplies (2, 6, 8, 8) by"));
  const ValueId transposed = nn::permute(g, "transposed", matrix, {1, 0});
  expect("op 'm': axes (1, 1): must permute 0..1", [&] {
    nn::matmul(g, "m", matrix, transposed, {.alpha = 1, .storage_order = {1, 1}});
  });
}

TEST_F(BuilderErrors, Norms) {
  expect("op 'bn': needs a batch and a channel dimension",
         [&] { nn::batch_norm(g, "bn", g.input("row", {4})); });
  expect("op 'bn': eps must be > 0, not 0",
         [&] { nn::batch_norm(g, "bn", image, {.eps = 0, .momentum = 0.1}); });
  expect("op 'bn': the variance of a batch needs more than one value per channel", [&] {
    nn::batch_norm(g, "bn", g.input("single", {1, 4, 1, 1}));
  });
  expect("op 'ln': needs at least two dimensions",
         [&] { nn::layer_norm(g, "ln", g.input("vector", {4}), 1e-5); });
  expect("op 'ln': eps must be > 0, not -1", [&] { nn::layer_norm(g, "ln", matrix, -1); });
}

TEST_F(BuilderErrors, SoftmaxOfAScalar) {
  refused("\"s\" (softmax): needs input 0 of at least 1 axes, not ()",
          [&] { nn::softmax(g, "s", g.input("scalar", {})); });
}

TEST_F(BuilderErrors, Dropout) {
  expect("op 'd': the probability must be in [0, 1), not 1", [&] { nn::dropout(g, "d", matrix, 1.0); });
  expect("op 'd': the probability must be in [0, 1), not -0.5", [&] { nn::dropout(g, "d", matrix, -0.5); });
  expect("op 'd': the probability must be in [0, 1), not nan",
         [&] { nn::dropout(g, "d", matrix, std::numeric_limits<double>::quiet_NaN()); });
}

TEST_F(BuilderErrors, Broadcasting) {
  expect("op 'a': (4, 5) and (2, 6, 8, 8) do not broadcast to one shape",
         [&] { nn::add(g, "a", matrix, image); });
  expect("op 's': (2, 6, 8, 8) and (6) do not broadcast to one shape",
         [&] { nn::sub(g, "s", image, g.parameter("six", {6})); });
  expect("op 'm': (4, 5) and (4) do not broadcast to one shape", [&] { nn::mul(g, "m", matrix, ids); });
  refused("needs input 1 of type float32, not int32", [&] { nn::mul(g, "m", g.input("row", {4}), ids); });
  const ValueId transposed = nn::permute(g, "transposed", matrix, {1, 0});
  EXPECT_THAT(input_error([&] { nn::div(g, "d", transposed, transposed); }),
              HasSubstr("op 'd': 'transposed' must be row-major"));
  // Each fits 64 bits, stretched to each other they do not.
  const ValueId tall = g.input("tall", {std::int64_t{1} << 40, 1});
  const ValueId wide = g.input("wide", {std::int64_t{1} << 40});
  EXPECT_THAT(input_error([&] { nn::mul(g, "huge", tall, wide); }),
              HasSubstr("op 'huge': shape (1099511627776, 109"));
}

TEST_F(BuilderErrors, Arithmetic) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  refused("needs a finite alpha, not nan", [&] { nn::scale(g, "s", matrix, kNan); });
  refused("needs a finite beta, not inf", [&] { nn::scale(g, "s", matrix, 1, kInfinity); });
  refused("needs a finite exponent, not -inf", [&] {
    nn::unary(g, "pow", "p", matrix, {{"exponent", -kInfinity}});
  });
  refused("needs exponent other than 0", [&] { nn::unary(g, "pow", "p", matrix, {{"exponent", 0.0}}); });
  expect("op 'c': the minimum must be below the maximum, not 6 and 6",
         [&] { nn::clip(g, "c", matrix, 6, 6); });
  expect("op 'c': the minimum must be below the maximum, not nan and 6",
         [&] { nn::clip(g, "c", matrix, kNan, 6); });
  expect("op 'c': needs a minimum or a maximum", [&] { nn::clip(g, "c", matrix, -kInfinity, kInfinity); });
  refused("needs alpha >= 0, not -0.1", [&] { nn::unary(g, "leaky_relu", "l", matrix, {{"alpha", -0.1}}); });
  refused("needs alpha >= 0, not -1", [&] { nn::unary(g, "elu", "e", matrix, {{"alpha", -1.0}}); });
  refused("needs a finite alpha, not nan", [&] { nn::unary(g, "elu", "e", matrix, {{"alpha", kNan}}); });
  refused("needs a finite beta, not nan", [&] {
    nn::unary(g, "hardsigmoid", "h", matrix, {{"alpha", 0.2}, {"beta", kNan}});
  });
}

TEST_F(BuilderErrors, Reductions) {
  expect("op 'r': (4, 5) has no axis 2", [&] { nn::reduce(g, "reduce_sum", "r", matrix, {0, 2}); });
  expect("op 'r': (4, 5) has no axis -1", [&] { nn::reduce(g, "reduce_mean", "r", matrix, {-1}); });
  expect("op 'r': axis 1 is listed twice", [&] { nn::reduce(g, "reduce_mean", "r", matrix, {1, 0, 1}); });
  expect("op 'r': needs at least one axis", [&] { nn::reduce(g, "reduce_sum", "r", matrix, {}); });
  refused("needs input 0 of type float32, not int32", [&] { nn::reduce(g, "reduce_sum", "r", ids, {0}); });
}

TEST_F(BuilderErrors, Parameters) {
  expect("value 'w': every dimension of (2, 0) must be positive", [&] { g.parameter("w", {2, 0}); });
  expect("value 'k': every dimension of (-1) must be positive", [&] { g.constant("k", {-1}); });
}

TEST_F(BuilderErrors, Pools) {
  const std::int64_t large = std::int64_t{1} << 20;
  expect(
      "op 'p': a window of 1048576 x 1048576 elements has more than 2^31 - 1, the most that an index of 4 "
      "bytes tells apart",
      [&] {
        nn::max_pool2d(g, "p", image,
                       {.kernel = {large, large}, .stride = {1, 1}, .padding = {large / 2, large / 2}});
      });
  expect("op 'p': padding must be between 0 and half of the kernel (1), not 2", [&] {
    nn::max_pool2d(g, "p", image, {.kernel = {3, 3}, .stride = {1, 1}, .padding = {2, 0}});
  });
  expect("op 'p': a window of 9 (dilation 1) does not fit in 8 with padding 0", [&] {
    nn::avg_pool2d(g, "p", image, {.kernel = {9, 1}, .stride = {1, 1}, .padding = {0, 0}});
  });
  expect("op 'p': stride must be positive, not 0 x 1", [&] {
    nn::avg_pool2d(g, "p", image, {.kernel = {2, 2}, .stride = {0, 1}, .padding = {0, 0}});
  });
  expect("op 'p': needs a batch, a channel and at least one more dimension",
         [&] { nn::global_avg_pool(g, "p", matrix); });
  expect("op 'p': 'image' must have 5 dimensions, not (2, 6, 8, 8)",
         [&] { nn::max_pool3d(g, "p", image, {}); });
  expect("op 'p': kernel must have 2 numbers, not 3", [&] {
    nn::avg_pool2d(g, "p", image, {.kernel = {2, 2, 2}});
  });
}

TEST_F(BuilderErrors, TransposedConvolutions) {
  expect("op 'c': padding 2 and 3 leaves nothing of 5 elements", [&] {
    nn::conv_transpose2d(g, "c", g.input("dot", {1, 1, 1, 1}),
                         {.kernel = {5, 1}, .padding = {2, 0}, .padding_end = {3, 0}});
  });
  expect(
      "op 'c': output_padding must be less than the stride or the dilation of a transposed convolution, not "
      "2",
      [&] {
        nn::conv_transpose2d(g, "c", image, {.stride = {2, 2}, .output_padding = {0, 2}});
      });
  expect(
      "op 'c': output_padding must be less than the stride or the dilation of a transposed convolution, not "
      "1",
      [&] {
        nn::conv2d(g, "c", image, {.stride = {2, 2}, .output_padding = {1, 0}});
      });
  expect("op 'c': output_padding must be >= 0", [&] {
    nn::conv_transpose2d(g, "c", image, {.output_padding = {-1, 0}});
  });
  expect("op 'c': the window is too large for 64 bits", [&] {
    nn::conv_transpose2d(g, "c", image, {.stride = {kMost, 1}});
  });
  expect("op 'c': 4 groups must divide 6 input and 8 output channels",
         [&] { nn::conv_transpose2d(g, "c", image, {.out_channels = 8, .groups = 4}); });
}

TEST_F(BuilderErrors, UnevenWindows) {
  expect("op 'c': padding must be >= 0", [&] { nn::conv2d(g, "c", image, {.padding_end = {0, -1}}); });
  expect("op 'c': a window of 12 (dilation 1) does not fit in 8 with padding 0 and 3", [&] {
    nn::conv2d(g, "c", image, {.kernel = {12, 1}, .padding_end = {3, 0}});
  });
  expect("op 'p': padding must be >= 0", [&] {
    nn::max_pool2d(g, "p", image, {.padding = {0, 0}, .padding_end = {-1, 0}});
  });
  expect("op 'p': dilation must be positive, not 0 x 1", [&] {
    nn::max_pool2d(g, "p", image, {.dilation = {0, 1}});
  });
  expect("op 'p': with padding 3 and 0 a window holds nothing else", [&] {
    nn::max_pool2d(g, "p", image,
                   {.kernel = {3, 3}, .stride = {1, 1}, .padding = {3, 0}, .padding_end = {0, 0}});
  });
  expect("op 'p': with padding 0 and 3 a window holds nothing else", [&] {
    nn::avg_pool2d(g, "p", image,
                   {.kernel = {3, 3}, .stride = {1, 1}, .padding = {0, 0}, .padding_end = {0, 3}});
  });
  // Taps at -1 and 1 of an axis of one element.
  expect("op 'p': with padding 1 and 1 a window holds nothing else", [&] {
    nn::max_pool2d(g, "p", g.input("dot", {1, 1, 1, 1}),
                   {.kernel = {2, 2}, .stride = {1, 1}, .padding = {1, 1}, .dilation = {2, 2}});
  });
}

TEST_F(BuilderErrors, Copies) {
  expect("op 'c': needs at least one input", [&] { nn::concat(g, "c", {}, 0); });
  expect("op 'c': (4, 5) has no axis 2", [&] { nn::concat(g, "c", {matrix, matrix}, 2); });
  expect("op 'c': (4, 5) has no axis -1", [&] { nn::concat(g, "c", {matrix, matrix}, -1); });
  expect("op 'c': joins (4, 5) and (2, 6, 8, 8) along axis 0: the other axes must be equal", [&] {
    nn::concat(g, "c", {matrix, image}, 0);
  });
  const ValueId wide = g.input("wide", {4, 6});
  expect("op 'c': joins (4, 5) and (4, 6) along axis 0: the other axes must be equal", [&] {
    nn::concat(g, "c", {matrix, wide}, 0);
  });
  expect("op 'c': 'ids' must be float32, not int32", [&] { nn::concat(g, "c", {matrix, ids}, 0); });
  expect("op 's': starts has 1 numbers for the 2 axes of (4, 5)", [&] {
    nn::slice(g, "s", matrix, {0}, {1, 1});
  });
  expect("op 's': steps has 1 numbers for the 2 axes of (4, 5)", [&] {
    nn::slice(g, "s", matrix, {0, 0}, {1, 1}, {1});
  });
  const char* bounds = ": needs 0 <= start < end <= size and step >= 1";
  const auto slice = [&](std::int64_t start, std::int64_t end, std::int64_t step) {
    nn::slice(g, "s", matrix, {0, start}, {4, end}, {1, step});
  };
  expect((std::string("op 's': takes 2 to 2 by 1 of an axis of 5") + bounds).c_str(),
         [&] { slice(2, 2, 1); });
  expect((std::string("op 's': takes 0 to 6 by 1 of an axis of 5") + bounds).c_str(),
         [&] { slice(0, 6, 1); });
  expect((std::string("op 's': takes -1 to 2 by 1 of an axis of 5") + bounds).c_str(),
         [&] { slice(-1, 2, 1); });
  expect((std::string("op 's': takes 0 to 2 by 0 of an axis of 5") + bounds).c_str(),
         [&] { slice(0, 2, 0); });
  expect("op 's': splits an axis of 5 into (2, 2): the sizes must add up to it", [&] {
    nn::split(g, "s", matrix, 1, {2, 2});
  });
  expect("op 's': sizes must be positive, not 0", [&] { nn::split(g, "s", matrix, 1, {5, 0}); });
  expect("op 'p': padding must be >= 0, not 0 and -1 at axis 1", [&] {
    nn::pad(g, "p", matrix, {0, 0}, {1, -1});
  });
  expect("op 'p': after has 3 numbers for the 2 axes of (4, 5)", [&] {
    nn::pad(g, "p", matrix, {0, 0}, {1, 1, 1});
  });
  expect("op 'p': the axis is too long for 64 bits", [&] { nn::pad(g, "p", matrix, {0, kMost}, {0, 0}); });
  expect("op 't': axes (0, 0): must permute 0..1", [&] { nn::transpose(g, "t", matrix, {0, 0}); });
}

TEST_F(BuilderErrors, NormsWithinAnImage) {
  expect("op 'n': 4 groups must divide 6 channels", [&] { nn::group_norm(g, "n", image, 4, 1e-5); });
  expect("op 'n': 0 groups must divide 6 channels", [&] { nn::group_norm(g, "n", image, 0, 1e-5); });
  expect("op 'n': eps must be > 0, not 0", [&] { nn::group_norm(g, "n", image, 2, 0); });
  expect("op 'n': the variance of a group needs more than one value",
         [&] { nn::instance_norm(g, "n", matrix, 1e-5); });
  const ValueId row = g.input("row", {4});
  expect("op 'n': needs a batch and a channel dimension", [&] { nn::instance_norm(g, "n", row, 1e-5); });
  expect("op 'n': needs a batch and a channel dimension", [&] { nn::lrn(g, "n", row, {}); });
  expect("op 'n': size must be positive, not 0", [&] { nn::lrn(g, "n", image, {.size = 0}); });
  expect("op 'n': needs bias > 0 and alpha >= 0, not 0 and 1",
         [&] { nn::lrn(g, "n", image, {.size = 3, .alpha = 1, .beta = 1, .bias = 0}); });
  expect("op 'n': beta must be finite, not nan", [&] {
    nn::lrn(g, "n", image,
            {.size = 3, .alpha = 1, .beta = std::numeric_limits<double>::quiet_NaN(), .bias = 1});
  });
}

TEST_F(BuilderErrors, Embedding) {
  expect("op 'e': rows must be positive, not 0", [&] { nn::embedding(g, "e", ids, 0, 3); });
  expect("op 'e': width must be positive, not -3", [&] { nn::embedding(g, "e", ids, 9, -3); });
}

TEST_F(BuilderErrors, Select) {
  const ValueId tokens = g.input("tokens", {2, 3, 4});
  expect("op 's': selects position 3 of 3", [&] { nn::select(g, "s", tokens, 3); });
  expect("op 's': selects position -1 of 3", [&] { nn::select(g, "s", tokens, -1); });
}

TEST_F(BuilderErrors, Loss) {
  const ValueId few = g.input("few", {3}, DType::int32);
  expect("op 'l': 4 rows of logits but 3 targets", [&] { nn::softmax_cross_entropy(g, "l", matrix, few); });
  expect("op 'l': 'wrong' must have 1 dimensions, not (4, 5)", [&] {
    nn::softmax_cross_entropy(g, "l", matrix, g.input("wrong", {4, 5}, DType::int32));
  });
}

TEST_F(BuilderErrors, Views) {
  expect("view 'v': shape (4, 5): cannot be reshaped to (21): another number of elements",
         [&] { nn::reshape(g, "v", matrix, {21}); });
  expect("view 'v': axes (2, 1): must permute 0..1", [&] { nn::permute(g, "v", matrix, {2, 1}); });
  expect("view 'v': needs at least one dimension", [&] { nn::flatten(g, "v", g.input("scalar", {})); });
}

}  // namespace
}  // namespace poet
