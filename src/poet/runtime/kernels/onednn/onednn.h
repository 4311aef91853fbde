#pragma once

// Kernels of oneDNN's primitives, and of the loops in loops/ where those are faster, on the user's buffers
// with the user's scratch memory. Only this folder knows oneDNN's headers.

#include <memory>
#include <string_view>

#include "poet/runtime/kernels/kernel.h"

namespace poet::runtime {

/// Null where neither computes the op as it stands (its kind, attributes, strides or types).
[[nodiscard]] std::unique_ptr<Kernel> make_onednn_kernel(const Graph& graph, OpId op,
                                                         const KernelOptions& options);

/// Whether there may be one.
[[nodiscard]] bool has_onednn_kernel(std::string_view kind);

/// Thread count and instruction set; set_up_kernels() calls it.
void set_up_onednn(const KernelOptions& options);

/// "oneDNN 2.6.3, AVX-512".
[[nodiscard]] std::string onednn_description();

}  // namespace poet::runtime
