#include "poet/split/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "poet/base/error.h"
#include "poet/split/emit.h"
#include "poet/split/order.h"
#include "poet/split/partition.h"

namespace poet {
namespace {

using splitting::Partition;

bool is_cut(const Partition& p, ValueId v) {
  return std::any_of(p.of_axis[v].begin(), p.of_axis[v].end(), [&](int c) { return p.parts(c) > 1; });
}

/// Why no axis of it is cut (further).
std::string reason_for(const Partition& p, ValueId v) {
  for (const int c : p.of_axis[v]) {
    if (c == splitting::kNoClass) continue;
    const splitting::AxisClass& axes = p.classes[static_cast<std::size_t>(c)];
    if (axes.parts < axes.units && !axes.reason.empty()) return axes.reason;
  }
  return "its axes are cut into single elements";
}

void report_tensors(const Graph& whole, const Partition& p, Bytes limit, SplitReport& report) {
  for (const ValueId v : ids<ValueId>(whole.values.size())) {
    if (whole.values[v].alias_of.valid()) continue;
    const Bytes largest = splitting::largest_part(whole, p, v);
    report.largest_value = std::max(report.largest_value, largest);
    if (is_cut(p, v)) ++report.tensors;
    if (largest > limit) report.unsplit.push_back({whole.values[v].name, largest, reason_for(p, v)});
  }
  std::stable_sort(report.unsplit.begin(), report.unsplit.end(),
                   [](const Unsplit& a, const Unsplit& b) { return a.bytes > b.bytes; });
}

void report_ops(const Graph& parts, SplitReport& report) {
  for (const Op& op : parts.ops) {
    std::set<ValueId> operands;
    for (const auto* list : {&op.inputs, &op.outputs})
      for (const ValueId v : *list) operands.insert(storage(parts, v));
    Bytes sum;
    for (const ValueId v : operands) sum += parts.values[v].bytes;
    if (sum <= report.working_set) continue;
    report.working_set = sum;
    report.largest_op = op.name;
  }
}

}  // namespace

Graph split(const Graph& training, const SplitOptions& options, SplitReport* report) {
  if (options.part <= Bytes(0))
    throw InputError(Field{"split"},
                     fmt::format("parts must have more than 0 bytes, not {}", options.part.value()));
  verify(training);
  const Partition partition = splitting::partition(training, options.part);
  bool cut = false;
  for (const ValueId v : ids<ValueId>(training.values.size())) cut = cut || is_cut(partition, v);
  Graph result = training;
  if (cut) {
    result = splitting::emit_parts(training, partition);
    std::vector<Op> ops(std::make_move_iterator(result.ops.begin()),
                        std::make_move_iterator(result.ops.end()));
    result.ops = {};
    for (Op& op : splitting::ordered(result, std::move(ops))) {
      const OpId id = result.ops.push_back(std::move(op));
      for (const ValueId v : result.ops[id].outputs) result.values[v].producer = id;
    }
  }
  if (report != nullptr) {
    *report = {};
    report_tensors(training, partition, options.part, *report);
    report_ops(result, *report);
  }
  return verified(std::move(result));
}

}  // namespace poet
