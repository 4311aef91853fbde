#include "poet/split/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/float32_copies.h"
#include "poet/split/blocks.h"
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
  for (const splitting::Block& block : splitting::storages(whole, p)) {
    const ValueId v = block.storage;
    if (is_cut(p, v)) ++report.tensors;
    const Bytes largest = splitting::largest_part(whole, p, block);
    if (largest > limit) report.unsplit.push_back({whole.values[v].name, largest, reason_for(p, v)});
  }
}

/// Operands and results; copies that an op needs larger than the limit.
void report_ops(const Graph& parts, const std::vector<char>& copies, Bytes limit, SplitReport& report) {
  for (const OpId id : ids<OpId>(parts.ops.size())) {
    const Op& op = parts.ops[id];
    std::set<ValueId> operands;
    for (const auto* list : {&op.inputs, &op.outputs})
      for (const ValueId v : *list) operands.insert(storage(parts, v));
    Bytes sum;
    for (const ValueId v : operands) {
      sum += parts.values[v].bytes;
      report.largest_value = std::max(report.largest_value, parts.values[v].bytes);
    }
    if (sum > report.working_set) {
      report.working_set = sum;
      report.largest_op = op.name;
    }
    if (!copies.empty() && copies[static_cast<std::size_t>(id.index)] != 0) {
      const Value& copy = parts.values[op.outputs.front()];
      const Bytes bytes = bytes_in_float32(copy);
      if (bytes > limit) report.unsplit.push_back({copy.name, bytes, op.name});
    }
  }
}

double ops_by(const Graph& whole, const Partition& p) {
  double total = 0;
  for (const OpId id : ids<OpId>(whole.ops.size())) {
    double parts = 1;
    for (const int c : p.of_label[id]) parts *= static_cast<double>(p.parts(c));
    total += parts;
  }
  return total;
}

}  // namespace

Graph split(const Graph& training, const SplitOptions& options, SplitReport* report) {
  if (options.part < size_of(DType::float32))
    throw InputError(Field{"split"}, fmt::format("parts must have at least the {} bytes of a number, not {}",
                                                 size_of(DType::float32).value(), options.part.value()));
  verify(training);
  const Partition partition = splitting::partition(training, options.part);
  constexpr double kMostOps = 1'000'000;
  if (const double ops = ops_by(training, partition); ops > kMostOps)
    throw InputError(Field{"split"}, fmt::format("parts of {} B make {:.1f} million ops, more than a million",
                                                 options.part.value(), ops / 1e6));
  bool cut = false;
  for (const ValueId v : ids<ValueId>(training.values.size())) cut = cut || is_cut(partition, v);
  constexpr std::int64_t kPartsInRam = 4;
  const Bytes ram = options.ram > Bytes(0) ? options.ram : kPartsInRam * options.part;
  Graph result = training;
  std::vector<char> copies;  // in the order of the result
  if (cut) {
    splitting::Emitted emitted = splitting::emit_parts(training, partition, ram);
    result = std::move(emitted.graph);
    std::vector<Op> ops(std::make_move_iterator(result.ops.begin()),
                        std::make_move_iterator(result.ops.end()));
    result.ops = {};
    for (const std::size_t i : splitting::order_of(result, ops, emitted.copies)) {
      copies.push_back(emitted.copies[i]);
      const OpId id = result.ops.push_back(std::move(ops[i]));
      for (const ValueId v : result.ops[id].outputs) result.values[v].producer = id;
    }
  }
  if (report != nullptr) {
    *report = {};
    report_tensors(training, partition, options.part, *report);
    report_ops(result, copies, options.part, *report);
    std::stable_sort(report->unsplit.begin(), report->unsplit.end(),
                     [](const Unsplit& a, const Unsplit& b) { return a.bytes > b.bytes; });
  }
  return verified(std::move(result));
}

double ops_in_parts(const Graph& training, Bytes part) {
  return ops_by(training, splitting::partition(training, part));
}

}  // namespace poet
