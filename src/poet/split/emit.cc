#include "poet/split/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/split/cells.h"
#include "poet/split/op_nest.h"
#include "poet/split/op_place.h"

namespace poet::splitting {
namespace {

class Emitter {
 public:
  Emitter(const Graph& graph, const Partition& partition, Bytes ram)
      : graph_(graph),
        p_(partition),
        cutting_{graph, partition},
        gradients_(following_gradients(graph)),
        ram_(ram) {
    result_.name = graph.name;
    // Persistent values that no op names are part of the graph, too.
    for (const ValueId v : ids<ValueId>(graph.values.size()))
      if (is_persistent(graph.values[v].persistence) && !graph.values[v].alias_of.valid())
        for_each_cell(cutting_, v, [&](const Cell& cell) { (void)part_of(v, cell); });
  }

  Emitted emit() {
    for (const OpId id : ids<OpId>(graph_.ops.size())) emit(id);
    copies_.resize(result_.ops.size(), 0);
    return {std::move(result_), std::move(copies_)};
  }

 private:
  // ---- values

  /// The part of a storage, made where it is not there yet.
  ValueId part_of(ValueId s, const Cell& cell) {
    const auto [entry, is_new] = parts_.emplace(std::pair{s, cell}, ValueId());
    if (is_new) entry->second = result_.values.push_back(slice_of(cutting_, s, box_of(cutting_, s, cell)));
    return entry->second;
  }

  // ---- ops

  ValueId operand(const Place& place, ValueId v, const AxisLabels& labels) {
    const ValueId s = storage(graph_, v);
    const ValueId part = held(place.id, s, needed(cutting_, place, v, labels));
    if (s == v) return part;
    const auto [entry, is_new] = views_.emplace(std::pair{v, part}, ValueId());
    if (is_new) entry->second = result_.values.push_back(view_of(place, v, labels, part));
    return entry->second;
  }

  /// A value with these elements of a storage: one of its parts, or a copy out of several, which all readers
  /// share.
  ValueId held(OpId reader, ValueId s, const Box& box) {
    Cell first, last;
    bool exact = true;
    for (std::size_t a = 0; a < box.size(); ++a) {
      std::int64_t i = part_near(cutting_, s, a, box[a].begin);
      while (range_in(cutting_, s, a, i).end <= box[a].begin) ++i;
      first.push_back(i);
      exact = exact && range_in(cutting_, s, a, i).begin == box[a].begin;
      while (range_in(cutting_, s, a, i).end < box[a].end) ++i;
      last.push_back(i);
      exact = exact && range_in(cutting_, s, a, i).end == box[a].end && first.back() == i;
    }
    if (exact) return part_of(s, first);
    std::vector<std::int64_t> key{s.index};
    for (const Range& range : box) key.insert(key.end(), {range.begin, range.end});
    const auto known = made_.find(key);
    if (known != made_.end()) return known->second;

    Op op;
    // What an update reads is a gradient; its copy, unlike the update, may be made again.
    op.pass = graph_.ops[reader].pass == Pass::update ? Pass::backward : graph_.ops[reader].pass;
    std::size_t axis = 0;
    while (axis < box.size() && first[axis] == last[axis]) ++axis;
    if (axis < box.size()) {
      op.kind = "concat";
      std::vector<std::int64_t> sizes;
      for (std::int64_t i = first[axis]; i <= last[axis]; ++i) {
        const Range part = range_in(cutting_, s, axis, i);
        Box piece = box;
        piece[axis] = {std::max(part.begin, box[axis].begin), std::min(part.end, box[axis].end)};
        sizes.push_back(piece[axis].end - piece[axis].begin);
        op.inputs.push_back(held(reader, s, piece));
      }
      op.attributes = {{"axis", static_cast<std::int64_t>(axis)}, {"sizes", sizes}};
    } else {
      op.kind = "slice";
      op.inputs = {part_of(s, first)};
      std::vector<std::int64_t> starts, ends;
      for (std::size_t a = 0; a < box.size(); ++a) {
        const Range part = range_in(cutting_, s, a, first[a]);
        starts.push_back(box[a].begin - part.begin);
        ends.push_back(box[a].end - part.begin);
      }
      op.attributes = {
          {"starts", starts}, {"ends", ends}, {"steps", std::vector<std::int64_t>(box.size(), 1)}};
    }
    Value value = slice_of(cutting_, s, box, ":copy");
    value.persistence = Persistence::activation;
    value.paged = false;
    value.rows.reset();
    value.in_file.reset();
    op.name = fmt::format("{} for {}", value.name, graph_.ops[reader].name);
    op.outputs = {result_.values.push_back(std::move(value))};
    const ValueId copy = op.outputs.front();
    copies_.resize(result_.ops.size(), 0);
    copies_.push_back(1);
    result_.ops.push_back(std::move(op));
    return made_[std::move(key)] = copy;
  }

  [[nodiscard]] Value view_of(const Place& place, ValueId v, const AxisLabels& labels, ValueId part) const {
    const ValueId s = storage(graph_, v);
    Value view = graph_.values[v];
    const Value& of = result_.values[part];
    view.alias_of = part;
    view.bytes = of.bytes;
    view.persistence = of.persistence;
    view.strides = strides_within(cutting_, s, graph_.values[v], of.shape);
    if (of.part) {
      Part of_view{view.name, view.shape, Shape(view.shape.size(), 0)};
      for (std::size_t a = 0; a < labels.size(); ++a) {
        if (labels[a] < 0 || p_.storage_axis[v][a] < 0) continue;
        const auto label = static_cast<std::size_t>(labels[a]);
        const int c = p_.of_label[place.id][label];
        if (p_.parts(c) == 1) continue;
        const Range range = range_of(p_.classes[static_cast<std::size_t>(c)], view.shape[a], place.at[label]);
        of_view.begin[a] = range.begin;
        view.shape[a] = range.end - range.begin;
      }
      view.name += brackets(of_view, view.shape);
      view.part = std::move(of_view);
    }
    return view;
  }

  void emit(OpId id) {
    if (joins(graph_, graph_.ops[id]) && cut_where_joined(graph_.ops[id])) return emit_joined(id);
    Place place{id, loops_of(cutting_, id), std::vector<std::int64_t>(p_.axes[id].labels.size(), 0)};
    const Nest nest = nest_of(cutting_, gradients_, id, place.loops, ram_);
    std::vector<std::int64_t> turn(nest.size(), 0);
    sums_.clear();
    for (;;) {
      std::fill(place.at.begin(), place.at.end(), 0);
      for (std::size_t i = 0; i < nest.size(); ++i)
        place.at[static_cast<std::size_t>(nest[i].label)] += turn[i] * nest[i].step;
      const bool is_there = std::all_of(place.loops.begin(), place.loops.end(), [&](const Loop& loop) {
        return place.at[static_cast<std::size_t>(loop.label)] < loop.parts;
      });
      if (is_there) emit_at(place);
      std::size_t i = nest.size();
      while (i > 0 && ++turn[i - 1] == nest[i - 1].times) turn[--i] = 0;
      if (i == 0) return;
    }
  }

  [[nodiscard]] bool cut_where_joined(const Op& op) const {
    const auto axis = static_cast<std::size_t>(std::get<std::int64_t>(op.attributes.at("axis")));
    const auto is_cut = [&](ValueId v) { return p_.parts(p_.of_axis[v][axis]) > 1; };
    return std::any_of(op.inputs.begin(), op.inputs.end(), is_cut) ||
           std::any_of(op.outputs.begin(), op.outputs.end(), is_cut);
  }

  /// Every part of what is joined or taken apart is put together out of whatever has its elements.
  void emit_joined(OpId id) {
    const Op& whole = graph_.ops[id];
    const auto axis = static_cast<std::size_t>(std::get<std::int64_t>(whole.attributes.at("axis")));
    const bool from_one =
        whole.inputs.size() == 1 && whole.kind != "concat" && whole.kind != "split_backward";
    for (std::size_t i = 0; i < whole.outputs.size(); ++i) {
      const ValueId to = whole.outputs[i];
      const std::int64_t begin = from_one ? joined_begin(whole, i) : 0;
      for_each_cell(cutting_, to, [&](const Cell& cell) {
        const Box box = box_of(cutting_, to, cell);
        const Range wanted{box[axis].begin + begin, box[axis].end + begin};
        Op op;
        op.kind = "concat";
        op.pass = whole.pass;
        op.recomputable = whole.recomputable;
        std::vector<std::int64_t> sizes;
        std::int64_t at = 0;
        for (const ValueId from : whole.inputs) {
          const std::int64_t size = graph_.values[from].shape[axis];
          Box piece = box;
          piece[axis] = {std::max(wanted.begin - at, std::int64_t{0}), std::min(wanted.end - at, size)};
          at += size;
          if (piece[axis].begin >= piece[axis].end) continue;
          sizes.push_back(piece[axis].end - piece[axis].begin);
          op.inputs.push_back(held(id, from, piece));
        }
        op.attributes = {{"axis", static_cast<std::int64_t>(axis)}, {"sizes", sizes}};
        op.outputs = {part_of(to, cell)};
        const std::optional<Part>& part = result_.values[op.outputs.front()].part;
        op.name = whole.name + (whole.outputs.size() > 1 ? fmt::format(".{}", i) : "") +
                  (part ? brackets(*part, result_.values[op.outputs.front()].shape) : "");
        result_.ops.push_back(std::move(op));
      });
    }
  }
  /// Where what output i has begins in what there is one of.
  [[nodiscard]] static std::int64_t joined_begin(const Op& op, std::size_t i) {
    const auto& sizes = std::get<std::vector<std::int64_t>>(op.attributes.at("sizes"));
    const auto number = op.kind == "concat_backward"
                            ? static_cast<std::size_t>(
                                  std::get<std::vector<std::int64_t>>(op.attributes.at("gradients")).front())
                            : i;
    return std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(number),
                           std::int64_t{0});
  }

  /// A result that is added up.
  struct Sum {
    std::int64_t terms = 0;  // so far
    ValueId value;
  };

  void emit_at(const Place& place) {
    const Op& whole = graph_.ops[place.id];
    const OpAxes& axes = p_.axes[place.id];
    if (passes_over(cutting_, place)) return;
    Op op = whole;
    op.inputs.clear();
    op.outputs.clear();
    op.updates.clear();
    const auto at = [&](int label) { return place.at[static_cast<std::size_t>(label)]; };
    const bool first_term = std::all_of(place.loops.begin(), place.loops.end(), [&](const Loop& loop) {
      return !loop.summed || at(loop.label) == 0;
    });
    for (std::size_t i = 0; i < whole.inputs.size(); ++i) {
      const bool bias = std::find(axes.biases.begin(), axes.biases.end(), i) != axes.biases.end();
      if (!bias || first_term) op.inputs.push_back(operand(place, whole.inputs[i], axes.inputs[i]));
    }
    std::vector<std::int64_t> kept, accumulate;
    std::vector<ValueId> accumulators;
    for (std::size_t i = 0; i < whole.outputs.size(); ++i) {
      const AxisLabels& labels = axes.outputs[i];
      std::int64_t terms = 1;
      bool again = false;
      for (const Loop& loop : place.loops) {
        if (std::find(labels.begin(), labels.end(), loop.label) != labels.end()) continue;
        if (axes.labels[static_cast<std::size_t>(loop.label)].only) continue;
        if (loop.summed) {
          terms *= loop.parts;
        } else {
          again = again || at(loop.label) > 0;
        }
      }
      if (again) continue;  // computed by an earlier part
      kept.push_back(static_cast<std::int64_t>(i));
      const Cell cell = cell_of(cutting_, place, whole.outputs[i], labels);
      Sum& sum = sums_[{i, cell}];
      if (sum.terms > 0) {
        accumulate.push_back(static_cast<std::int64_t>(op.outputs.size()));
        accumulators.push_back(sum.value);
      }
      ++sum.terms;
      sum.value =
          sum.terms == terms ? part_of(whole.outputs[i], cell) : partial(whole.outputs[i], cell, sum.terms);
      op.outputs.push_back(sum.value);
    }
    if (op.outputs.empty() && !whole.outputs.empty()) return;
    for (const ValueId v : whole.updates) {
      const auto position = static_cast<std::size_t>(std::find(whole.inputs.begin(), whole.inputs.end(), v) -
                                                     whole.inputs.begin());
      op.updates.push_back(op.inputs.at(position));
    }
    if (kept.size() < whole.outputs.size()) op.attributes["gradients"] = gradients(whole, kept);
    if (!accumulate.empty()) op.attributes["accumulate"] = accumulate;
    op.inputs.insert(op.inputs.end(), accumulators.begin(), accumulators.end());
    adapt_attributes(cutting_, place, op);
    name_part(cutting_, place, op);
    result_.ops.push_back(std::move(op));
  }

  /// What the sum is after so many terms. Only the whole one is rounded.
  ValueId partial(ValueId v, const Cell& cell, std::int64_t terms) {
    Value sum = slice_of(cutting_, v, box_of(cutting_, v, cell), fmt::format("+{}", terms));
    if (sum.dtype != computed_as(sum.dtype)) {
      sum.dtype = computed_as(sum.dtype);
      sum.bytes = byte_count(sum.shape, sum.dtype);
    }
    return result_.values.push_back(std::move(sum));
  }

  /// The forward inputs that the outputs which are left are gradients of.
  [[nodiscard]] static std::vector<std::int64_t> gradients(const Op& whole,
                                                           const std::vector<std::int64_t>& kept) {
    const auto found = whole.attributes.find("gradients");
    std::vector<std::int64_t> positions;
    for (const std::int64_t i : kept) {
      // A weight's gradient is that of input 1, a bias's that of input 2.
      positions.push_back(found == whole.attributes.end() ? i + 1
                                                          : std::get<std::vector<std::int64_t>>(
                                                                found->second)[static_cast<std::size_t>(i)]);
    }
    return positions;
  }

  const Graph& graph_;
  const Partition& p_;
  const Cutting cutting_;  // both
  const FollowingGradients gradients_;
  Bytes ram_;
  Graph result_;
  std::vector<char> copies_;
  std::map<std::pair<ValueId, Cell>, ValueId> parts_;     // of storages
  std::map<std::pair<ValueId, ValueId>, ValueId> views_;  // of a view, what it is a view of there
  std::map<std::vector<std::int64_t>, ValueId> made_;     // copies: storage, box
  std::map<std::pair<std::size_t, Cell>, Sum> sums_;      // of the op under way: output, part
};

}  // namespace

Emitted emit_parts(const Graph& graph, const Partition& partition, Bytes ram) {
  return Emitter(graph, partition, ram).emit();
}

}  // namespace poet::splitting
