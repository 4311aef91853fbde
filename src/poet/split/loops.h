#pragma once

// In which order an op's parts come. Private to split.

#include <cstdint>
#include <vector>

#include "poet/split/axes.h"

namespace poet::splitting {

/// An axis along which an op is cut.
struct Loop {
  int label = 0;
  std::int64_t parts = 1;
  bool summed = false;
};

/// An operand of the op, for the order of its loops.
struct Traffic {
  double bytes = 0;       // of the whole tensor
  std::vector<int> with;  // labels that it has
  bool written = false;
};

/// The loops from the outermost to the innermost one such that least is moved in a RAM of `ram` bytes (or
/// that holds one part of every operand, if that is more); sums keep their order. O(loops! * loops *
/// operands).
[[nodiscard]] std::vector<Loop> best_order(std::vector<Loop> loops, const std::vector<Traffic>& operands,
                                           double ram);

}  // namespace poet::splitting
