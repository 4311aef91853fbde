#include "poet/report/residences.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "poet/base/amounts.h"
#include "poet/graph/dataflow.h"
#include "poet/graph/parts.h"

namespace poet {
namespace {

struct Transfers {
  int page_ins = 0;
  Joules spent{};
};

IdVector<ValueId, Transfers> transfers_of(const Instance& instance, const Plan& plan) {
  IdVector<ValueId, Transfers> all(instance.graph.values.size());
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::page_in && step.kind != StepKind::page_out) continue;
    const ValueCost& cost = instance.costs.values[step.value];
    all[step.value].page_ins += step.kind == StepKind::page_in ? 1 : 0;
    all[step.value].spent += step.kind == StepKind::page_in ? cost.page_in.energy : cost.page_out.energy;
  }
  return all;
}

double per_byte(Joules energy, Bytes bytes) {
  return energy.value() / std::max(1.0, static_cast<double>(bytes.value()));
}

/// What the reasons compare with.
struct Means {
  bool any_paged = false, any_resident = false;
  double of_paged = 0;  // joules per byte
  double least_of_resident = std::numeric_limits<double>::infinity();
};

Means means_of(const Instance& instance, const std::vector<PersistentResidence>& all) {
  Means means;
  Joules spent{};
  Bytes bytes{};
  for (const PersistentResidence& one : all) {
    (one.paged ? means.any_paged : means.any_resident) = true;
    if (one.paged) {
      spent += one.spent;
      bytes += instance.graph.values[one.value].bytes;
    } else {
      means.least_of_resident = std::min(means.least_of_resident, one.joules_per_byte);
    }
  }
  if (bytes > Bytes(0)) means.of_paged = per_byte(spent, bytes);
  return means;
}

std::string why(const PersistentResidence& one, const Means& means) {
  if (!one.paged && !means.any_paged) return "all of them have room";
  if (!one.paged) {
    const double times = means.of_paged > 0 ? one.joules_per_byte / means.of_paged : 0;
    if (times > 1.05)
      return fmt::format("per byte its transfers would cost {}x as much as those of what lives on storage",
                         format_number(times, 2));
    return "it has room beside what the ops need";
  }
  if (!means.any_resident) return "in RAM it would take room from what the ops need";
  if (one.joules_per_byte < means.least_of_resident)
    return "costs less per byte than what stays in RAM would";
  return "no room beside what stays in RAM and what the ops need";
}

}  // namespace

std::vector<PersistentResidence> residences(const Instance& instance, const Plan& plan) {
  const Graph& graph = instance.graph;
  const IdVector<ValueId, Transfers> transfers = transfers_of(instance, plan);
  const std::vector<ValueId> values = pageable(instance);
  IdVector<ValueId, char> updated(graph.values.size(), 0);
  for (const std::vector<ValueId>& changes : dataflow(with_paged(instance, values).graph).changes)
    for (const ValueId v : changes) updated[v] = 1;

  std::vector<PersistentResidence> all;
  for (const ValueId v : values) {
    const ValueCost& cost = instance.costs.values[v];
    const Joules home = updated[v] ? cost.page_out.energy : Joules(0);
    PersistentResidence one;
    one.value = v;
    one.paged = graph.values[v].paged;
    one.updated = updated[v] != 0;
    one.page_ins = transfers[v].page_ins;
    if (one.paged) one.spent = transfers[v].spent;
    one.joules_per_byte = per_byte(one.paged ? one.spent : cost.page_in.energy + home, graph.values[v].bytes);
    all.push_back(one);
  }
  const Means means = means_of(instance, all);
  for (PersistentResidence& one : all) one.reason = why(one, means);
  for (const IndexedTable& table : indexed_tables(graph))
    for (const ValueId v : table.values)
      all.push_back({.value = v,
                     .paged = true,
                     .updated = table.updated,
                     .page_ins = transfers[v].page_ins,
                     .spent = transfers[v].spent,
                     .joules_per_byte = per_byte(transfers[v].spent, graph.values[v].bytes),
                     .reason = "rows of a table that is transferred by index"});
  return all;
}

}  // namespace poet
