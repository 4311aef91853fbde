#include "poet/graph/in_place.h"

#include <algorithm>

#include "poet/graph/operators/schema.h"

namespace poet {
namespace {

bool same_layout(const Value& a, const Value& b) {
  return a.shape == b.shape && a.strides == b.strides && a.dtype == b.dtype;
}

}  // namespace

std::vector<std::size_t> overwritable_inputs(const Graph& graph, const Op& op) {
  const OperatorSchema* schema = find_operator(op.kind);
  std::vector<std::size_t> positions;
  if (schema == nullptr || op.outputs.empty()) return positions;
  const Value& output = graph.values[op.outputs.front()];
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < std::min(schema->in_place, op.inputs.size()); ++i) candidates.push_back(i);
  const auto accumulate = op.attributes.find("accumulate");
  if (accumulate != op.attributes.end()) {
    const auto& outputs = std::get<std::vector<std::int64_t>>(accumulate->second);
    if (outputs.front() == 0) candidates.push_back(op.inputs.size() - outputs.size());
  }
  for (const std::size_t i : candidates) {
    // Written over, a transposed view of the same storage would be read too late.
    const bool alone = std::all_of(op.inputs.begin(), op.inputs.end(), [&](ValueId other) {
      return storage(graph, other) != storage(graph, op.inputs[i]) ||
             same_layout(graph.values[other], output);
    });
    if (alone && same_layout(graph.values[op.inputs[i]], output)) positions.push_back(i);
  }
  return positions;
}

}  // namespace poet
