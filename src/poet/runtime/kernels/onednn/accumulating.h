#pragma once

// Ops that add to accumulators. Private to kernels/onednn.

#include <memory>

#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/kernels/onednn/subject.h"

namespace poet::runtime::onednn {

/// `kernel`, which computes the op as if it had no accumulators, with their contents added to its results;
/// these are in the workspace before. `kernel` itself where the op has none; null stays null.
[[nodiscard]] std::unique_ptr<Kernel> with_accumulators(const Subject& subject,
                                                        std::unique_ptr<Kernel> kernel);

}  // namespace poet::runtime::onednn
