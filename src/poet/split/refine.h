#pragma once

// How finely each class of axes is cut. Private to partition().

#include "poet/split/partition.h"

namespace poet::splitting {

/// Cuts the classes until ops work on at most `limit` bytes of each storage and copy, as far as the classes
/// can be cut. O(edges + classes * steps * ops).
void refine(const Graph& graph, Bytes limit, Partition& partition);

/// Undoes cuts of refine() that, after later ones, no limit needs any more. O(edges * steps).
void coarsen(const Graph& graph, Bytes limit, Partition& partition);

}  // namespace poet::splitting
