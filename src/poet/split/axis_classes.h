#pragma once

#include "poet/split/partition.h"

namespace poet::splitting {

/// Finds the classes of axes that are cut alike: fills `result` except for the number of parts of each class.
/// Private to partition().
void find_classes(const Graph& graph, Bytes limit, Partition& result);

}  // namespace poet::splitting
