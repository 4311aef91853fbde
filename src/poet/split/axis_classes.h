#pragma once

#include "poet/split/partition.h"

namespace poet::splitting {

/// When an operand that an op needs in other parts than it has is copied.
enum class Copies {
  /// Some tensor would otherwise be larger than the limit, and larger than the copy.
  if_too_large,
  /// Also if either needs an axis whole that is longer than the edge of a square of `limit` bytes: of all
  /// parts of that size squares make the largest products, and the other axes would have to be cut the more
  /// finely.
  of_long_axes
};

/// Finds the classes of axes that are cut alike. The number of parts of each is 1. Private to partition().
/// O(edges * classes).
[[nodiscard]] Partition find_classes(const Graph& graph, Bytes limit, Copies copies);

}  // namespace poet::splitting
