#include "poet/optimize/transfer_bound.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "poet/base/numbers.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/allowance.h"
#include "poet/plan/overwritable.h"

namespace poet {
namespace {

/// A gap between uses of a value, from first to last position. The bytes that are not kept throughout are
/// transferred.
struct TransferGap {
  std::size_t first = 0;
  std::size_t last = 0;
  std::int64_t bytes = 0;
};

/// Free RAM per position: range minimum and range subtraction (a segment tree).
class Room {
 public:
  explicit Room(const std::vector<std::int64_t>& room) {
    while (leaves_ < room.size()) leaves_ *= 2;
    least_.assign(2 * leaves_, 0);
    taken_.assign(2 * leaves_, 0);
    std::copy(room.begin(), room.end(), least_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t node = leaves_ - 1; node > 0; --node) pull(node);
  }

  [[nodiscard]] std::int64_t least(const TransferGap& gap) const { return least(gap, 1, 0, leaves_ - 1); }
  void take(const TransferGap& gap, std::int64_t bytes) { take(gap, bytes, 1, 0, leaves_ - 1); }

 private:
  void pull(std::size_t node) {
    least_[node] = std::min(least_[2 * node], least_[2 * node + 1]) - taken_[node];
  }

  [[nodiscard]] std::int64_t least(const TransferGap& gap, std::size_t node, std::size_t from,
                                   std::size_t to) const {
    if (gap.first <= from && to <= gap.last) return least_[node];
    const std::size_t middle = (from + to) / 2;
    std::int64_t found = INT64_MAX;
    if (gap.first <= middle) found = least(gap, 2 * node, from, middle);
    if (gap.last > middle) found = std::min(found, least(gap, 2 * node + 1, middle + 1, to));
    return found - taken_[node];
  }

  void take(const TransferGap& gap, std::int64_t bytes, std::size_t node, std::size_t from, std::size_t to) {
    if (gap.first <= from && to <= gap.last) {
      least_[node] -= bytes;
      taken_[node] += bytes;
      return;
    }
    const std::size_t middle = (from + to) / 2;
    if (gap.first <= middle) take(gap, bytes, 2 * node, from, middle);
    if (gap.last > middle) take(gap, bytes, 2 * node + 1, middle + 1, to);
    pull(node);
  }

  std::size_t leaves_ = 1;
  std::vector<std::int64_t> least_;  // minimum of the node's range, less taken_
  std::vector<std::int64_t> taken_;  // subtracted from all of the node's range
};

/// Returns the least bytes that cannot be kept (fractional relaxation). Greedy by earliest end is optimal:
/// any other gap kept instead takes the same RAM up to that end, and more after it.
Bytes least_of(std::vector<TransferGap> gaps, const std::vector<std::int64_t>& room) {
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const TransferGap& a, const TransferGap& b) { return a.last < b.last; });
  Room left(room);
  Bytes moved{};
  for (const TransferGap& gap : gaps) {
    const std::int64_t kept = std::clamp<std::int64_t>(left.least(gap), 0, gap.bytes);
    if (kept > 0) left.take(gap, kept);
    moved += Bytes(gap.bytes - kept);
  }
  return moved;
}

/// Returns a lower bound on the cost of transferring the bytes. `price` returns the cost of one transfer.
template <class Price>
double least_price(const Instance& paged, const TransferBound& moved, const Price& price) {
  double read = kInfinity;  // least price per byte, like `written`
  double written = kInfinity;
  for (const ValueId v : ids<ValueId>(paged.graph.values.size())) {
    const ValueCost& cost = paged.costs.values[v];
    if (!paged.graph.values[v].paged || cost.bytes <= Bytes(0)) continue;
    const auto bytes = static_cast<double>(cost.bytes.value());  // padded: no overestimate per byte
    read = std::min(read, price(cost.page_in) / bytes);
    written = std::min(written, price(cost.page_out) / bytes);
  }
  const auto of = [](Bytes bytes, double each) {
    return bytes > Bytes(0) ? static_cast<double>(bytes.value()) * each : 0;
  };
  // Bytes that may be either read or written count at the lower price.
  return read <= written ? of(moved.written, written) + of(moved.both - moved.written, read)
                         : of(moved.read, read) + of(moved.both - moved.read, written);
}

/// What may be paged is paged; `resident` are the costs without.
struct AllPaged {
  CostTable resident;
  Instance paged;
};

AllPaged all_paged(const Instance& any) {
  Instance instance = with_paged(any, {});
  for (const ValueId v : ids<ValueId>(any.graph.values.size())) {
    Bytes& bytes = instance.costs.values[v].bytes;
    if (!any.graph.values[v].paged || any.costs.values[v].bytes >= bytes) continue;
    instance.costs.persistent -= bytes - any.costs.values[v].bytes;  // instance files may state less RAM
    bytes = any.costs.values[v].bytes;
  }
  CostTable resident = instance.costs;
  const std::vector<ValueId> may_be_paged = pageable(instance);
  return {std::move(resident), with_paged(std::move(instance), may_be_paged)};
}

TransferBound least_transfers(const AllPaged& of, Bytes ram_budget) {
  const auto& [resident, paged] = of;
  if (pageable(paged).empty()) return {};
  const Dataflow flow = dataflow(paged.graph);
  const IdVector<OpId, std::vector<ValueId>> overwritable = overwritable_operands(paged);
  const std::size_t ops = paged.graph.ops.size();

  // Positions are the step's beginning, its ops and its end. Sizes are without padding, like resident ones.
  const Bytes all = ram_budget - paged.costs.persistent;
  std::vector<std::int64_t> room(ops + 2, all.value());
  for (const OpId op : ids<OpId>(ops)) {
    const Bytes used = working_set(resident, flow, op, overwritable[op], Semantics::device).bytes();
    room[op.index + 1] = (all - used).value();
  }

  std::vector<TransferGap> reads;
  std::vector<TransferGap> writes;
  for (const ValueId value : flow.paged) {
    const std::vector<OpId>& users = flow.users[value];
    if (users.empty()) continue;
    const std::int64_t bytes = resident.values[value].bytes.value();
    std::size_t from = 0;  // the first position after the last use
    for (const OpId user : users) {
      const std::size_t position = user.index + 1;
      if (from < position) reads.push_back({from, position - 1, bytes});
      from = position + 1;
    }
    const std::vector<ValueId>& changed = flow.changes[users.back()];
    if (std::find(changed.begin(), changed.end(), value) != changed.end())
      writes.push_back({from, ops + 1, bytes});
  }
  TransferBound bound{least_of(reads, room), least_of(writes, room), {}};
  reads.insert(reads.end(), writes.begin(), writes.end());
  bound.both = least_of(std::move(reads), room);
  return bound;
}

}  // namespace

TransferBound least_transfers(const Instance& instance, Bytes ram_budget) {
  return least_transfers(all_paged(instance), ram_budget);
}

StepBound least_step(const Instance& instance, Bytes ram_budget) {
  const DeviceTiming& timing = instance.costs.timing;
  const double idle = timing.idle.value();
  double computing = 0;
  double joules = 0;
  for (const OpCost& op : instance.costs.ops) {
    computing += op.runtime.value();
    joules += op.energy.value();
  }
  const AllPaged of = all_paged(instance);
  const TransferBound moved = least_transfers(of, ram_budget);
  const auto least = [&](double of_joules, double of_seconds) {
    return least_price(of.paged, moved, [&](const TransferCost& cost) {
      return of_joules * cost.energy.value() + of_seconds * cost.seconds.value();
    });
  };
  const double channel = least(0, 1);
  if (!timing.concurrent)
    return {Seconds(computing + channel), Joules(joules + idle * computing + least(1, idle))};
  return {Seconds(std::max(computing, channel)),
          Joules(joules + std::max(idle * computing + least(1, 0), least(1, idle)))};
}

}  // namespace poet
