#pragma once

// Iterates over several tensors with any strides element by element: axes are sorted by the first operand's
// storage order and merged where all operands allow it, so that the inner loop is long and mostly contiguous.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "poet/base/error.h"
#include "poet/graph/strides.h"

namespace poet {

constexpr std::size_t kMaxRank = 16;

/// Runs of `count` elements, in which operand r advances by step[r], at the positions of the outer axes.
template <std::size_t R>
struct LoopNest {
  std::int64_t count = 1;
  std::array<std::int64_t, R> step{};
  std::size_t rank = 0;  // outer axes, slowest first
  std::array<std::int64_t, kMaxRank> size{};
  std::array<std::array<std::int64_t, R>, kMaxRank> stride{};
};

template <std::size_t R>
struct LoopAxis {
  std::int64_t size = 1;
  std::array<std::int64_t, R> stride{};
};

/// Makes a nest of axes in any order. Throws InputError if more than kMaxRank of them cannot be merged.
template <std::size_t R>
[[nodiscard]] LoopNest<R> make_loop_nest(std::vector<LoopAxis<R>> axes) {
  std::erase_if(axes, [](const LoopAxis<R>& a) { return a.size == 1; });
  std::stable_sort(axes.begin(), axes.end(),
                   [](const LoopAxis<R>& a, const LoopAxis<R>& b) { return a.stride[0] > b.stride[0]; });
  std::vector<LoopAxis<R>> joined;
  for (const LoopAxis<R>& axis : axes) {
    bool joins = !joined.empty();
    for (std::size_t r = 0; joins && r < R; ++r) {
      joins = joined.back().stride[r] == axis.stride[r] * axis.size;
    }
    if (!joins) {
      joined.push_back(axis);
      continue;
    }
    joined.back().size *= axis.size;
    joined.back().stride = axis.stride;
  }
  LoopNest<R> nest;
  nest.step.fill(1);
  if (joined.empty()) return nest;
  if (joined.size() > kMaxRank + 1) throw InputError("a tensor", "has too many axes that cannot be joined");
  nest.count = joined.back().size;
  nest.step = joined.back().stride;
  joined.pop_back();
  for (const LoopAxis<R>& axis : joined) {
    nest.size[nest.rank] = axis.size;
    nest.stride[nest.rank++] = axis.stride;
  }
  return nest;
}

/// Returns the strides of an operand broadcast to `whole` (aligned at the last axis), 0 along stretched axes.
[[nodiscard]] inline Shape stretched_strides(const Value& operand, const Shape& whole) {
  Shape strides(whole.size(), 0);
  const Shape own = strides_of(operand);
  const std::size_t missing = whole.size() - operand.shape.size();
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    if (operand.shape[axis] != 1) strides[axis + missing] = own[axis];
  }
  return strides;
}

/// Returns the axes of `whole` with these strides per operand.
template <std::size_t R>
[[nodiscard]] std::vector<LoopAxis<R>> loop_axes(const Shape& whole, const std::array<Shape, R>& strides) {
  std::vector<LoopAxis<R>> axes(whole.size());
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    axes[axis].size = whole[axis];
    for (std::size_t r = 0; r < R; ++r) axes[axis].stride[r] = strides[r][axis];
  }
  return axes;
}

/// Calls f(offsets of the operands) for every run, in order.
template <std::size_t R, class F>
void for_each_run(const LoopNest<R>& nest, const F& f) {
  std::array<std::int64_t, R> offset{};
  std::array<std::int64_t, kMaxRank> position{};
  for (;;) {
    f(offset);
    std::size_t axis = nest.rank;
    for (;;) {
      if (axis == 0) return;
      --axis;
      for (std::size_t r = 0; r < R; ++r) offset[r] += nest.stride[axis][r];
      if (++position[axis] < nest.size[axis]) break;
      position[axis] = 0;
      for (std::size_t r = 0; r < R; ++r) offset[r] -= nest.stride[axis][r] * nest.size[axis];
    }
  }
}

}  // namespace poet
