#include "poet/compile/variants/reserve.h"

#include <algorithm>

#include "poet/graph/dataflow.h"
#include "poet/plan/allowance.h"

namespace poet {

Instance with_reserve(const Instance& instance, Bytes ram_budget, Bytes reserve) {
  const Dataflow flow = dataflow(instance.graph);
  const Bytes room = ram_budget - instance.costs.persistent;
  Instance less = instance;
  for (const OpId op : ids<OpId>(instance.graph.ops.size())) {
    const WorkingSet needs = working_set(instance.costs, flow, op, {}, Semantics::device);
    less.costs.ops[op].workspace += std::clamp(room - needs.bytes(), Bytes(0), reserve);
  }
  return less;
}

bool ReserveSearch::next(std::optional<Bytes> over) {
  constexpr int kMostSolves = 4;
  const bool first = solves_++ == 0;
  if (over && *over <= Bytes(0)) return false;
  if (!over && first) return false;  // there is none with the whole budget either
  if (over) {
    too_little_ = reserve_;
    over_ = *over;
  } else {
    too_much_ = reserve_;
  }
  const Bytes half_way((too_little_ + too_much_).value() / 2);
  reserve_ = too_little_ + over_ < too_much_ ? too_little_ + over_ : half_way;
  return solves_ < kMostSolves && reserve_ != too_little_;
}

}  // namespace poet
