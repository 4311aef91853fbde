// What GraphBuilder rejects: every message names the op.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "poet/graph/builder.h"
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
};

TEST_F(BuilderErrors, Input) {
  expect("op 'x': every dimension of (0, 3) must be positive", [&] { g.input("x", {0, 3}); });
  expect("op 'x': shape (9223372036854775807, 3): more elements than 64 bits can count", [&] {
    g.input("x", {kMost, 3});
  });
}

TEST_F(BuilderErrors, OperandTypeAndRank) {
  expect("op 'r': 'ids' must be float32, not int32", [&] { g.relu("r", ids); });
  expect("op 'e': 'matrix' must be int32, not float32", [&] { g.embedding("e", matrix, 2, 2); });
  expect("op 'c': 'matrix' must have 4 dimensions, not (4, 5)", [&] { g.conv2d("c", matrix, {}); });
}

TEST_F(BuilderErrors, OnlyMatmulReadsStridedViews) {
  const ValueId turned = g.permute("turned", matrix, {1, 0});
  expect("op 'r': 'turned' must be row-major: only matmul reads strided views", [&] { g.relu("r", turned); });
}

TEST_F(BuilderErrors, Conv2d) {
  expect("op 'c': kernel must be positive, not 0 x 1", [&] { g.conv2d("c", image, {.kernel = {0, 1}}); });
  expect("op 'c': stride must be positive, not 1 x -1", [&] { g.conv2d("c", image, {.stride = {1, -1}}); });
  expect("op 'c': dilation must be positive, not 0 x 0", [&] { g.conv2d("c", image, {.dilation = {0, 0}}); });
  expect("op 'c': padding must be >= 0", [&] { g.conv2d("c", image, {.padding = {-1, 0}}); });
  expect("op 'c': out_channels must be positive, not 0", [&] { g.conv2d("c", image, {.out_channels = 0}); });
  expect("op 'c': groups must be positive, not 0", [&] { g.conv2d("c", image, {.groups = 0}); });
  expect("op 'c': 4 groups must divide 6 input and 8 output channels",
         [&] { g.conv2d("c", image, {.out_channels = 8, .groups = 4}); });
  expect("op 'c': 2 groups must divide 6 input and 3 output channels",
         [&] { g.conv2d("c", image, {.out_channels = 3, .groups = 2}); });
  expect("op 'c': a window of 5 (dilation 2) does not fit in 8 with padding 0", [&] {
    g.conv2d("c", image, {.kernel = {5, 5}, .dilation = {2, 2}});
  });
  expect("op 'c': the window is too large for 64 bits", [&] {
    g.conv2d("c", image, {.padding = {kMost, 0}});
  });
  expect("op 'c': the window is too large for 64 bits", [&] {
    g.conv2d("c", image, {.kernel = {kMost, 1}, .dilation = {kMost, 1}});
  });
}

TEST_F(BuilderErrors, Linear) {
  expect("op 'fc': out_features must be positive, not 0", [&] { g.linear("fc", matrix, 0); });
  expect("op 'fc': needs at least one dimension", [&] { g.linear("fc", g.input("scalar", {}), 1); });
  EXPECT_THAT(input_error([&] { g.linear("fc2", matrix, kMost); }),
              HasSubstr("op 'fc2': shape (9223372036854775807"));
}

TEST_F(BuilderErrors, Matmul) {
  expect("op 'm': both operands must be float32", [&] { g.matmul("m", ids, ids); });
  expect("op 'm': multiplies (4, 5) by (4, 5): they must be (..., M, K) and (..., K, N)",
         [&] { g.matmul("m", matrix, matrix); });
  expect("op 'm': multiplies (4, 5) by (2, 6, 8, 8): they must be (..., M, K) and (..., K, N)",
         [&] { g.matmul("m", matrix, image); });
  const ValueId other = g.input("other", {3, 6, 8, 8});
  EXPECT_THAT(input_error([&] { g.matmul("m", image, other); }),
              HasSubstr("op 'm': multiplies (2, 6, 8, 8) by"));
  const ValueId turned = g.permute("turned", matrix, {1, 0});
  expect("op 'm': axes (1, 1): must permute 0..1", [&] {
    g.matmul("m", matrix, turned, {.alpha = 1, .storage_order = {1, 1}});
  });
}

TEST_F(BuilderErrors, Norms) {
  expect("op 'bn': needs a batch and a channel dimension", [&] { g.batch_norm("bn", g.input("row", {4})); });
  expect("op 'bn': eps must be > 0, not 0", [&] { g.batch_norm("bn", image, {.eps = 0, .momentum = 0.1}); });
  expect("op 'bn': the variance of a batch needs more than one value per channel", [&] {
    g.batch_norm("bn", g.input("single", {1, 4, 1, 1}));
  });
  expect("op 'ln': needs at least two dimensions", [&] { g.layer_norm("ln", g.input("vector", {4}), 1e-5); });
  expect("op 'ln': eps must be > 0, not -1", [&] { g.layer_norm("ln", matrix, -1); });
}

TEST_F(BuilderErrors, SoftmaxOfAScalar) {
  expect("op 's': needs at least one dimension", [&] { g.softmax("s", g.input("scalar", {})); });
}

TEST_F(BuilderErrors, Dropout) {
  expect("op 'd': the probability must be in [0, 1), not 1", [&] { g.dropout("d", matrix, 1.0); });
  expect("op 'd': the probability must be in [0, 1), not -0.5", [&] { g.dropout("d", matrix, -0.5); });
  expect("op 'd': the probability must be in [0, 1), not nan",
         [&] { g.dropout("d", matrix, std::numeric_limits<double>::quiet_NaN()); });
}

TEST_F(BuilderErrors, Add) {
  expect("op 'a': adds (4, 5) and (2, 6, 8, 8): the shapes must be equal",
         [&] { g.add("a", matrix, image); });
}

TEST_F(BuilderErrors, Pools) {
  expect("op 'p': a window may have at most 256 elements: indices are bytes", [&] {
    g.max_pool2d("p", image, {.kernel = {17, 17}, .stride = {1, 1}, .padding = {8, 8}});
  });
  expect("op 'p': padding must be between 0 and half of the kernel (1), not 2", [&] {
    g.max_pool2d("p", image, {.kernel = {3, 3}, .stride = {1, 1}, .padding = {2, 0}});
  });
  expect("op 'p': a window of 9 (dilation 1) does not fit in 8 with padding 0", [&] {
    g.avg_pool2d("p", image, {.kernel = {9, 1}, .stride = {1, 1}, .padding = {0, 0}});
  });
  expect("op 'p': stride must be positive, not 0 x 1", [&] {
    g.avg_pool2d("p", image, {.kernel = {2, 2}, .stride = {0, 1}, .padding = {0, 0}});
  });
  expect("op 'p': 'matrix' must have 4 dimensions, not (4, 5)", [&] { g.global_avg_pool("p", matrix); });
}

TEST_F(BuilderErrors, Embedding) {
  expect("op 'e': rows must be positive, not 0", [&] { g.embedding("e", ids, 0, 3); });
  expect("op 'e': width must be positive, not -3", [&] { g.embedding("e", ids, 9, -3); });
}

TEST_F(BuilderErrors, Select) {
  const ValueId tokens = g.input("tokens", {2, 3, 4});
  expect("op 's': selects position 3 of 3", [&] { g.select("s", tokens, 3); });
  expect("op 's': selects position -1 of 3", [&] { g.select("s", tokens, -1); });
}

TEST_F(BuilderErrors, Loss) {
  const ValueId few = g.input("few", {3}, DType::int32);
  expect("op 'l': 4 rows of logits but 3 targets", [&] { g.softmax_cross_entropy("l", matrix, few); });
  expect("op 'l': 'wrong' must have 1 dimensions, not (4, 5)", [&] {
    g.softmax_cross_entropy("l", matrix, g.input("wrong", {4, 5}, DType::int32));
  });
}

TEST_F(BuilderErrors, Views) {
  expect("view 'v': shape (4, 5): cannot be reshaped to (21): another number of elements",
         [&] { g.reshape("v", matrix, {21}); });
  expect("view 'v': axes (2, 1): must permute 0..1", [&] { g.permute("v", matrix, {2, 1}); });
  expect("view 'v': needs at least one dimension", [&] { g.flatten("v", g.input("scalar", {})); });
}

}  // namespace
}  // namespace poet
