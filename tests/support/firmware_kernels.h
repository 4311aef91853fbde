#pragma once

// The kernels in C of the firmware as kernels of the runtime, held against the portable ones.

#include <memory>

#include "poet/graph/graph.h"
#include "poet/runtime/kernels/kernel.h"

namespace poet::test {

/// Whether the firmware has a kernel for the op.
[[nodiscard]] bool has_firmware_kernel(const Graph& graph, OpId op);

/// Runs the firmware's kernel, and the portable one on copies of the operands: other bits are a failure of
/// GoogleTest's. The portable kernel alone for an op that the firmware has none for.
[[nodiscard]] std::unique_ptr<runtime::Kernel> both_kernels(const Graph& graph, OpId op);

}  // namespace poet::test
