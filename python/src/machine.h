#pragma once

// What computes on this machine, from keyword arguments.

#include "poet/runtime/kernels/kernel.h"
#include "python/src/arguments.h"

namespace poet::python {

/// kernels: "fast", "lean" or "reference"; threads.
[[nodiscard]] runtime::KernelOptions take_kernels(Arguments& arguments);

}  // namespace poet::python
