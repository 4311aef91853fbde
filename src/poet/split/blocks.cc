#include "poet/split/blocks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "poet/graph/float32_copies.h"

namespace poet::splitting {
namespace {

/// The classes of an op along the axes of what an input is a view of.
std::vector<int> classes_of(const Graph& graph, const Partition& p, OpId id, std::size_t input) {
  const ValueId v = graph.ops[id].inputs[input];
  const Shape& shape = graph.values[storage(graph, v)].shape;
  const AxisLabels& labels = p.axes[id].inputs[input];
  std::vector<int> classes(shape.size(), kNoClass);
  for (std::size_t a = 0; a < labels.size(); ++a) {
    const int axis = p.storage_axis[v][a];
    if (labels[a] >= 0 && axis >= 0 && shape[static_cast<std::size_t>(axis)] > 1)
      classes[static_cast<std::size_t>(axis)] = p.of_label[id][static_cast<std::size_t>(labels[a])];
  }
  return classes;
}

}  // namespace

std::vector<Block> storages(const Graph& graph, const Partition& partition) {
  std::vector<Block> blocks;
  for (const ValueId v : ids<ValueId>(graph.values.size()))
    if (!graph.values[v].alias_of.valid()) blocks.push_back({v, partition.of_axis[v]});
  return blocks;
}

std::vector<Block> copies(const Graph& graph, const Partition& partition) {
  std::set<std::pair<ValueId, std::vector<int>>> found;
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const Op& op = graph.ops[id];
    if (joins(graph, op)) continue;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const ValueId s = storage(graph, op.inputs[i]);
      std::vector<int> classes = classes_of(graph, partition, id, i);
      if (classes != partition.of_axis[s]) found.emplace(s, std::move(classes));
    }
  }
  std::vector<Block> blocks;
  for (const auto& [s, classes] : found) blocks.push_back({s, classes});
  return blocks;
}

Bytes largest_part(const Graph& graph, const Partition& partition, const Block& block) {
  std::int64_t bytes = bytes_in_float32(graph.values[block.storage]).value();
  for (const int c : block.classes) {
    if (c == kNoClass) continue;
    const AxisClass& axes = partition.classes[static_cast<std::size_t>(c)];
    bytes = bytes / axes.units * ((axes.units + axes.parts - 1) / axes.parts);
  }
  return Bytes(bytes);
}

double bytes_touched(const Graph& graph, const Partition& partition) {
  const auto bytes = [&](ValueId v) { return static_cast<double>(graph.values[v].bytes.value()); };
  double total = 0;
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const auto parts = [&](std::size_t label) {
      return static_cast<double>(partition.parts(partition.of_label[id][label]));
    };
    // Once for each part of the axes that it does not have.
    const auto add = [&](ValueId v, const AxisLabels& labels) {
      double times = 1;
      for (std::size_t l = 0; l < partition.axes[id].labels.size(); ++l)
        if (std::find(labels.begin(), labels.end(), static_cast<int>(l)) == labels.end()) times *= parts(l);
      total += times * bytes(v);
    };
    const Op& op = graph.ops[id];
    for (std::size_t i = 0; i < op.inputs.size(); ++i) add(op.inputs[i], partition.axes[id].inputs[i]);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) add(op.outputs[i], partition.axes[id].outputs[i]);
  }
  constexpr double kSliceAndJoin = 4;  // both read and write
  for (const Block& copy : copies(graph, partition)) {
    const std::vector<int>& own = partition.of_axis[copy.storage];
    const bool same = std::equal(own.begin(), own.end(), copy.classes.begin(),
                                 [&](int a, int b) { return partition.parts(a) == partition.parts(b); });
    if (!same) total += kSliceAndJoin * bytes(copy.storage);
  }
  return total;
}

}  // namespace poet::splitting
