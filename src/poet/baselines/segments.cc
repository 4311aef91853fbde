#include "poet/baselines/segments.h"

#include <algorithm>

#include "poet/baselines/retention.h"
#include "poet/baselines/split_points.h"
#include "poet/plan/schedule/linearise.h"

namespace poet {
namespace {

constexpr std::int32_t kAlways = -1;  // of checkpoints and of what is not the forward pass's

struct Segments {
  IdVector<OpId, std::int32_t> of;               // forward op -> its segment, or kAlways
  IdVector<ValueId, std::int32_t> last_forward;  // last forward stage that reads the value
  std::vector<std::int32_t> current;             // per stage: the segment that it, or a later one, needs next
  std::vector<std::int32_t> entered;             // per segment: its values are kept after this stage
};

Segments find_segments(const Graph& graph, const Dataflow& flow, const std::vector<OpId>& checkpoints) {
  const std::int32_t forward = forward_ops(graph);
  Segments s;
  s.of = IdVector<OpId, std::int32_t>(graph.ops.size(), kAlways);
  std::size_t segment = 0;
  for (const OpId op : ids<OpId>(static_cast<std::size_t>(forward))) {
    const bool checkpoint = segment < checkpoints.size() && checkpoints[segment] == op;
    if (checkpoint) ++segment;
    if (!checkpoint) s.of[op] = static_cast<std::int32_t>(segment);
  }
  s.last_forward = IdVector<ValueId, std::int32_t>(graph.values.size(), -1);
  for (const ValueId v : flow.transients)
    for (const OpId user : flow.users[v])
      if (user.index < forward) s.last_forward[v] = user.index;

  // Backward from the end: what a later op still needs comes after what an earlier one needs.
  s.current.assign(graph.ops.size(), kAlways);
  s.entered.assign(segment + 1, static_cast<std::int32_t>(graph.ops.size()));
  std::int32_t latest = kAlways;
  for (std::int32_t t = static_cast<std::int32_t>(graph.ops.size()) - 1; t >= 0; --t) {
    std::int32_t read = kAlways;
    if (t >= forward)
      for (const ValueId v : flow.reads[OpId(t)]) read = std::max(read, s.of[flow.producer[v]]);
    latest = std::max(latest, read);
    s.current[static_cast<std::size_t>(t)] = latest;
    if (read == latest && read != kAlways) s.entered[static_cast<std::size_t>(read)] = t;
  }
  // The last segment comes next anyway when the forward pass ends, or, if that is empty, the one before.
  if (latest != kAlways && latest + 1 >= static_cast<std::int32_t>(segment))
    s.entered[static_cast<std::size_t>(latest)] = kAlways;
  return s;
}

}  // namespace

Plan plan_of_checkpoints(const MethodRequest& request, const Dataflow& flow,
                         const std::vector<OpId>& checkpoints) {
  const Graph& graph = request.instance.graph;
  const Segments segments = find_segments(graph, flow, checkpoints);
  const auto keep = [&](OpId stage, ValueId v) {
    const std::int32_t segment = segments.of[flow.producer[v]];
    if (segment == kAlways || stage.index <= segments.last_forward[v]) return true;
    // Computed anew in the stage in which the backward pass enters the segment, kept from the next one on.
    return segments.entered[static_cast<std::size_t>(segment)] < stage.index &&
           segments.current[static_cast<std::size_t>(stage.index)] == segment;
  };
  return linearise(request.instance, schedule_of_retention(request.instance, flow, keep), request.semantics);
}

}  // namespace poet
