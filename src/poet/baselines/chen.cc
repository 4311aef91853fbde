#include "poet/baselines/chen.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "poet/baselines/segments.h"
#include "poet/baselines/split_points.h"

namespace poet {
namespace {

constexpr int kSearchPoints = 6;  // appendix A
constexpr int kSweepPoints = 20;

/// The forward pass's bytes that op adds; a multiple of what its checkpoint keeps for later.
double result_bytes(const Instance& instance, OpId op) {
  double bytes = 0;
  for (const ValueId v : instance.graph.ops[op].outputs)
    bytes += static_cast<double>(instance.costs.values[v].bytes.value());
  return bytes;
}

class Plans {
 public:
  explicit Plans(const MethodRequest& request) : request_(request), flow_(dataflow(request.instance.graph)) {}

  [[nodiscard]] const Dataflow& flow() const { return flow_; }

  void add(const std::vector<OpId>& checkpoints) {
    if (tried_.insert(checkpoints).second)
      answer.plans.push_back(plan_of_checkpoints(request_, flow_, checkpoints));
  }

  MethodAnswer answer;

 private:
  const MethodRequest& request_;
  const Dataflow flow_;
  std::set<std::vector<OpId>> tried_;
};

std::vector<std::vector<OpId>> candidate_sets(const MethodRequest& request, const Dataflow& flow) {
  const Graph& graph = request.instance.graph;
  return {articulation_points(graph, flow), recomputable_forward_ops(graph, flow)};
}

}  // namespace

std::vector<OpId> sqrt_split(const std::vector<OpId>& candidates) {
  const auto every =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(static_cast<double>(candidates.size()))));
  std::vector<OpId> checkpoints;
  for (std::size_t i = every - 1; i < candidates.size(); i += every) checkpoints.push_back(candidates[i]);
  return checkpoints;
}

GreedySplit greedy_split(const Instance& instance, const std::vector<OpId>& candidates,
                         double most_segment_bytes) {
  GreedySplit split;
  double temp = 0;
  auto next = candidates.begin();
  for (const OpId op : ids<OpId>(static_cast<std::size_t>(forward_ops(instance.graph)))) {
    const double bytes = result_bytes(instance, op);
    temp += bytes;
    while (next != candidates.end() && *next < op) ++next;
    if (next == candidates.end() || *next != op || temp <= most_segment_bytes) continue;
    split.checkpoints.push_back(op);
    split.kept += bytes;
    split.segment = std::max(split.segment, temp);
    temp = 0;
  }
  split.segment = std::max(split.segment, temp);
  return split;
}

MethodAnswer chen_sqrt(const MethodRequest& request) {
  Plans plans(request);
  for (const auto& candidates : candidate_sets(request, plans.flow())) plans.add(sqrt_split(candidates));
  return plans.answer;
}

MethodAnswer chen_greedy(const MethodRequest& request) {
  Plans plans(request);
  double everything = 0;
  for (const OpId op : ids<OpId>(static_cast<std::size_t>(forward_ops(request.instance.graph))))
    everything += result_bytes(request.instance, op);
  for (const auto& candidates : candidate_sets(request, plans.flow())) {
    const GreedySplit finest = greedy_split(request.instance, candidates, 0);
    plans.add(finest.checkpoints);
    const double middle = std::sqrt(finest.kept * finest.segment);
    for (int i = 0; i < kSearchPoints; ++i) {  // from middle / sqrt(2) to middle * sqrt(2)
      const double from_end = static_cast<double>(i) / (kSearchPoints - 1);
      const double b = middle / std::sqrt(2.0) * (1 + from_end);
      plans.add(greedy_split(request.instance, candidates, b).checkpoints);
    }
    for (int i = 1; i <= kSweepPoints; ++i)
      plans.add(greedy_split(request.instance, candidates, everything * i / kSweepPoints).checkpoints);
  }
  return plans.answer;
}

}  // namespace poet
