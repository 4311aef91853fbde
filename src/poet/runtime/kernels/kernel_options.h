#pragma once

// The kernels of this machine: library, threads, instruction set.

#include <string>

namespace poet {
struct Instance;
}

namespace poet::runtime {

enum class KernelLibrary {
  fast,       // oneDNN where it has the operator, in its fastest layouts
  lean,       // without other layouts: workspace below 1 MB plus the op's operands; slower
  reference,  // plain loops; at most a small panel of workspace unless operands have strides
};

/// Determines the bits of every result, so it never depends on a budget.
struct KernelOptions {
  KernelLibrary library = KernelLibrary::fast;
  int threads = 1;
  std::string isa;  // "avx2": no newer instructions than these; empty: whatever the machine has
};

/// Sets thread count and instruction set of the process. Must be called once, before the first kernel is
/// made. Throws InputError for an unknown instruction set or a thread count below 1.
void set_up_kernels(const KernelOptions& options);

/// Returns whether ops that accumulate (graph/operators, `accumulate`) give the same bits as the whole op.
[[nodiscard]] bool parts_sum_as_whole(const KernelOptions& options);

/// Returns what determines the bits, for display: "oneDNN 2.6.3, AVX-512, 1 thread".
[[nodiscard]] std::string kernels_description(const KernelOptions& options);

/// Raises every op's workspace in the cost table to that of its kernel, with slack for any address of the
/// device's alignment, so that plans include it. Workspace that a plan does not include is allocated outside
/// its RAM budget. Throws as make_kernel().
void charge_workspaces(Instance& instance, const KernelOptions& options);

}  // namespace poet::runtime
