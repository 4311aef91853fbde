#include "poet/baselines/capuchin.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/amounts.h"
#include "poet/baselines/guided_run.h"

namespace poet {
namespace {

constexpr double kEarlier = 0.05;  // of a page-in's time, per round
constexpr int kRounds = 40;

std::string summary(const std::vector<Eviction>& policy) {
  const auto swaps =
      std::count_if(policy.begin(), policy.end(), [](const Eviction& eviction) { return eviction.swap; });
  const auto all = static_cast<std::int64_t>(policy.size());
  return fmt::format("chose to swap {} and to recompute {}", counted(swaps, "value"), all - swaps);
}

}  // namespace

MethodAnswer capuchin(const MethodRequest& request) {
  if (request.semantics == Semantics::staged)
    return not_defined("transfers last whole stages under staged rules");
  if (!request.instance.costs.has_storage) return not_defined("there is no storage to swap to");
  const Dataflow flow = dataflow(request.instance.graph);
  const AccessLog log = access_log(request, flow);
  MethodAnswer answer;
  GuidedRun measured = guided_run(request, flow, log, {});
  if (!measured.reason.empty()) {
    answer.reason = std::move(measured.reason);
    return answer;
  }

  const CostTable& costs = request.instance.costs;
  std::vector<Eviction> policy = capuchin_policy(request, flow, log, request.options.interrupted).evictions;
  answer.note = summary(policy);
  for (int round = 0; round < kRounds; ++round) {
    const GuidedRun guided = guided_run(request, flow, log, policy);
    if (!guided.reason.empty()) {
      answer.reason = guided.reason;
      break;
    }
    if (answer.plans.empty() || answer.plans.back().steps != guided.plan.steps)
      answer.plans.push_back(guided.plan);
    if (guided.late.empty()) break;
    for (Eviction& eviction : policy) {
      if (std::find(guided.late.begin(), guided.late.end(), eviction.value) == guided.late.end()) continue;
      eviction.fetch_start -= kEarlier * costs.values[eviction.value].page_in.seconds.value();
    }
  }
  if (!answer.plans.empty()) return answer;
  answer.note += fmt::format(", which fails ({}): its measured step", answer.reason);
  answer.plans.push_back(std::move(measured.plan));
  return answer;
}

}  // namespace poet
