#pragma once

// Operators compute with float32. Where operands are stored as bfloat16, a kernel works on float32 copies in
// its workspace, and results are rounded into their places.

#include <memory>

#include "poet/graph/graph.h"
#include "poet/runtime/kernels/kernel.h"

namespace poet::runtime {

/// Whether the op's kernel needs such copies: an op that only moves elements does not.
[[nodiscard]] bool needs_float32_copies(const Graph& graph, OpId op);

/// The op alone, with float32 in the place of bfloat16: what its kernel is made for.
struct Float32Op {
  Graph graph;
  OpId op;
};
[[nodiscard]] Float32Op in_float32(const Graph& graph, OpId op);

/// `kernel` was made for `wide`, which is `op` in float32. Adds 4 bytes of workspace for each element that is
/// stored as bfloat16; a result has the place of an operand that may be overwritten.
[[nodiscard]] std::unique_ptr<Kernel> with_bfloat16_operands(const Graph& graph, OpId op,
                                                             const Float32Op& wide,
                                                             std::unique_ptr<Kernel> kernel);

}  // namespace poet::runtime
