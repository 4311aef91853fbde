#pragma once

// Products of matrices, and convolutions as such, on row-major tensors: operands are packed piece by piece
// into a workspace of known size. oneDNN's own product allocates megabytes at every call, which no plan knows
// of. After Goto, van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008), with one panel of
// B at a time.

#include <cstdint>
#include <limits>

#include "poet/base/units.h"

namespace poet::runtime::onednn {

struct Level {
  std::int64_t count = std::numeric_limits<std::int64_t>::max();  // of steps
  std::int64_t stride = 0;
};

/// Where the i-th row or column of a matrix lies: the first `inner` ones `stride` apart, such groups `outer`
/// apart, and groups of those further out.
struct MatrixAxis {
  std::int64_t stride = 1;
  std::int64_t inner = std::numeric_limits<std::int64_t>::max();
  std::int64_t outer = 0;
  std::int64_t outer_count = std::numeric_limits<std::int64_t>::max();
  Level third{};
  Level fourth{};

  [[nodiscard]] std::int64_t at(std::int64_t i) const {
    if (i < inner) return i * stride;
    std::int64_t place = i % inner * stride;
    i /= inner;
    if (i < outer_count) return place + i * outer;
    place += i % outer_count * outer;
    i /= outer_count;
    place += i % third.count * third.stride;
    i /= third.count;
    return place + i % fourth.count * fourth.stride;
  }
};

/// One spatial axis of a convolution: output position `p` and tap `k` meet the input position p step + origin
/// + k tap, where it is within the input.
struct ConvolutionAxis {
  std::int64_t input = 1;
  std::int64_t output = 1;
  std::int64_t taps = 1;
  std::int64_t step = 1;
  std::int64_t origin = 0;
  std::int64_t tap = 1;
};

/// The matrix of all windows of images: one axis counts (channel, taps), the other (image, output positions).
struct Im2colMatrix {
  ConvolutionAxis axes[3];  // depth, height, width
  std::int64_t image = 0;
  std::int64_t channel = 0;  // distances in memory
};

/// What B (k x n) is: a matrix, windows with positions along n, or windows with positions along k.
enum class Content { matrix, windows, windows_transposed };

/// C = alpha A B + bias, or C += alpha A B.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  MatrixAxis a_rows, a_columns;
  Content b = Content::matrix;
  MatrixAxis b_rows, b_columns;  // of a matrix
  Im2colMatrix windows;
  MatrixAxis c_rows, c_columns;
  float alpha = 1.0F;
  bool accumulate = false;
};

/// Null or one number per row or column of C.
struct Bias {
  const float* of_rows = nullptr;
  const float* of_columns = nullptr;
};

/// Scratch memory that multiply() needs.
[[nodiscard]] Bytes product_workspace(const Gemm& product, int threads);

/// The bits depend on the product, the numbers and the instruction set, not on the number of threads.
void multiply(const Gemm& product, const float* a, const float* b, float* c, const Bias& bias,
              float* workspace, int threads);

}  // namespace poet::runtime::onednn
