#pragma once

// Copies of boxes of elements of any type between tensors of any strides.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "poet/graph/loop_nest.h"
#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/kernels/reference/op_reader.h"

namespace poet::runtime {

/// Offsets and strides in elements of `size` bytes.
struct BoxCopy {
  Index size = 4;
  Index to_offset = 0;
  Index from_offset = 0;
  LoopNest<2> nest;  // what is written, what is read

  void run(void* to, const void* from) const;
};

/// `box` elements along each axis.
[[nodiscard]] BoxCopy box_copy(DType type, const Shape& box, const Shape& to_strides, Index to_offset,
                               const Shape& from_strides, Index from_offset);

/// `count` elements of a type set to a number.
void fill(DType type, void* to, Index count, double value);

}  // namespace poet::runtime
