#pragma once

#include "poet/base/units.h"

namespace poet::runtime {

/// The memory of a run by purpose.
struct MemoryMap {
  Bytes arena{};       // of the plan
  Bytes persistent{};  // parameters, optimiser state, constants
  Bytes excluded{};    // values that the plan's costs exclude from the budget
  Bytes workspace{};   // scratch memory of kernels beyond that of the plan
};

}  // namespace poet::runtime
