#include "poet/cost/tabulate.h"

#include <algorithm>

#include "poet/base/error.h"
#include "poet/graph/float32_copies.h"
#include "poet/graph/operators/schema.h"
#include "poet/graph/parts.h"

namespace poet {
namespace {

using operators::Count;
using operators::WorkReader;

/// Storages without repetition; two views of one value are one tensor.
std::vector<ValueId> distinct_storages(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<ValueId> storages;
  storages.reserve(values.size());
  for (const ValueId v : values) storages.push_back(storage(graph, v));
  std::sort(storages.begin(), storages.end());
  storages.erase(std::unique(storages.begin(), storages.end()), storages.end());
  return storages;
}

/// Of what is stored as bfloat16 the copies that a kernel works on, if it does.
Count moved(const Graph& graph, OpId id, const WorkReader& work, const OperatorSchema& schema) {
  const Op& op = work.op();
  if (schema.passes == Passes::none) return 0;
  const bool on_copies = needs_float32_copies(graph, id);
  const auto bytes_of = [&](ValueId v) {
    return on_copies ? bytes_in_float32(graph.values[v]).value() : graph.values[v].bytes.value();
  };
  Count total = 0;
  for (const ValueId v : distinct_storages(graph, op.inputs)) {
    Count bytes = bytes_of(v);
    if (schema.passes == Passes::gathered && schema.table < op.inputs.size() &&
        v == storage(graph, op.inputs[schema.table])) {
      // Touches as many elements as it delivers.
      const DType stored = graph.values[v].dtype, type = on_copies ? computed_as(stored) : stored;
      bytes = std::min(bytes, work.times(work.elements(work.out(0)), size_of(type).value()));
    }
    total = work.plus(total, bytes);
  }
  std::vector<ValueId> written = op.outputs;
  written.insert(written.end(), op.updates.begin(), op.updates.end());
  for (const ValueId v : distinct_storages(graph, written)) total = work.plus(total, bytes_of(v));
  return total;
}

}  // namespace

Work work_of(const Graph& graph, OpId op) {
  const WorkReader work(graph, op);
  const OperatorSchema* schema = find_operator(work.op().kind);
  if (schema == nullptr) work.fail("this kind of operator has no cost rule");
  // Every kernel works in place on its outputs (direct convolution, no im2col), so none needs scratch memory
  // but for float32 copies of what is stored as bfloat16.
  Count flops = schema->flops(work);
  for (const std::int64_t i : work.accumulated())
    flops = work.plus(flops, work.elements(work.out(static_cast<std::size_t>(i))));
  return {Flops(flops), Bytes(moved(graph, op, work, *schema)), float32_copies(graph, op).bytes};
}

std::int64_t forward_macs(const Graph& graph) {
  Count total = 0;
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const WorkReader work(graph, id);
    const OperatorSchema* schema = find_operator(work.op().kind);
    if (schema != nullptr && work.op().pass == Pass::forward) total = work.plus(total, schema->macs(work));
  }
  return total;
}

std::int64_t parameter_count(const Graph& graph) {
  Count total = 0;
  for (const Value& value : graph.values) {
    if (value.persistence != Persistence::parameter || value.alias_of.valid()) continue;
    if (stands_for_home(value)) total += element_count(at_home(value).shape);
  }
  return total;
}

}  // namespace poet
