#include "poet/split/partition.h"

#include "poet/split/axis_classes.h"
#include "poet/split/blocks.h"
#include "poet/split/refine.h"

namespace poet::splitting {

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
  return bytes_touched(graph, apart) < bytes_touched(graph, alike) ? apart : alike;
}

}  // namespace poet::splitting
