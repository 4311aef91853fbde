#include "poet/baselines/dtr_heuristic.h"

#include <algorithm>
#include <limits>

namespace poet {

DtrValues::DtrValues(const Instance& instance, const Dataflow& dataflow)
    : flow(dataflow),
      cost(instance.graph.values.size(), 0.0),
      bytes(instance.graph.values.size(), 0.0),
      accessed(instance.graph.values.size(), 0.0),
      computed(instance.graph.values.size(), 0),
      resident(instance.graph.values.size(), 0),
      lost(instance.graph.values.size(), 0) {
  for (const ValueId v : flow.transients) {
    cost[v] = instance.costs.ops[flow.producer[v]].runtime.value();
    bytes[v] = static_cast<double>(instance.costs.values[v].bytes.value());
  }
}

DtrScore::DtrScore(DtrHeuristic heuristic, const DtrValues& values)
    : heuristic_(heuristic), values_(values), components_(values.cost.size()), seen_(values.cost.size(), 0) {}

double DtrScore::score(ValueId v, double clock) {
  double cost = values_.cost[v];
  if (heuristic_ == DtrHeuristic::full) cost += reachable(v, true) + reachable(v, false);
  if (heuristic_ == DtrHeuristic::components) cost += adjacent_components(v);
  const double weight = values_.bytes[v] * (clock - values_.accessed[v]);
  return weight > 0 ? cost / weight : std::numeric_limits<double>::infinity();
}

void DtrScore::was_evicted(ValueId v) {
  if (heuristic_ != DtrHeuristic::components) return;
  components_.add(v, values_.cost[v]);
  std::vector<ValueId> neighbours;
  evicted_neighbours(v, true, neighbours);
  evicted_neighbours(v, false, neighbours);
  for (const ValueId u : neighbours) components_.join(u, v);
}

void DtrScore::is_no_longer_evicted(ValueId v) {
  if (heuristic_ == DtrHeuristic::components) components_.remove(v, values_.cost[v]);
}

// e* in one direction: what is evicted and reached from v through evicted values only.
double DtrScore::reachable(ValueId v, bool ancestors) {
  ++walk_;
  double cost = 0;
  open_.assign({v});
  std::vector<ValueId> next;
  while (!open_.empty()) {
    next.clear();
    evicted_neighbours(open_.back(), ancestors, next);
    open_.pop_back();
    for (const ValueId u : next) {
      if (seen_[u] == walk_) continue;
      seen_[u] = walk_;
      cost += values_.cost[u];
      open_.push_back(u);
    }
  }
  return cost;
}

double DtrScore::adjacent_components(ValueId v) {
  std::vector<ValueId> neighbours;
  evicted_neighbours(v, true, neighbours);
  evicted_neighbours(v, false, neighbours);
  std::vector<int> components;
  for (const ValueId u : neighbours) components.push_back(components_.component(u));
  std::sort(components.begin(), components.end());
  components.erase(std::unique(components.begin(), components.end()), components.end());
  double cost = 0;
  for (const int component : components) cost += components_.cost(component);
  return cost;
}

void DtrScore::evicted_neighbours(ValueId v, bool parents, std::vector<ValueId>& found) const {
  const Dataflow& flow = values_.flow;
  if (parents) {
    for (const ValueId u : flow.reads[flow.producer[v]])
      if (values_.evicted(u)) found.push_back(u);
    return;
  }
  for (const OpId reader : flow.users[v])
    for (const ValueId u : flow.writes[reader])
      if (values_.evicted(u)) found.push_back(u);
}

}  // namespace poet
