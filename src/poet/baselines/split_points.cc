#include "poet/baselines/split_points.h"

#include <algorithm>

namespace poet {
namespace {

/// Last forward op that reads a result of `op`; -1 if none does.
std::int32_t last_forward_use(const Dataflow& flow, OpId op, std::int32_t forward) {
  std::int32_t last = -1;
  for (const ValueId v : flow.writes[op])
    for (const OpId user : flow.users[v])
      if (user.index < forward) last = std::max(last, user.index);
  return last;
}

}  // namespace

std::int32_t forward_ops(const Graph& graph) {
  std::int32_t count = 0;
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    if (graph.ops[op].pass == Pass::backward) break;
    ++count;
  }
  return count;
}

std::vector<OpId> recomputable_forward_ops(const Graph& graph, const Dataflow& flow) {
  std::vector<OpId> candidates;
  for (const OpId op : ids<OpId>(static_cast<std::size_t>(forward_ops(graph)))) {
    const bool read = std::any_of(flow.writes[op].begin(), flow.writes[op].end(),
                                  [&](ValueId v) { return !flow.users[v].empty(); });
    if (graph.ops[op].recomputable && read) candidates.push_back(op);
  }
  return candidates;
}

std::vector<OpId> articulation_points(const Graph& graph, const Dataflow& flow) {
  const std::int32_t forward = forward_ops(graph);
  std::vector<OpId> points;
  std::int32_t reach = -1;  // the last forward op that reads a result from before the op at hand
  for (const OpId op : recomputable_forward_ops(graph, flow)) {
    if (reach <= op.index && last_forward_use(flow, op, forward) > op.index) points.push_back(op);
    reach = std::max(reach, last_forward_use(flow, op, forward));
  }
  return points;
}

}  // namespace poet
