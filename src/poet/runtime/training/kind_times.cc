#include "poet/runtime/training/kind_times.h"

#include <algorithm>
#include <map>

namespace poet::runtime {

std::vector<KindTime> times_by_kind(const PlanFile& file, const Measured& measured) {
  const Instance& instance = file.instance;
  std::map<std::string, KindTime> by_kind;
  const std::vector<Step>& steps = file.plan.steps;
  IdVector<OpId, char> seen(instance.graph.ops.size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind != StepKind::compute) continue;
    KindTime& time = by_kind[instance.graph.ops[steps[i].op].kind];
    ++time.runs;
    if (seen[steps[i].op] != 0) ++time.again;
    seen[steps[i].op] = 1;
    time.planned += instance.costs.ops[steps[i].op].runtime.value();
    if (i < measured.seconds.size()) time.measured += measured.seconds[i];
  }
  std::vector<KindTime> times;
  for (auto& [kind, time] : by_kind) {
    time.kind = kind;
    times.push_back(time);
  }
  std::stable_sort(times.begin(), times.end(),
                   [](const KindTime& a, const KindTime& b) { return a.measured > b.measured; });
  return times;
}

}  // namespace poet::runtime
