#pragma once

// Operands with strides for kernels that want them row-major.

#include <memory>

#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/kernels/reference/op_reader.h"

namespace poet::runtime {

/// `kernel` itself where no operand of the op has strides; else one that copies those that have through the
/// workspace. Graphs that the front ends make need that for few small values (docs/operators.md: only matmul
/// and transpose read strided views; a gradient may be one).
[[nodiscard]] std::unique_ptr<Kernel> with_row_major_operands(const OpReader& op,
                                                              std::unique_ptr<Kernel> kernel);

}  // namespace poet::runtime
