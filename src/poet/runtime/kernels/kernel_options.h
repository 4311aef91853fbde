#pragma once

// What computes on this machine: libraries of kernels, threads, instruction set.

#include <string>

namespace poet {
struct Instance;
}

namespace poet::runtime {

enum class KernelLibrary {
  fast,       // oneDNN where it has the operator, in the layouts that it computes fastest in
  lean,       // on tensors as they lie: workspace below 1 MB and the op's own operands; slower
  reference,  // plain loops, at most a small panel of workspace but where operands have strides
};

/// Decides the bits of every result, so it never depends on a budget.
struct KernelOptions {
  KernelLibrary library = KernelLibrary::fast;
  int threads = 1;
  std::string isa;  // "avx2": no newer instructions than these; empty: whatever the machine has
};

/// To be called once, before the first kernel is made: thread count and instruction set of the process.
/// Throws InputError for an unknown instruction set or a thread count below 1.
void set_up_kernels(const KernelOptions& options);

/// Whether ops that go on from one another's sums (graph/operators, `accumulate`) give the bits of the whole
/// op.
[[nodiscard]] bool parts_sum_as_whole(const KernelOptions& options);

/// "oneDNN 2.6.3, AVX-512, 1 thread" for people: what decides the bits.
[[nodiscard]] std::string kernels_description(const KernelOptions& options);

/// What the kernels need besides their operands becomes part of the plan to be made: every op's workspace is
/// at least what its kernel asks for, at any address that the device's alignment allows. A plan that knows
/// less gets the rest outside its RAM budget. Throws as make_kernel().
void charge_workspaces(Instance& instance, const KernelOptions& options);

}  // namespace poet::runtime
