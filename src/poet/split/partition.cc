#include "poet/split/partition.h"

#include <algorithm>

#include "poet/split/axis_classes.h"
#include "poet/split/blocks.h"
#include "poet/split/refine.h"

namespace poet::splitting {
namespace {

/// The bytes of the largest storage, in parts.
Bytes largest(const Graph& graph, const Partition& partition) {
  Bytes most;
  for (const Block& block : storages(graph, partition))
    most = std::max(most, largest_part(graph, partition, block));
  return most;
}

}  // namespace

Range range_of(const AxisClass& axes, std::int64_t size, std::int64_t i) {
  const std::int64_t per_unit = size / axes.units;
  return {i * axes.units / axes.parts * per_unit, (i + 1) * axes.units / axes.parts * per_unit};
}

Partition partition(const Graph& graph, Bytes limit) {
  Partition alike = find_classes(graph, limit, Copies::if_too_large);
  refine(graph, limit, alike);
  Partition apart = find_classes(graph, limit, Copies::of_long_axes);
  if (apart.classes.size() == alike.classes.size()) return alike;  // there are no long axes
  refine(graph, limit, apart);
  coarsen(graph, limit, apart);
  if (largest(graph, alike) > std::max(limit, largest(graph, apart))) return apart;
  constexpr double kWorthCopies = 0.75;  // the estimate does not know what stays in RAM between ops
  return bytes_touched(graph, apart) < kWorthCopies * bytes_touched(graph, alike) ? apart : alike;
}

}  // namespace poet::splitting
