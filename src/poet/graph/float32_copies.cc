#include "poet/graph/float32_copies.h"

#include <algorithm>
#include <map>
#include <utility>

#include "poet/graph/in_place.h"
#include "poet/graph/operators/schema.h"

namespace poet {
namespace {

bool is_bfloat16(const Graph& graph, ValueId v) { return graph.values[v].dtype == DType::bfloat16; }

}  // namespace

Bytes bytes_in_float32(const Value& value) { return byte_count(value.shape, computed_as(value.dtype)); }

bool needs_float32_copies(const Graph& graph, OpId id) {
  const Op& op = graph.ops[id];
  const auto stored = [&](ValueId v) { return is_bfloat16(graph, v); };
  bool any = false, all = true;
  for (const auto* list : {&op.inputs, &op.outputs}) {
    any = any || std::any_of(list->begin(), list->end(), stored);
    all = all && std::all_of(list->begin(), list->end(), stored);
  }
  if (!any || !all) return any;
  const OperatorSchema* schema = find_operator(op.kind);
  return schema == nullptr || !schema->moves_elements;
}

Float32Op in_float32(const Graph& graph, OpId id) {
  Float32Op wide;
  std::map<ValueId, ValueId> known;
  const auto taken = [&](ValueId v, const auto& self) -> ValueId {
    if (const auto found = known.find(v); found != known.end()) return found->second;
    Value value = graph.values[v];
    value.producer = OpId();
    if (value.alias_of.valid()) value.alias_of = self(value.alias_of, self);
    if (value.dtype == DType::bfloat16) {
      value.dtype = DType::float32;
      value.bytes = byte_count(value.shape, DType::float32);
    }
    return known[v] = wide.graph.values.push_back(std::move(value));
  };
  Op op = graph.ops[id];
  for (std::vector<ValueId>* list : {&op.inputs, &op.outputs, &op.updates})
    for (ValueId& v : *list) v = taken(v, taken);
  wide.graph.name = graph.name;
  wide.op = wide.graph.ops.push_back(std::move(op));
  for (const ValueId v : wide.graph.ops[wide.op].outputs) wide.graph.values[v].producer = wide.op;
  return wide;
}

Float32Copies float32_copies(const Graph& graph, OpId id, Bytes alignment) {
  Float32Copies copies;
  if (!needs_float32_copies(graph, id)) return copies;
  const Op& op = graph.ops[id];
  const auto room_for = [&](ValueId v, std::size_t operand) {
    const std::int64_t count = element_count(graph.values[storage(graph, v)].shape);
    const Float32Copies::Copy copy{operand, copies.bytes.value(), count};
    copies.bytes += rounded_up(byte_count({count}, DType::float32), alignment);
    return copy;
  };
  std::map<ValueId, std::int64_t> places;  // views of one storage share a copy
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (!is_bfloat16(graph, op.inputs[i])) continue;
    const auto [place, is_new] = places.emplace(storage(graph, op.inputs[i]), copies.bytes.value());
    if (is_new) copies.read.push_back(room_for(op.inputs[i], i));
    copies.replaced.push_back({i, place->second});
  }
  const Float32Op wide = in_float32(graph, id);
  const std::vector<std::size_t> overwritable = overwritable_inputs(wide.graph, wide.graph.ops[wide.op]);
  const auto over = std::ranges::find_if(copies.replaced, [&](const Float32Copies::Copy& place) {
    return std::ranges::count(overwritable, place.operand) > 0;
  });
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (!is_bfloat16(graph, op.outputs[i])) continue;
    if (i > 0 || over == copies.replaced.end())  // only the first output may lie over an operand
      copies.written.push_back(room_for(op.outputs[i], i));
    else
      copies.written.push_back({i, over->offset, element_count(graph.values[op.outputs[i]].shape)});
  }
  return copies;
}

}  // namespace poet
