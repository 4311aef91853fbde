#pragma once

#include "poet/base/units.h"

namespace poet::runtime {

/// Where memory is taken, and how much of it.
struct MemoryMap {
  Bytes arena{};       // as the plan has it
  Bytes persistent{};  // parameters, optimiser state, constants
  Bytes excluded{};    // what the plan's costs leave out of the budget
  Bytes workspace{};   // scratch memory of kernels that the plan has no room for
};

}  // namespace poet::runtime
