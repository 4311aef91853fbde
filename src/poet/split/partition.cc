#include "poet/split/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "poet/base/error.h"
#include "poet/graph/strides.h"

namespace poet::splitting {
namespace {

/// A convolution's gradient of a weight sums in another order where a group has fewer output channels.
constexpr std::int64_t kFewestChannels = 4;

Shape strides_of_value(const Value& value) {
  return value.strides.empty() ? row_major_strides(value.shape) : value.strides;
}

/// An axis of a view and one of its storage are cut by the same ranges, in proportion, where both span the
/// same elements.
std::vector<int> axes_in_storage(const Value& view, const Value& storage) {
  std::vector<int> found(view.shape.size(), -1);
  const Shape of_view = strides_of_value(view);
  const Shape of_storage = strides_of_value(storage);
  for (std::size_t v = 0; v < view.shape.size(); ++v) {
    for (std::size_t s = 0; s < storage.shape.size(); ++s) {
      if (view.shape[v] == 1 || storage.shape[s] == 1) continue;
      if (view.shape[v] * of_view[v] == storage.shape[s] * of_storage[s]) found[v] = static_cast<int>(s);
    }
  }
  return found;
}

/// Nodes are axes of storages and labels of ops.
class Classes {
 public:
  Classes(const Graph& graph, Partition& result) : graph_(graph), result_(result) {
    for (const ValueId v : ids<ValueId>(graph.values.size())) {
      const Value& value = graph.values[v];
      result.storage_axis.push_back(axes_in_storage(value, graph.values[storage(graph, v)]));
      first_axis_.push_back(static_cast<int>(parent_.size()));
      if (!value.alias_of.valid())
        for (const std::int64_t size : value.shape) add(size);
    }
    for (const OpId id : ids<OpId>(graph.ops.size())) {
      result.axes.push_back(axes_of(graph, graph.ops[id]));
      first_label_.push_back(static_cast<int>(parent_.size()));
      for (const Label& label : result.axes[id].labels) {
        const int node = add(label.size);
        if (!label.cuttable && label.size > 1) need_whole(node, graph.ops[id], label.name);
      }
    }
  }

  void find() {
    for (const OpId id : ids<OpId>(graph_.ops.size())) {
      const Op& op = graph_.ops[id];
      const OpAxes& axes = result_.axes[id];
      for (std::size_t i = 0; i < op.inputs.size(); ++i) tie(id, op.inputs[i], axes.inputs[i]);
      for (std::size_t i = 0; i < op.outputs.size(); ++i) tie(id, op.outputs[i], axes.outputs[i]);
    }
    number();
  }

 private:
  int add(std::int64_t size) {
    parent_.push_back(static_cast<int>(parent_.size()));
    size_.push_back(size);
    whole_.emplace_back();
    return parent_.back();
  }
  int root(int node) {
    while (parent_[at(node)] != node) node = parent_[at(node)] = parent_[at(parent_[at(node)])];
    return node;
  }
  static std::size_t at(int node) { return static_cast<std::size_t>(node); }

  void need_whole(int node, const Op& op, const std::string& what) {
    node = root(node);
    if (whole_[at(node)].empty())
      whole_[at(node)] = fmt::format("{} ({}) needs {} whole", op.name, op.kind, what);
  }

  /// The operand's axes and the op's labels.
  void tie(OpId id, ValueId v, const AxisLabels& labels) {
    const ValueId s = storage(graph_, v);
    std::set<int> tied;
    for (std::size_t a = 0; a < labels.size(); ++a) {
      const int axis = result_.storage_axis[v][a];
      if (labels[a] == kNoLabel) continue;
      const int label = first_label_[id] + labels[a];
      if (axis < 0) {
        if (graph_.values[v].shape[a] > 1)
          need_whole(label, graph_.ops[id], "an axis of the view " + graph_.values[v].name);
        continue;
      }
      tied.insert(axis);
      unite(label, first_axis_[s] + axis);
    }
    for (std::size_t a = 0; a < graph_.values[s].shape.size(); ++a) {
      if (!tied.contains(static_cast<int>(a)) && graph_.values[s].shape[a] > 1)
        need_whole(first_axis_[s] + static_cast<int>(a), graph_.ops[id],
                   fmt::format("axis {} of {}", a, graph_.values[s].name));
    }
  }

  void unite(int a, int b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    size_[at(a)] = std::gcd(size_[at(a)], size_[at(b)]);
    parent_[at(b)] = a;
    if (whole_[at(a)].empty()) whole_[at(a)] = whole_[at(b)];
  }

  void number() {
    std::vector<int> number(parent_.size(), kNoClass);
    const auto class_of = [&](int node) {
      const int r = root(node);
      if (number[at(r)] == kNoClass) {
        number[at(r)] = static_cast<int>(result_.classes.size());
        AxisClass found;
        found.units = size_[at(r)];
        found.reason = whole_[at(r)];
        found.most = found.usual = found.reason.empty() ? found.units : 1;
        result_.classes.push_back(std::move(found));
      }
      return number[at(r)];
    };
    for (const ValueId v : ids<ValueId>(graph_.values.size())) {
      std::vector<int>& list = result_.of_axis[result_.of_axis.push_back({})];
      const Value& value = graph_.values[v];
      if (value.alias_of.valid()) continue;
      for (std::size_t a = 0; a < value.shape.size(); ++a)
        list.push_back(value.shape[a] == 1 ? kNoClass : class_of(first_axis_[v] + static_cast<int>(a)));
    }
    for (const OpId id : ids<OpId>(graph_.ops.size())) {
      std::vector<int>& list = result_.of_label[result_.of_label.push_back({})];
      for (std::size_t l = 0; l < result_.axes[id].labels.size(); ++l)
        list.push_back(class_of(first_label_[id] + static_cast<int>(l)));
    }
  }

  const Graph& graph_;
  Partition& result_;
  std::vector<int> parent_;
  std::vector<std::int64_t> size_;
  std::vector<std::string> whole_;  // why the class is not cut
  IdVector<ValueId, int> first_axis_;
  IdVector<OpId, int> first_label_;
};

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
      keep_channels(id);
    }
  }

  void cut(ValueId v, Bytes limit) {
    while (largest_part(graph_, p_, v) > limit) {
      if (!refine(v, false) && !refine(v, true)) return;
    }
  }

 private:
  AxisClass& at(int c) { return p_.classes[static_cast<std::size_t>(c)]; }

  void keep_channels(OpId id) {
    const Op& op = graph_.ops[id];
    if (!op.kind.starts_with("conv") || !op.kind.ends_with("_backward_weight")) return;
    const OpAxes& axes = p_.axes[id];
    for (std::size_t l = 0; l < axes.labels.size(); ++l) {
      AxisClass& c = at(p_.of_label[id][l]);
      const std::int64_t per_unit = axes.labels[l].size / c.units;
      if (axes.labels[l].name == (op.kind.starts_with("conv_transpose") ? "C" : "O"))
        c.usual = std::min(c.usual, std::max<std::int64_t>(1, c.units * per_unit / kFewestChannels));
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
  bool refine(ValueId v, bool beyond_usual) {
    int best = kNoClass;
    double least = std::numeric_limits<double>::infinity();
    for (const int c : p_.of_axis[v]) {
      if (c == kNoClass) continue;
      AxisClass& axes = at(c);
      const std::int64_t parts = axes.parts;
      const std::int64_t next = next_parts(axes);
      if (next <= parts || next > (beyond_usual ? axes.most : axes.usual)) continue;
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
  std::int64_t whole = value.bytes.value();
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
  Classes(graph, result).find();
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
