#pragma once

#include "poet/split/partition.h"

namespace poet::splitting {

/// Which axes are cut alike: fills all of `result` but how finely each class is cut. Private to partition().
void find_classes(const Graph& graph, Bytes limit, Partition& result);

}  // namespace poet::splitting
