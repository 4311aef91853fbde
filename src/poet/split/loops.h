#pragma once

// In which order an op's parts come. Private to split.

#include <cstdint>
#include <vector>

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

/// One loop of a nest: the part number of `label` is the sum over its loops of the turn times `step`. Numbers
/// beyond the last part are passed over.
struct Turns {
  int label = 0;
  std::int64_t times = 1;
  std::int64_t step = 1;
};
using Nest = std::vector<Turns>;  // from the outermost to the innermost one

/// The nest of these loops that moves least in a RAM of `ram` bytes (or one that holds a part of every
/// operand, if that is more). Sums keep their order; one other loop may be taken a few parts at a time, which
/// then come innermost: so many results are added up side by side. O(loops! * parts * operands).
[[nodiscard]] Nest best_nest(const std::vector<Loop>& loops, const std::vector<Traffic>& operands,
                             double ram);

}  // namespace poet::splitting
