#include "poet/cost/instance.h"

#include <fmt/format.h>

#include <cmath>

#include "poet/base/error.h"

namespace poet {
namespace {

std::string place(const Instance& instance, OpId op) {
  return fmt::format("op {} '{}'", op.index, instance.graph.ops[op].name);
}
std::string place(const Instance& instance, ValueId v) {
  return fmt::format("value {} '{}'", v.index, instance.graph.values[v].name);
}

void check(const std::string& where, const char* what, double figure) {
  if (!std::isfinite(figure) || figure < 0) {
    throw InputError(where, fmt::format("{} must be finite and >= 0, not {}", what, figure));
  }
}

void check(const std::string& where, const char* what, Bytes bytes) {
  if (bytes < Bytes(0)) throw InputError(where, fmt::format("{} must be >= 0, not {}", what, bytes.value()));
}

void check(const std::string& where, const char* direction, const TransferCost& transfer, bool has_storage) {
  check(where, fmt::format("{} seconds", direction).c_str(), transfer.seconds.value());
  check(where, fmt::format("{} joules", direction).c_str(), transfer.energy.value());
  if (!has_storage && (transfer.seconds > Seconds(0) || transfer.energy > Joules(0))) {
    throw InputError(where, fmt::format("{} must cost nothing: there is no storage", direction));
  }
}

void check_multiple(const std::string& where, const char* what, Bytes bytes, Bytes alignment) {
  if (bytes.value() % alignment.value() != 0) {
    throw InputError(where, fmt::format("{} must be a multiple of the alignment {}, not {}", what,
                                        alignment.value(), bytes.value()));
  }
}

/// Sums of bytes and of doubles over ops and values must not overflow anywhere later.
class Total {
 public:
  void add(const std::string& where, Bytes bytes) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(bytes_, bytes.value(), &sum)) {
      throw InputError(where, "the sum of bytes up to here exceeds 64 bits");
    }
    bytes_ = sum;
  }
  void add(const std::string& where, double figure) {
    figure_ += figure;
    if (!std::isfinite(figure_))
      throw InputError(where, "the sum of costs up to here exceeds the range of a double");
  }

 private:
  std::int64_t bytes_ = 0;
  double figure_ = 0;
};

void change_home(Instance& instance, ValueId v) {
  CostTable& costs = instance.costs;
  Value& value = instance.graph.values[v];
  Bytes& bytes = costs.values[v].bytes;
  value.paged = !value.paged;
  const Bytes home = 2 * value.bytes;  // a step reads one copy and writes the other
  if (costs.storage_capacity) *costs.storage_capacity += value.paged ? Bytes(0) - home : home;
  if (value.paged) {
    costs.persistent -= bytes;
    bytes = rounded_up(bytes, costs.alignment);
  } else {
    if (bytes > Bytes(0)) bytes = value.bytes;
    costs.persistent += bytes;
  }
}

}  // namespace

void align_sizes(const Graph& graph, CostTable& costs) {
  for (OpCost& cost : costs.ops) cost.workspace = rounded_up(cost.workspace, costs.alignment);
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    if (is_resident(graph.values[v])) continue;
    costs.values[v].bytes = rounded_up(costs.values[v].bytes, costs.alignment);
  }
}

Instance with_paged(Instance instance, const std::vector<ValueId>& paged) {
  IdVector<ValueId, char> wanted(instance.graph.values.size(), 0);
  for (const ValueId v : paged) wanted[v] = 1;
  for (const ValueId v : ids<ValueId>(instance.graph.values.size())) {
    const Value& value = instance.graph.values[v];
    if (!value.rows && value.paged != (wanted[v] != 0)) change_home(instance, v);
  }
  return instance;
}

Instance without_homes(Instance instance) {
  for (const ValueId v : ids<ValueId>(instance.graph.values.size()))
    if (instance.graph.values[v].paged) change_home(instance, v);
  return instance;
}

std::vector<ValueId> pageable(const Instance& instance) {
  std::vector<ValueId> found;
  if (!instance.costs.has_storage) return found;
  for (const ValueId v : ids<ValueId>(instance.graph.values.size())) {
    const Value& value = instance.graph.values[v];
    if (is_persistent(value.persistence) && !value.alias_of.valid() && !value.rows &&
        instance.costs.values[v].bytes > Bytes(0))
      found.push_back(v);
  }
  return found;
}

void verify(const Instance& instance) {
  verify(instance.graph);
  const CostTable& costs = instance.costs;
  if (costs.ops.size() != instance.graph.ops.size()) {
    throw InputError(fmt::format("{} op costs for {} ops", costs.ops.size(), instance.graph.ops.size()));
  }
  if (costs.values.size() != instance.graph.values.size()) {
    throw InputError(
        fmt::format("{} value costs for {} values", costs.values.size(), instance.graph.values.size()));
  }
  if (instance.batch_size < 1) {
    throw InputError(fmt::format("the batch size must be >= 1, not {}", instance.batch_size));
  }
  const std::int64_t alignment = costs.alignment.value();
  if (alignment < 1 || (alignment & (alignment - 1)) != 0 || costs.alignment > kMostAlignment) {
    throw InputError(fmt::format("the alignment must be a power of two up to {}, not {}",
                                 kMostAlignment.value(), alignment));
  }
  Total total;
  check("persistent", "bytes", costs.persistent);
  total.add("persistent", costs.persistent);
  if (costs.storage_capacity) check("storage", "capacity", *costs.storage_capacity);
  for (const OpId op : ids<OpId>(costs.ops.size())) {
    const OpCost& cost = costs.ops[op];
    const std::string where = place(instance, op);
    check(where, "runtime", cost.runtime.value());
    check(where, "energy", cost.energy.value());
    check(where, "workspace", cost.workspace);
    check_multiple(where, "workspace", cost.workspace, costs.alignment);
    total.add(where, cost.workspace);
    total.add(where, cost.runtime.value());
    total.add(where, cost.energy.value());
  }
  for (const ValueId v : ids<ValueId>(costs.values.size())) {
    const ValueCost& cost = costs.values[v];
    const std::string where = place(instance, v);
    check(where, "RAM", cost.bytes);
    if (instance.graph.values[v].paged && !costs.has_storage)
      throw InputError(where, "is at home on storage, but there is none");
    if (!is_resident(instance.graph.values[v])) check_multiple(where, "RAM", cost.bytes, costs.alignment);
    if (instance.graph.values[v].alias_of.valid() && cost.bytes != Bytes(0)) {
      throw InputError(where, "a view occupies no RAM of its own");
    }
    check(where, "page-in", cost.page_in, costs.has_storage);
    check(where, "page-out", cost.page_out, costs.has_storage);
    total.add(where, cost.bytes);
    for (const TransferCost& transfer : {cost.page_in, cost.page_out}) {
      total.add(where, transfer.seconds.value());
      total.add(where, transfer.energy.value());
    }
  }
  check("device", "idle watts", costs.timing.idle.value());
  check("device", "wake seconds", costs.timing.wake_time.value());
  check("device", "wake joules", costs.timing.wake_energy.value());
}

}  // namespace poet
