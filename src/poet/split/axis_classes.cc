#include "poet/split/axis_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "poet/graph/float32_copies.h"
#include "poet/graph/strides.h"

namespace poet::splitting {
namespace {

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

/// Nodes are axes of storages and labels of ops; a class is named by one of its nodes.
class Classes {
 public:
  Classes(const Graph& graph, Bytes limit, Copies copies, Partition& result)
      : graph_(graph), limit_(limit), copies_(copies), result_(result) {
    for (const ValueId v : ids<ValueId>(graph.values.size())) {
      const Value& value = graph.values[v];
      result.storage_axis.push_back(axes_in_storage(value, graph.values[storage(graph, v)]));
      first_axis_.push_back(static_cast<int>(parent_.size()));
      if (!value.alias_of.valid())
        for (const std::int64_t size : value.shape) add(size).storages.push_back(v);
    }
    for (const OpId id : ids<OpId>(graph.ops.size())) {
      result.axes.push_back(axes_of(graph, graph.ops[id]));
      first_label_.push_back(static_cast<int>(parent_.size()));
      for (const Label& label : result.axes[id].labels) {
        Class& added = add(label.size);
        if (!label.cuttable && label.size > 1)
          need_whole(added, graph.ops[id], label.name.starts_with("...") ? "its inner axes" : label.name);
      }
    }
  }

  /// Results and what is updated are cut as the op is. Operands are so where that leaves no tensor too large;
  /// otherwise they are copied into other parts for the op. Those come last that would make something
  /// coarser.
  void find() {
    for (const Tie how : {Tie::always, Tie::if_alike, Tie::unless_copied}) {
      for (const OpId id : ids<OpId>(graph_.ops.size())) {
        const Op& op = graph_.ops[id];
        const OpAxes& axes = result_.axes[id];
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
          const bool updated =
              std::find(op.updates.begin(), op.updates.end(), op.inputs[i]) != op.updates.end();
          if (updated == (how == Tie::always)) tie(id, op.inputs[i], axes.inputs[i], how);
        }
        for (std::size_t i = 0; i < op.outputs.size() && how == Tie::always; ++i)
          tie(id, op.outputs[i], axes.outputs[i], how);
      }
    }
    keep_order_of_sums();
    number();
  }

 private:
  enum class Tie { always, if_alike, unless_copied };
  struct Class {
    std::int64_t units = 1;
    std::string whole;  // why it is not cut
    std::vector<ValueId> storages;
  };

  /// A class that is never cut, for axes that no label stands for.
  int add_uncut() {
    add(1).whole = "no label";
    return parent_.back();
  }
  Class& add(std::int64_t size) {
    parent_.push_back(static_cast<int>(parent_.size()));
    classes_.push_back({size, {}, {}});
    return classes_.back();
  }
  static std::size_t at(int node) { return static_cast<std::size_t>(node); }
  int root(int node) {
    while (parent_[at(node)] != node) node = parent_[at(node)] = parent_[at(parent_[at(node)])];
    return node;
  }
  Class& class_of(int node) { return classes_[at(root(node))]; }

  static void need_whole(Class& c, const Op& op, const std::string& what) {
    if (c.whole.empty()) c.whole = fmt::format("{} ({}) needs {} whole", op.name, op.kind, what);
  }

  /// The operand's axes and the op's labels.
  void tie(OpId id, ValueId v, const AxisLabels& labels, Tie how) {
    const ValueId s = storage(graph_, v);
    const Shape& shape = graph_.values[s].shape;
    const Op& op = graph_.ops[id];
    std::set<int> tied;
    const bool apart = how != Tie::always && stays_apart(id, v, labels);
    for (std::size_t a = 0; a < labels.size(); ++a) {
      const int axis = result_.storage_axis[v][a];
      if (labels[a] == kJoined) tied.insert(axis);
      if (labels[a] < 0) continue;
      const int label = first_label_[id] + labels[a];
      if (axis >= 0) {
        tied.insert(axis);
        if (apart) {
          copy_along(label, s, axis);
        } else {
          tie_axis(label, s, axis, how);
        }
      } else if (graph_.values[v].shape[a] > 1) {
        need_whole(class_of(label), op, "an axis of the view " + graph_.values[v].name);
      }
    }
    for (std::size_t a = 0; a < shape.size() && how != Tie::if_alike && !apart; ++a) {
      if (tied.contains(static_cast<int>(a)) || shape[a] == 1) continue;
      if (how == Tie::unless_copied && better_copied(s, static_cast<int>(a), uncut_)) continue;
      need_whole(class_of(first_axis_[s] + static_cast<int>(a)), op,
                 fmt::format("axis {} of {}", a, graph_.values[s].name));
    }
  }

  void tie_axis(int label, ValueId s, int axis, Tie how) {
    const int of_tensor = first_axis_[s] + axis;
    const Class& a = class_of(label);
    const Class& b = class_of(of_tensor);
    const bool alike = a.whole.empty() == b.whole.empty() && (!a.whole.empty() || a.units == b.units);
    if (how == Tie::if_alike && !alike) return;
    if (how != Tie::unless_copied || !better_copied(s, axis, root(label))) {
      unite(label, of_tensor);
    } else {
      copy_along(label, s, axis);
    }
  }

  /// Boundaries lie between elements of the storage.
  void copy_along(int label, ValueId s, int axis) {
    class_of(label).units = std::gcd(class_of(label).units, graph_.values[s].shape[at(axis)]);
  }

  /// Whether the operand is copied for the op, along all axes, because of a long one that only one of them
  /// needs whole.
  bool stays_apart(OpId id, ValueId v, const AxisLabels& labels) {
    if (copies_ != Copies::of_long_axes || joins(graph_, graph_.ops[id])) return false;
    const ValueId s = storage(graph_, v);
    for (std::size_t a = 0; a < labels.size(); ++a) {
      const int axis = result_.storage_axis[v][a];
      if (labels[a] < 0 || axis < 0) continue;
      const bool op_cuts = class_of(first_label_[id] + labels[a]).whole.empty();
      const bool is_cut = class_of(first_axis_[s] + axis).whole.empty();
      const std::int64_t length = graph_.values[v].shape[a];
      if (op_cuts != is_cut && size_of(DType::float32) * (length * length) > limit_) return true;
    }
    return false;
  }

  /// The least that a part of the storage can have, were the classes a and b one.
  double least_part(ValueId s, int a, int b) {
    const Value& value = graph_.values[s];
    auto bytes = static_cast<double>(bytes_in_float32(value).value());
    for (std::size_t axis = 0; axis < value.shape.size(); ++axis) {
      const int r = root(first_axis_[s] + static_cast<int>(axis));
      const bool merged = a != b && (r == a || r == b);
      const Class& one = classes_[at(r)];
      const Class& other = classes_[at(merged ? (r == a ? b : a) : r)];
      if (one.whole.empty() && other.whole.empty())
        bytes /= static_cast<double>(std::gcd(one.units, other.units));
    }
    return bytes;
  }

  /// Whether a storage had better be copied for an op than be cut along its axis as the op is: some tensor
  /// would be too large otherwise, and larger than the copy.
  bool better_copied(ValueId storage, int axis, int label) {
    const int of_axis = root(first_axis_[storage] + axis);
    if (label == of_axis) return false;
    const auto units = [&](int node) {
      const Class& c = classes_[at(node)];
      return c.whole.empty() ? static_cast<double>(c.units) : 1.0;
    };
    const double copy = least_part(storage, label, label) * units(of_axis) / units(label);
    for (const int node : {label, of_axis}) {
      for (const ValueId s : classes_[at(node)].storages) {
        const double apart = std::max(least_part(s, label, label), static_cast<double>(limit_.value()));
        if (least_part(s, label, of_axis) > std::max(apart, copy)) return true;
      }
    }
    return false;
  }

  void unite(int a, int b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    if (classes_[at(a)].storages.size() < classes_[at(b)].storages.size()) std::swap(a, b);
    Class& into = classes_[at(a)];
    Class& from = classes_[at(b)];
    into.units = std::gcd(into.units, from.units);
    if (into.whole.empty()) into.whole = from.whole;
    into.storages.insert(into.storages.end(), from.storages.begin(), from.storages.end());
    from.storages.clear();
    parent_[at(b)] = a;
  }

  /// Of axes that an op sums over one after another, an inner one is cut where the outer ones are cut into
  /// single elements: otherwise parts would add up in another order. Where those cannot be, it is whole.
  void keep_order_of_sums() {
    for (bool again = true; again;) {
      again = false;
      for_each_nested_sum([&](OpId id, int outer, int inner) {
        Class& of_inner = class_of(inner);
        if (class_of(outer).whole.empty() || !of_inner.whole.empty()) return;
        need_whole(of_inner, graph_.ops[id], "the inner one of two axes that it sums over");
        again = true;
      });
    }
  }
  template <class F>
  void for_each_nested_sum(const F& f) {
    for (const OpId id : ids<OpId>(graph_.ops.size())) {
      const std::vector<Label>& labels = result_.axes[id].labels;
      for (std::size_t inner = 0; inner < labels.size(); ++inner) {
        for (std::size_t outer = 0; outer < inner; ++outer) {
          if (!labels[outer].summed || !labels[inner].summed || labels[outer].size == 1 ||
              labels[inner].size == 1)
            continue;
          if (is_summed(id, outer) && is_summed(id, inner))
            f(id, first_label_[id] + static_cast<int>(outer), first_label_[id] + static_cast<int>(inner));
        }
      }
    }
  }
  /// By a result that lacks it.
  [[nodiscard]] bool is_summed(OpId id, std::size_t label) const {
    const std::vector<AxisLabels>& outputs = result_.axes[id].outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](const AxisLabels& labels) {
      return std::find(labels.begin(), labels.end(), static_cast<int>(label)) == labels.end();
    });
  }

  void number() {
    std::vector<int> number(parent_.size(), kNoClass);
    const auto number_of = [&](int node) {
      const int r = root(node);
      if (number[at(r)] == kNoClass) {
        number[at(r)] = static_cast<int>(result_.classes.size());
        AxisClass found;
        found.units = classes_[at(r)].units;
        found.reason = classes_[at(r)].whole;
        found.most = found.reason.empty() ? found.units : 1;
        result_.classes.push_back(std::move(found));
      }
      return number[at(r)];
    };
    for (const ValueId v : ids<ValueId>(graph_.values.size())) {
      std::vector<int>& list = result_.of_axis[result_.of_axis.push_back({})];
      const Value& value = graph_.values[v];
      if (value.alias_of.valid()) continue;
      for (std::size_t a = 0; a < value.shape.size(); ++a)
        list.push_back(value.shape[a] == 1 ? kNoClass : number_of(first_axis_[v] + static_cast<int>(a)));
    }
    for (const OpId id : ids<OpId>(graph_.ops.size())) {
      std::vector<int>& list = result_.of_label[result_.of_label.push_back({})];
      for (std::size_t l = 0; l < result_.axes[id].labels.size(); ++l)
        list.push_back(number_of(first_label_[id] + static_cast<int>(l)));
    }
    for_each_nested_sum([&](OpId, int outer, int inner) {
      const int before = number_of(outer);
      const int then = number_of(inner);
      if (before != then) result_.classes[at(then)].after.push_back(before);
    });
  }

  const Graph& graph_;
  Bytes limit_;
  Copies copies_;
  Partition& result_;
  std::vector<int> parent_;
  std::vector<Class> classes_;  // of roots
  int uncut_ = add_uncut();
  IdVector<ValueId, int> first_axis_;
  IdVector<OpId, int> first_label_;
};

}  // namespace

Partition find_classes(const Graph& graph, Bytes limit, Copies copies) {
  Partition result;
  Classes(graph, limit, copies, result).find();
  return result;
}

}  // namespace poet::splitting
