#include "poet/pipeline/cutting.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "poet/cost/tabulate.h"
#include "poet/split/indexed.h"

namespace poet {

InParts in_parts(const Graph& training, Bytes part, Bytes ram_budget) {
  SplitOptions options;
  options.part = part;
  options.ram = ram_budget;
  SplitReport report;
  InParts parts{split(training, options, &report), {}};
  parts.unsplit = std::move(report.unsplit);
  return parts;
}

std::vector<ValueId> worth_an_index(const Graph& training, const DeviceProfile& device) {
  std::vector<ValueId> found;
  const std::vector<ValueId> tables = indexable_tables(training);
  if (tables.empty() || !device.storage) return found;
  const CostTable whole = tabulate(training, device);
  const CostTable by_index = tabulate(with_indexed(training, tables), device);
  const auto price = [](const CostTable& costs, ValueId v) {
    return costs.values[v].page_in.energy + costs.values[v].page_out.energy;
  };
  for (const ValueId v : tables)
    if (price(by_index, v) < price(whole, v)) found.push_back(v);
  if (by_index.storage_capacity.value_or(Bytes(0)) < Bytes(0)) found.clear();
  return found;
}

Cuts cuts_of(const Graph& training, const DeviceProfile& device, PersistentPolicy persistent,
             const std::vector<ValueId>& tables, const Instance& labels, const Cut& given, bool other_parts) {
  struct Graphs {
    Graph whole, by_index;
    DeviceProfile device;
    Instance labels;
  };
  auto graphs = std::make_shared<Graphs>(Graphs{training, {}, device, labels});
  graphs->labels.graph = {};
  graphs->labels.costs = {};
  if (!tables.empty()) graphs->by_index = with_indexed(training, tables);
  const auto graph_of = [graphs](const Cut& cut) -> const Graph& {
    return cut.by_index ? graphs->by_index : graphs->whole;
  };
  Cuts cuts;
  cuts.given = given;
  cuts.other_parts = other_parts;
  cuts.has_tables = !tables.empty();
  for (const Value& value : training.values) cuts.largest = std::max(cuts.largest, value.bytes);
  cuts.ops = [graph_of](const Cut& cut) {
    const Graph& graph = graph_of(cut);
    return cut.part ? ops_in_parts(graph, *cut.part) : static_cast<double>(graph.ops.size());
  };
  cuts.instance = [graphs, graph_of, persistent](const Cut& cut, Bytes ram_budget) {
    Instance made = graphs->labels;
    const Graph& graph = graph_of(cut);
    made.graph = cut.part ? in_parts(graph, *cut.part, ram_budget).training : graph;
    made.costs = tabulate(made.graph, graphs->device, persistent);
    return made;
  };
  return cuts;
}

}  // namespace poet
