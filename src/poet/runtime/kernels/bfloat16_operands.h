#pragma once

// A kernel that works on float32 copies of what is stored as bfloat16 (graph/float32_copies.h).

#include <memory>

#include "poet/graph/graph.h"
#include "poet/runtime/kernels/kernel.h"

namespace poet::runtime {

/// `kernel` was made for `op` in float32. The copies come behind its own workspace.
[[nodiscard]] std::unique_ptr<Kernel> with_bfloat16_operands(const Graph& graph, OpId op,
                                                             std::unique_ptr<Kernel> kernel);

}  // namespace poet::runtime
