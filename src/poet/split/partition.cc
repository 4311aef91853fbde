#include "poet/split/partition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "poet/graph/float32_copies.h"
#include "poet/split/axis_classes.h"

namespace poet::splitting {
namespace {

/// Units of the largest part.
std::int64_t units_per_part(const AxisClass& c, std::int64_t parts) { return (c.units + parts - 1) / parts; }

/// The next number of parts by which the largest part gets smaller.
std::int64_t next_parts(const AxisClass& c) {
  const std::int64_t per_part = units_per_part(c, c.parts);
  return per_part <= 1 ? c.parts : (c.units + per_part - 2) / (per_part - 1);
}

/// How finely each class is cut.
class Refinement {
 public:
  Refinement(const Graph& graph, Partition& p) : graph_(graph), p_(p), ops_of_(p.classes.size()) {
    for (const OpId id : ids<OpId>(graph.ops.size())) {
      std::set<int> classes(p.of_label[id].begin(), p.of_label[id].end());
      for (const int c : classes) ops_of_[static_cast<std::size_t>(c)].push_back(id);
    }
  }

  void cut(ValueId v, Bytes limit) {
    while (largest_part(graph_, p_, v) > limit) {
      if (!refine(v)) return;
    }
  }

 private:
  AxisClass& at(int c) { return p_.classes[static_cast<std::size_t>(c)]; }

  /// What has to be cut before.
  void cut_into_elements(const std::vector<int>& classes) {
    for (const int c : classes) {
      if (at(c).parts == at(c).units) continue;
      at(c).parts = at(c).units;
      cut_into_elements(at(c).after);
    }
  }

  double ops_with(int c) const {
    double total = 0;
    for (const OpId id : ops_of_[static_cast<std::size_t>(c)]) {
      double parts = 1;
      for (const int other : p_.of_label[id]) parts *= static_cast<double>(p_.parts(other));
      total += parts;
    }
    return total;
  }

  /// Cuts v more finely along the axis for which that makes the fewest ops. Whether there is one.
  bool refine(ValueId v) {
    int best = kNoClass;
    double least = std::numeric_limits<double>::infinity();
    for (const int c : p_.of_axis[v]) {
      if (c == kNoClass) continue;
      AxisClass& axes = at(c);
      const std::int64_t parts = axes.parts;
      const std::int64_t next = next_parts(axes);
      if (next <= parts || next > axes.most) continue;
      const double smaller = std::log(static_cast<double>(units_per_part(axes, parts)) /
                                      static_cast<double>(units_per_part(axes, next)));
      const double before = ops_with(c);
      axes.parts = next;
      const double price = (ops_with(c) - before) / smaller;
      axes.parts = parts;
      if (price < least) {
        least = price;
        best = c;
      }
    }
    if (best == kNoClass) return false;
    cut_into_elements(at(best).after);
    at(best).parts = next_parts(at(best));
    return true;
  }

  const Graph& graph_;
  Partition& p_;
  std::vector<std::vector<OpId>> ops_of_;
};

}  // namespace

Range range_of(const AxisClass& axes, std::int64_t size, std::int64_t i) {
  const std::int64_t per_unit = size / axes.units;
  return {i * axes.units / axes.parts * per_unit, (i + 1) * axes.units / axes.parts * per_unit};
}

Bytes largest_part(const Graph& graph, const Partition& partition, ValueId storage) {
  const Value& value = graph.values[storage];
  std::int64_t whole = bytes_in_float32(value).value();
  for (std::size_t a = 0; a < value.shape.size(); ++a) {
    const int c = partition.of_axis[storage][a];
    if (c == kNoClass) continue;
    const AxisClass& axes = partition.classes[static_cast<std::size_t>(c)];
    whole = whole / axes.units * units_per_part(axes, axes.parts);
  }
  return Bytes(whole);
}

Partition partition(const Graph& graph, Bytes limit) {
  Partition result;
  find_classes(graph, limit, result);
  Refinement refinement(graph, result);
  // Where there is no choice first.
  std::vector<ValueId> order;
  for (const ValueId v : ids<ValueId>(graph.values.size()))
    if (!graph.values[v].alias_of.valid()) order.push_back(v);
  const auto choices = [&](ValueId v) {
    return std::count_if(result.of_axis[v].begin(), result.of_axis[v].end(), [&](int c) {
      return c != kNoClass && result.classes[static_cast<std::size_t>(c)].most > 1;
    });
  };
  std::stable_sort(order.begin(), order.end(), [&](ValueId a, ValueId b) { return choices(a) < choices(b); });
  for (const ValueId v : order) refinement.cut(v, limit);
  return result;
}

}  // namespace poet::splitting
