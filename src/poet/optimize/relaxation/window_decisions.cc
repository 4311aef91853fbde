#include "poet/optimize/relaxation/window_decisions.h"

#include <algorithm>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {

WindowDecisions window_decisions(const WindowModel& model, const std::vector<double>& x) {
  const auto taken = [&](const std::vector<std::vector<int>>& columns) {
    std::vector<std::vector<int>> sets(columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k)
      for (std::size_t id = 0; id < columns[k].size(); ++id)
        if (columns[k][id] >= 0 && x[at(columns[k][id])] > 0.5) sets[k].push_back(static_cast<int>(id));
    return sets;
  };
  return {taken(model.recompute), taken(model.page_in)};
}

Decisions taken_once(const Problem& p, const StageWindows& windows, const WindowDecisions& decided) {
  Decisions d = no_decisions(p);
  for (int k = 1; k < windows.count(); ++k) {
    const int last = windows.last_stage(k);
    std::vector<int> needed(at(p.values), last);  // the first stage of the window that needs the value
    for (int t = last; t >= windows.first_stage(k); --t)
      for (int v : p.reads[at(t)]) needed[at(v)] = t;
    const auto& ops = decided.recompute[at(k)];
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      int stage = last;
      for (int v : p.writes[at(*op)]) stage = std::min(stage, needed[at(v)]);
      if (stage > p.recompute_until[at(*op)]) continue;
      d.recompute[at(stage)].push_back(*op);
      for (int u : p.reads[at(*op)]) needed[at(u)] = std::min(needed[at(u)], stage);
    }
    for (int v : decided.page_in[at(k)])
      if (const int stage = needed[at(v)] - 1; stage >= p.producer[at(v)] + 2)
        d.page_in[at(stage)].push_back(v);
  }
  for (auto* sets : {&d.recompute, &d.page_in})
    for (auto& set : *sets) std::sort(set.begin(), set.end());
  return d;
}

std::vector<GapMode> taken_for_each_use(const Problem& p, const StageWindows& windows,
                                        const WindowDecisions& decided, const Gaps& gaps) {
  std::vector<GapMode> modes = gaps.keep_all();
  for (std::size_t g = 0; g < modes.size(); ++g) {
    const Gap& gap = gaps.all()[g];
    if (gap.to >= p.ops) continue;
    for (int k = windows.of(gap.from); k <= windows.of(gap.to); ++k) {
      if (contains(decided.page_in[at(k)], gap.value) && gaps.possible(gap, GapMode::page))
        modes[g] = GapMode::page;
      if (contains(decided.recompute[at(k)], p.producer[at(gap.value)]) &&
          gaps.possible(gap, GapMode::recompute))
        modes[g] = GapMode::recompute;
    }
  }
  return modes;
}

}  // namespace poet
