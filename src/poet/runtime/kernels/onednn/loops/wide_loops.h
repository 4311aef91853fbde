#pragma once

// Loops over row-major memory, sixteen numbers at a time, where oneDNN has none or slow ones for that layout.
// The same source is compiled for several instruction sets; each gives the same bits every time, but not the
// bits of another.

#include <cstdint>

namespace poet::runtime::onednn {

/// One channel of (N,C,...): `images` planes of `plane` numbers each, their beginnings `stride` apart.
struct ChannelPlanes {
  std::int64_t images;
  std::int64_t plane;
  std::int64_t stride;
};

struct WideLoops {
  /// y = (x - mean) invstd weight + bias; mean and 1 / sqrt(variance + eps) are written too.
  void (*batch_norm)(const ChannelPlanes& channel, const float* x, float weight, float bias, double eps,
                     float* y, float* mean, float* invstd);
  /// The gradients that are not null. O(1) memory; two passes.
  void (*batch_norm_backward)(const ChannelPlanes& channel, const float* dy, const float* x, float weight,
                              float mean, float invstd, float* dx, float* dweight, float* dbias);
  /// The same for one row of `size` numbers with weights and biases of their own.
  void (*layer_norm)(std::int64_t size, const float* x, const float* weight, const float* bias, double eps,
                     float* y, float* mean, float* rstd);
  void (*layer_norm_backward)(std::int64_t size, const float* dy, const float* x, const float* weight,
                              float mean, float rstd, float* dx);
  /// Gradients of the weights and biases first..last (those that are not null) over all rows.
  void (*layer_norm_sums)(std::int64_t rows, std::int64_t size, std::int64_t first, std::int64_t last,
                          const float* dy, const float* x, const float* mean, const float* rstd,
                          float* dweight, float* dbias);
  /// y = x, but no less than `least` and no more than `most`; what is no number stays none.
  void (*clamp)(std::int64_t size, const float* x, float least, float most, float* y);
  /// The sum of a channel.
  float (*channel_sum)(const ChannelPlanes& channel, const float* x);
  /// The sums of the columns of a row-major matrix.
  void (*column_sums)(std::int64_t rows, std::int64_t columns, const float* x, float* sums);
};

/// Those for the newest instructions that oneDNN may use here.
[[nodiscard]] const WideLoops& wide_loops();

}  // namespace poet::runtime::onednn
