#pragma once

// The order of an op's parts as a loop nest. Private to split.

#include <cstdint>
#include <vector>

namespace poet::splitting {

/// An axis along which an op is cut.
struct Loop {
  int label = 0;
  std::int64_t parts = 1;
  bool summed = false;
};

/// The memory traffic of an operand, which determines the order of loops.
struct Traffic {
  double bytes = 0;       // of the whole tensor
  std::vector<int> with;  // its labels
  bool written = false;
};

/// One loop of a nest: the part number of `label` is the sum over its loops of iteration times `step`.
/// Numbers beyond the last part are skipped.
struct Turns {
  int label = 0;
  std::int64_t times = 1;
  std::int64_t step = 1;
};
using Nest = std::vector<Turns>;  // from the outermost to the innermost one

/// Returns the nest of these loops with the least traffic given `ram` bytes (or enough for a part of every
/// operand, if that is more). Summed loops keep their order; one other loop may be tiled, with its tile
/// innermost, so that several results are accumulated together. O(loops! * parts * operands).
[[nodiscard]] Nest best_nest(const std::vector<Loop>& loops, const std::vector<Traffic>& operands,
                             double ram);

}  // namespace poet::splitting
