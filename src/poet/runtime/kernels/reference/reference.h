#pragma once

// Plain loops in float32 for every operator of docs/operators.md but `input` and `opaque`: what runs where
// oneDNN has nothing, and the oracle that its kernels are held against.

#include <memory>
#include <string_view>

#include "poet/runtime/kernels/kernel.h"

namespace poet::runtime {

/// Null where there is none for the op's kind.
[[nodiscard]] std::unique_ptr<Kernel> make_reference_kernel(const Graph& graph, OpId op);

[[nodiscard]] bool has_reference_kernel(std::string_view kind);

}  // namespace poet::runtime
