// Local response normalisation across channels: Krizhevsky, Sutskever and Hinton (2012), section 3.3.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/windows.h"

namespace poet::runtime {
namespace {

struct Lrn {
  Index images = 1, channels = 1, plane = 1;
  Index before = 0, after = 0;  // channels of a window around the own one
  float factor = 1.0F, beta = 1.0F, bias = 1.0F;
};

Lrn lrn_of(const OpReader& op, const Shape& x) {
  const Index size = op.integer("size");
  Lrn l;
  l.images = x[0];
  l.channels = x[1];
  l.plane = element_count(x) / (x[0] * x[1]);
  l.before = (size - 1) / 2;
  l.after = size - 1 - l.before;
  l.factor = static_cast<float>(op.real("alpha") / static_cast<double>(size));
  l.beta = op.real32("beta");
  l.bias = op.real32("bias");
  return l;
}

constexpr Index kBlock = 64;  // neighbours in a plane that are treated at once
using Block = std::array<float, static_cast<std::size_t>(kBlock)>;

/// The scales of `n` neighbours of `x`, an element of channel 0.
void scales(const Lrn& l, const float* x, Index channel, Index n, Block& scale) {
  Block sum{};
  const Index end = std::min(l.channels, channel + l.after + 1);
  for (Index c = std::max<Index>(0, channel - l.before); c < end; ++c) {
    const float* from = x + c * l.plane;
    for (Index i = 0; i < n; ++i) sum[static_cast<std::size_t>(i)] += from[i] * from[i];
  }
  for (Index i = 0; i < n; ++i) {
    scale[static_cast<std::size_t>(i)] = l.bias + l.factor * sum[static_cast<std::size_t>(i)];
  }
}

/// Calls f(offset of channel 0, neighbours) for every block.
template <class F>
void for_each_block(const Lrn& l, const F& f) {
  for (Index image = 0; image < l.images; ++image) {
    for (Index begin = 0; begin < l.plane; begin += kBlock) {
      f(image * l.channels * l.plane + begin, std::min(kBlock, l.plane - begin));
    }
  }
}

std::unique_ptr<Kernel> lrn(const OpReader& op) {
  return loop_kernel([l = lrn_of(op, op.in(0))](const KernelCall& call) {
    for_each_block(l, [&](Index first, Index n) {
      Block scale;
      for (Index c = 0; c < l.channels; ++c) {
        scales(l, input(call, 0) + first, c, n, scale);
        const float* x = input(call, 0) + first + c * l.plane;
        float* y = output(call, 0) + first + c * l.plane;
        for (Index i = 0; i < n; ++i) y[i] = x[i] * std::pow(scale[static_cast<std::size_t>(i)], -l.beta);
      }
    });
  });
}

/// dx[j] = dy[j] scale[j]^-beta - 2 factor beta x[j] * the sum over the windows i that j is in of
/// dy[i] x[i] scale[i]^(-beta - 1). What channel i adds to the others is found once and spread.
std::unique_ptr<Kernel> lrn_backward(const OpReader& op) {
  return loop_kernel([l = lrn_of(op, op.in(1))](const KernelCall& call) {
    const float twice = 2.0F * l.factor * l.beta;
    for_each_block(l, [&](Index first, Index n) {
      const float* dy = input(call, 0) + first;
      const float* x = input(call, 1) + first;
      float* dx = output(call, 0) + first;
      for (Index c = 0; c < l.channels; ++c) std::fill_n(dx + c * l.plane, n, 0.0F);
      Block scale;
      Block share;
      for (Index c = 0; c < l.channels; ++c) {
        scales(l, x, c, n, scale);
        const Index own = c * l.plane;
        for (Index i = 0; i < n; ++i) {
          const float s = scale[static_cast<std::size_t>(i)];
          const float power = std::pow(s, -l.beta);
          share[static_cast<std::size_t>(i)] = twice * dy[own + i] * x[own + i] * (power / s);
          dx[own + i] += dy[own + i] * power;
        }
        const Index end = std::min(l.channels, c + l.after + 1);
        for (Index other = std::max<Index>(0, c - l.before); other < end; ++other) {
          const Index to = other * l.plane;
          for (Index i = 0; i < n; ++i) dx[to + i] -= x[to + i] * share[static_cast<std::size_t>(i)];
        }
      }
    });
  });
}

}  // namespace

void add_lrn_kernels(ReferenceTable& table) {
  table["lrn"] = {lrn};
  table["lrn_backward"] = {lrn_backward};
}

}  // namespace poet::runtime
