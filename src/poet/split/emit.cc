#include "poet/split/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/strides.h"
#include "poet/split/loops.h"

namespace poet::splitting {
namespace {

using Cell = std::vector<std::int64_t>;  // per axis the number of the part
using Box = std::vector<Range>;          // per axis its elements

/// "[:,64:128]": along the axes up to the last that is cut.
std::string brackets(const Part& part, const Shape& size) {
  std::size_t end = size.size();
  while (end > 0 && size[end - 1] == part.shape[end - 1]) --end;
  if (end == 0) return "";
  std::string text;
  for (std::size_t a = 0; a < end; ++a) {
    text += a == 0 ? "[" : ",";
    text += size[a] == part.shape[a] ? ":" : fmt::format("{}:{}", part.begin[a], part.begin[a] + size[a]);
  }
  return text + "]";
}

class Emitter {
 public:
  Emitter(const Graph& graph, const Partition& partition, Bytes ram)
      : graph_(graph), p_(partition), ram_(ram) {
    result_.name = graph.name;
    find_gradients();
    // Persistent values that no op names are part of the graph, too.
    for (const ValueId v : ids<ValueId>(graph.values.size()))
      if (is_persistent(graph.values[v].persistence) && !graph.values[v].alias_of.valid())
        for_each_cell(v, [&](const Cell& cell) { (void)part_of(v, cell); });
  }

  Emitted emit() {
    for (const OpId id : ids<OpId>(graph_.ops.size())) emit(id);
    copies_.resize(result_.ops.size(), 0);
    return {std::move(result_), std::move(copies_)};
  }

 private:
  // ---- values

  [[nodiscard]] const AxisClass& axis_class(ValueId storage, std::size_t axis) const {
    return p_.classes[static_cast<std::size_t>(p_.of_axis[storage][axis])];
  }

  /// The part of a storage, made where it is not there yet.
  ValueId part_of(ValueId s, const Cell& cell) {
    const auto [entry, is_new] = parts_.emplace(std::pair{s, cell}, ValueId());
    if (is_new) entry->second = result_.values.push_back(slice_of(s, box_of(s, cell)));
    return entry->second;
  }

  [[nodiscard]] Range range_in(ValueId s, std::size_t axis, std::int64_t i) const {
    const std::int64_t size = graph_.values[s].shape[axis];
    return p_.of_axis[s][axis] == kNoClass ? Range{0, size} : range_of(axis_class(s, axis), size, i);
  }
  /// The part with this element of the axis, or one before it.
  [[nodiscard]] std::int64_t part_near(ValueId s, std::size_t axis, std::int64_t element) const {
    if (p_.of_axis[s][axis] == kNoClass) return 0;
    const AxisClass& cut = axis_class(s, axis);
    return element * cut.parts / graph_.values[s].shape[axis];
  }
  [[nodiscard]] Box box_of(ValueId s, const Cell& cell) const {
    Box box;
    for (std::size_t a = 0; a < cell.size(); ++a) box.push_back(range_in(s, a, cell[a]));
    return box;
  }

  /// `suffix`: of the tensor's name.
  [[nodiscard]] Value slice_of(ValueId s, const Box& box, const std::string& suffix = "") const {
    Value value = graph_.values[s];
    value.producer = OpId();
    value.name += suffix;
    Part part{tensor_name(value), tensor_shape(value), Shape(value.shape.size(), 0)};
    if (value.part) {
      part.tensor += suffix;
      part.begin = value.part->begin;
    }
    bool cut = false;
    for (std::size_t a = 0; a < box.size(); ++a) {
      cut = cut || box[a].end - box[a].begin < value.shape[a];
      part.begin[a] += box[a].begin;
      value.shape[a] = box[a].end - box[a].begin;
    }
    if (!cut) return value;
    value.strides = strides_within(s, graph_.values[s], value.shape);
    value.bytes = byte_count(value.shape, value.dtype);
    value.name = part.tensor + brackets(part, value.shape);
    value.part = std::move(part);
    return value;
  }

  /// The strides of `view`, a view of s or itself, in a part of s of this shape: axes that lie within an axis
  /// of s that is cut are not touched, those without step over less.
  [[nodiscard]] Shape strides_within(ValueId s, const Value& view, const Shape& part) const {
    if (view.strides.empty()) return {};
    const Value& whole = graph_.values[s];
    const Shape own = whole.strides.empty() ? row_major_strides(whole.shape) : whole.strides;
    Shape strides = view.strides;
    for (std::int64_t& stride : strides) {
      const std::int64_t before = stride;
      for (std::size_t a = 0; a < part.size(); ++a)
        if (part[a] != whole.shape[a] && own[a] * whole.shape[a] <= before)
          stride = stride / whole.shape[a] * part[a];
    }
    return strides;
  }

  template <class F>
  void for_each_cell(ValueId s, const F& f) {
    Cell cell(graph_.values[s].shape.size(), 0);
    for (;;) {
      f(cell);
      std::size_t a = cell.size();
      while (a > 0 && ++cell[a - 1] == p_.parts(p_.of_axis[s][a - 1])) cell[--a] = 0;
      if (a == 0) return;
    }
  }

  // ---- ops

  /// An op under way: its loops and where in them we are.
  struct Place {
    OpId id;
    std::vector<Loop> loops;
    std::vector<std::int64_t> at;  // per label the number of the part
  };

  /// The part of a value that the op reads or writes there.
  [[nodiscard]] Cell cell_of(const Place& place, ValueId v, const AxisLabels& labels) const {
    const ValueId s = storage(graph_, v);
    Cell cell(graph_.values[s].shape.size(), 0);
    for (std::size_t a = 0; a < labels.size(); ++a) {
      const int axis = p_.storage_axis[v][a];
      if (labels[a] >= 0 && axis >= 0)
        cell[static_cast<std::size_t>(axis)] = place.at[static_cast<std::size_t>(labels[a])];
    }
    return cell;
  }

  ValueId operand(const Place& place, ValueId v, const AxisLabels& labels) {
    const ValueId s = storage(graph_, v);
    const ValueId part = held(place.id, s, needed(place, v, labels));
    if (s == v) return part;
    const auto [entry, is_new] = views_.emplace(std::pair{v, part}, ValueId());
    if (is_new) entry->second = result_.values.push_back(view_of(place, v, labels, part));
    return entry->second;
  }

  /// What the op needs there of the storage of v.
  [[nodiscard]] Box needed(const Place& place, ValueId v, const AxisLabels& labels) const {
    const ValueId s = storage(graph_, v);
    Box box;
    for (const std::int64_t size : graph_.values[s].shape) box.push_back({0, size});
    for (std::size_t a = 0; a < labels.size(); ++a) {
      const int axis = p_.storage_axis[v][a];
      if (labels[a] < 0 || axis < 0) continue;
      const auto label = static_cast<std::size_t>(labels[a]);
      const AxisClass& cut = p_.classes[static_cast<std::size_t>(p_.of_label[place.id][label])];
      Range& range = box[static_cast<std::size_t>(axis)];
      range = range_of(cut, range.end, place.at[label]);
    }
    return box;
  }

  /// A value with these elements of a storage: one of its parts, or a copy out of several, which the parts of
  /// one op share.
  ValueId held(OpId reader, ValueId s, const Box& box) {
    Cell first, last;
    bool exact = true;
    for (std::size_t a = 0; a < box.size(); ++a) {
      std::int64_t i = part_near(s, a, box[a].begin);
      while (range_in(s, a, i).end <= box[a].begin) ++i;
      first.push_back(i);
      exact = exact && range_in(s, a, i).begin == box[a].begin;
      while (range_in(s, a, i).end < box[a].end) ++i;
      last.push_back(i);
      exact = exact && range_in(s, a, i).end == box[a].end && first.back() == i;
    }
    if (exact) return part_of(s, first);
    std::vector<std::int64_t> key{s.index};
    for (const Range& range : box) key.insert(key.end(), {range.begin, range.end});
    const auto known = made_.find(key);
    if (known != made_.end()) return known->second;

    Op op;
    op.pass = graph_.ops[reader].pass;
    std::size_t axis = 0;
    while (axis < box.size() && first[axis] == last[axis]) ++axis;
    if (axis < box.size()) {
      op.kind = "concat";
      std::vector<std::int64_t> sizes;
      for (std::int64_t i = first[axis]; i <= last[axis]; ++i) {
        const Range part = range_in(s, axis, i);
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
        const Range part = range_in(s, a, first[a]);
        starts.push_back(box[a].begin - part.begin);
        ends.push_back(box[a].end - part.begin);
      }
      op.attributes = {
          {"starts", starts}, {"ends", ends}, {"steps", std::vector<std::int64_t>(box.size(), 1)}};
    }
    Value value = slice_of(s, box, ":copy");
    value.persistence = Persistence::activation;
    value.paged = false;
    value.rows.reset();
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
    view.strides = strides_within(s, graph_.values[v], of.shape);
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

  [[nodiscard]] std::vector<Loop> loops_of(OpId id) const {
    const OpAxes& axes = p_.axes[id];
    std::vector<Loop> loops;
    for (std::size_t l = 0; l < axes.labels.size(); ++l) {
      const std::int64_t parts = p_.parts(p_.of_label[id][l]);
      if (parts > 1) loops.push_back({static_cast<int>(l), parts, axes.labels[l].summed});
    }
    return loops;
  }

  [[nodiscard]] Nest nest_of(OpId id, const std::vector<Loop>& loops) const {
    std::vector<Traffic> operands;
    const Op& op = graph_.ops[id];
    const OpAxes& axes = p_.axes[id];
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      operands.push_back({bytes_of(op.inputs[i]), axes.inputs[i], false});
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
      operands.push_back({bytes_of(op.outputs[i]), axes.outputs[i], true});
    for (const OpId gradient : gradients_after_[id]) add_gradient(id, gradient, operands);
    return best_nest(loops, operands, static_cast<double>(ram_.value()));
  }
  /// The parts of a parameter's gradient are computed as the last op that reads the parameter goes on: what
  /// they read and write is moved in its loops.
  void add_gradient(OpId id, OpId gradient, std::vector<Traffic>& operands) const {
    const Op& op = graph_.ops[gradient];
    const auto add = [&](ValueId v, const AxisLabels& labels, bool written) {
      const std::vector<ValueId>& known = graph_.ops[id].inputs;
      if (std::find(known.begin(), known.end(), v) != known.end()) return;
      Traffic traffic{bytes_of(v), {}, written};
      for (const int label : labels) {
        if (label < 0) continue;
        const int c = p_.of_label[gradient][static_cast<std::size_t>(label)];
        const auto own = std::find(p_.of_label[id].begin(), p_.of_label[id].end(), c);
        if (own != p_.of_label[id].end())
          traffic.with.push_back(static_cast<int>(own - p_.of_label[id].begin()));
      }
      operands.push_back(std::move(traffic));
    };
    for (std::size_t i = 0; i < op.inputs.size(); ++i) add(op.inputs[i], p_.axes[gradient].inputs[i], false);
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
      add(op.outputs[i], p_.axes[gradient].outputs[i], true);
  }

  void find_gradients() {
    IdVector<ValueId, OpId> last_reader(graph_.values.size());
    for (const OpId id : ids<OpId>(graph_.ops.size())) {
      gradients_after_.push_back({});
      const Op& op = graph_.ops[id];
      if (op.pass == Pass::update && op.inputs.size() > 1) {
        const OpId reader = last_reader[storage(graph_, op.inputs[0])];
        const OpId gradient = graph_.values[storage(graph_, op.inputs[1])].producer;
        if (reader.valid() && gradient.valid()) gradients_after_[reader].push_back(gradient);
      }
      for (const ValueId v : op.inputs) last_reader[storage(graph_, v)] = id;
    }
  }

  [[nodiscard]] double bytes_of(ValueId v) const {
    return static_cast<double>(graph_.values[v].bytes.value());
  }

  void emit(OpId id) {
    if (joins(graph_, graph_.ops[id]) && cut_where_joined(graph_.ops[id])) return emit_joined(id);
    Place place{id, loops_of(id), std::vector<std::int64_t>(p_.axes[id].labels.size(), 0)};
    const Nest nest = nest_of(id, place.loops);
    std::vector<std::int64_t> turn(nest.size(), 0);
    sums_.clear();
    made_.clear();
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
    made_.clear();
    for (std::size_t i = 0; i < whole.outputs.size(); ++i) {
      const ValueId to = whole.outputs[i];
      const std::int64_t begin = from_one ? joined_begin(whole, i) : 0;
      for_each_cell(to, [&](const Cell& cell) {
        const Box box = box_of(to, cell);
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
    if (passes_over(place)) return;
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
      const Cell cell = cell_of(place, whole.outputs[i], labels);
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
    adapt(place, op);
    name(place, op);
    result_.ops.push_back(std::move(op));
  }

  /// What the sum is after so many terms.
  ValueId partial(ValueId v, const Cell& cell, std::int64_t terms) {
    return result_.values.push_back(slice_of(v, box_of(v, cell), fmt::format("+{}", terms)));
  }

  /// Where an op reads one place of an axis alone, its other parts do nothing.
  [[nodiscard]] bool passes_over(const Place& place) const {
    const OpAxes& axes = p_.axes[place.id];
    return std::any_of(place.loops.begin(), place.loops.end(), [&](const Loop& loop) {
      const auto label = static_cast<std::size_t>(loop.label);
      const bool written =
          std::any_of(axes.outputs.begin(), axes.outputs.end(), [&](const AxisLabels& labels) {
            return std::find(labels.begin(), labels.end(), loop.label) != labels.end();
          });
      return axes.labels[label].only && !written && !holds(place, label);
    });
  }
  [[nodiscard]] Range range_at(const Place& place, std::size_t label) const {
    return range_of(p_.classes[static_cast<std::size_t>(p_.of_label[place.id][label])],
                    p_.axes[place.id].labels[label].size, place.at[label]);
  }
  [[nodiscard]] bool holds(const Place& place, std::size_t label) const {
    const Range range = range_at(place, label);
    const std::int64_t only = *p_.axes[place.id].labels[label].only;
    return only >= range.begin && only < range.end;
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

  /// Attributes that count along an axis that is cut.
  void adapt(const Place& place, Op& op) const {
    const OpAxes& axes = p_.axes[place.id];
    for (const Loop& loop : place.loops) {
      const auto label = static_cast<std::size_t>(loop.label);
      const Range range = range_at(place, label);
      if (axes.labels[label].name == "groups") op.attributes["groups"] = range.end - range.begin;
      if (op.attributes.contains("ends")) {  // a slice, of all along the axis
        auto& ends = std::get<std::vector<std::int64_t>>(op.attributes["ends"]);
        ends[std::stoul(axes.labels[label].name)] = range.end - range.begin;
      }
      if (axes.labels[label].only) {
        op.attributes["index"] =
            holds(place, label) ? *axes.labels[label].only - range.begin : std::int64_t{-1};
      }
    }
  }

  /// "conv1[0:8]", of a sum "conv1[0:8]+[16:32]": its output's ranges, then those that are summed.
  void name(const Place& place, Op& op) const {
    if (place.loops.empty()) return;
    std::string ranges, terms;
    for (std::size_t l = 0; l < p_.axes[place.id].labels.size(); ++l) {
      const Label& label = p_.axes[place.id].labels[l];
      if (p_.parts(p_.of_label[place.id][l]) == 1) continue;
      const Range range = range_at(place, l);
      std::string& text = label.summed ? terms : ranges;
      text += fmt::format("{}{}:{}", text.empty() ? "" : ",", range.begin, range.end);
    }
    if (!ranges.empty()) op.name += "[" + ranges + "]";
    if (!terms.empty()) op.name += "+[" + terms + "]";
  }

  const Graph& graph_;
  const Partition& p_;
  Bytes ram_;
  Graph result_;
  std::vector<char> copies_;
  IdVector<OpId, std::vector<OpId>> gradients_after_;     // of parameters that the op is the last to read
  std::map<std::pair<ValueId, Cell>, ValueId> parts_;     // of storages
  std::map<std::pair<ValueId, ValueId>, ValueId> views_;  // of a view, what it is a view of there
  // Of the op under way:
  std::map<std::pair<std::size_t, Cell>, Sum> sums_;   // output, part
  std::map<std::vector<std::int64_t>, ValueId> made_;  // copies: storage, box
};

}  // namespace

Emitted emit_parts(const Graph& graph, const Partition& partition, Bytes ram) {
  return Emitter(graph, partition, ram).emit();
}

}  // namespace poet::splitting
