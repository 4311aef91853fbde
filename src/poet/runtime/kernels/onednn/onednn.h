#pragma once

// oneDNN's primitives on the user's buffers, with the user's scratch memory. The only place that knows its
// headers.

#include <memory>

#include "poet/runtime/kernels/kernel.h"

namespace poet::runtime {

/// Null where oneDNN has no primitive for the op as it stands (its kind, attributes, strides or types).
[[nodiscard]] std::unique_ptr<Kernel> make_onednn_kernel(const Graph& graph, OpId op,
                                                         const KernelOptions& options);

/// Thread count and instruction set; set_up_kernels() calls it.
void set_up_onednn(const KernelOptions& options);

/// "oneDNN 2.6.3, AVX-512".
[[nodiscard]] std::string onednn_description();

}  // namespace poet::runtime
