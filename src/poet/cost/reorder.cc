#include "poet/cost/reorder.h"

#include "poet/base/error.h"
#include "poet/graph/precedence.h"

namespace poet {

Instance reordered(const Instance& instance, const std::vector<OpId>& order) {
  if (!respects(instance.graph, order))
    throw InputError(
        "an order must name every op once, each after those whose results it reads, and one "
        "that updates a value after the value's other readers");
  Instance result = instance;
  IdVector<OpId, OpId> place(order.size());
  for (const OpId id : ids<OpId>(order.size())) {
    const OpId was = order[static_cast<std::size_t>(id.index)];
    result.graph.ops[id] = instance.graph.ops[was];
    result.costs.ops[id] = instance.costs.ops[was];
    place[was] = id;
  }
  for (Value& value : result.graph.values)
    if (value.producer.valid()) value.producer = place[value.producer];
  return result;
}

}  // namespace poet
