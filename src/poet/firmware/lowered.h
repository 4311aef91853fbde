#pragma once

// Ops as calls of the firmware's kernels: which C function, and the shape that it gets.

#include <cstddef>
#include <string>
#include <vector>

#include "firmware/kernels/poet_kernels.h"
#include "poet/graph/graph.h"

namespace poet::firmware {

/// A kernel's name in C ("poet_linear_forward") and its address here, compiled for this machine.
struct KernelFunction {
  std::string name;
  std::string file;  // in firmware/kernels
  poet_kernel here = nullptr;
};

/// A call without its operands' addresses, which are those of the op's inputs, outputs and updates, in order.
struct Lowered {
  const KernelFunction* kernel = nullptr;
  std::vector<std::byte> shape;  // the bytes of the kernel's struct, of a little-endian machine
};

/// Of an op of a verified graph. Throws InputError naming the op where no kernel of the firmware treats its
/// kind, a layout of its operands, or their sizes. O(operands).
[[nodiscard]] Lowered lowered(const Graph& graph, OpId op);

/// Kinds of ops that lowered() knows, sorted.
[[nodiscard]] std::vector<std::string> kinds();
/// Throws InputError naming the kinds of the graph's ops that have none, each with an op.
void check_kinds(const Graph& graph);

}  // namespace poet::firmware
