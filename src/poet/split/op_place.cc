#include "poet/split/op_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace poet::splitting {
namespace {

Range range_at(const Cutting& cutting, const Place& place, std::size_t label) {
  return range_of(cutting.parts.classes[static_cast<std::size_t>(cutting.parts.of_label[place.id][label])],
                  cutting.parts.axes[place.id].labels[label].size, place.at[label]);
}

bool holds(const Cutting& cutting, const Place& place, std::size_t label) {
  const Range range = range_at(cutting, place, label);
  const std::int64_t only = *cutting.parts.axes[place.id].labels[label].only;
  return only >= range.begin && only < range.end;
}

}  // namespace

std::vector<Loop> loops_of(const Cutting& cutting, OpId id) {
  const OpAxes& axes = cutting.parts.axes[id];
  std::vector<Loop> loops;
  for (std::size_t l = 0; l < axes.labels.size(); ++l) {
    const std::int64_t parts = cutting.parts.parts(cutting.parts.of_label[id][l]);
    if (parts > 1) loops.push_back({static_cast<int>(l), parts, axes.labels[l].summed});
  }
  return loops;
}

Cell cell_of(const Cutting& cutting, const Place& place, ValueId v, const AxisLabels& labels) {
  const ValueId s = storage(cutting.graph, v);
  Cell cell(cutting.graph.values[s].shape.size(), 0);
  for (std::size_t a = 0; a < labels.size(); ++a) {
    const int axis = cutting.parts.storage_axis[v][a];
    if (labels[a] >= 0 && axis >= 0)
      cell[static_cast<std::size_t>(axis)] = place.at[static_cast<std::size_t>(labels[a])];
  }
  return cell;
}

Box needed(const Cutting& cutting, const Place& place, ValueId v, const AxisLabels& labels) {
  const ValueId s = storage(cutting.graph, v);
  Box box;
  for (const std::int64_t size : cutting.graph.values[s].shape) box.push_back({0, size});
  for (std::size_t a = 0; a < labels.size(); ++a) {
    const int axis = cutting.parts.storage_axis[v][a];
    if (labels[a] < 0 || axis < 0) continue;
    const auto label = static_cast<std::size_t>(labels[a]);
    const AxisClass& axes =
        cutting.parts.classes[static_cast<std::size_t>(cutting.parts.of_label[place.id][label])];
    Range& range = box[static_cast<std::size_t>(axis)];
    range = range_of(axes, range.end, place.at[label]);
  }
  return box;
}

bool passes_over(const Cutting& cutting, const Place& place) {
  const OpAxes& axes = cutting.parts.axes[place.id];
  return std::any_of(place.loops.begin(), place.loops.end(), [&](const Loop& loop) {
    const auto label = static_cast<std::size_t>(loop.label);
    const bool written = std::any_of(axes.outputs.begin(), axes.outputs.end(), [&](const AxisLabels& labels) {
      return std::find(labels.begin(), labels.end(), loop.label) != labels.end();
    });
    return axes.labels[label].only && !written && !holds(cutting, place, label);
  });
}

void adapt_attributes(const Cutting& cutting, const Place& place, Op& op) {
  const OpAxes& axes = cutting.parts.axes[place.id];
  for (const Loop& loop : place.loops) {
    const auto label = static_cast<std::size_t>(loop.label);
    const Range range = range_at(cutting, place, label);
    if (axes.labels[label].name == "groups") op.attributes["groups"] = range.end - range.begin;
    if (op.attributes.contains("ends")) {  // a slice, of all along the axis
      auto& ends = std::get<std::vector<std::int64_t>>(op.attributes["ends"]);
      ends[std::stoul(axes.labels[label].name)] = range.end - range.begin;
    }
    if (axes.labels[label].only) {
      op.attributes["index"] =
          holds(cutting, place, label) ? *axes.labels[label].only - range.begin : std::int64_t{-1};
    }
  }
}

void name_part(const Cutting& cutting, const Place& place, Op& op) {
  if (place.loops.empty()) return;
  std::string ranges, terms;
  for (std::size_t l = 0; l < cutting.parts.axes[place.id].labels.size(); ++l) {
    const Label& label = cutting.parts.axes[place.id].labels[l];
    if (cutting.parts.parts(cutting.parts.of_label[place.id][l]) == 1) continue;
    const Range range = range_at(cutting, place, l);
    std::string& text = label.summed ? terms : ranges;
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", range.begin, range.end);
  }
  if (!ranges.empty()) op.name += "[" + ranges + "]";
  if (!terms.empty()) op.name += "+[" + terms + "]";
}

}  // namespace poet::splitting
