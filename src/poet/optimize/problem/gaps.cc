#include "poet/optimize/problem/gaps.h"

#include <algorithm>

namespace poet {

Gaps::Gaps(const Problem& problem) : p_(problem), of_(static_cast<std::size_t>(problem.values)) {
  for (int v = 0; v < p_.values; ++v) {
    const auto i = static_cast<std::size_t>(v);
    if (!p_.active[i]) continue;
    int from = p_.producer[i];
    const auto add = [&](int to) {
      of_[i].push_back(gaps_.size());
      gaps_.push_back({v, from, to});
      from = to;
    };
    for (int user : p_.users[i]) add(user);
    add(p_.ops);
  }
}

bool Gaps::can_recompute(int value, int stage) const {
  const int op = p_.producer[static_cast<std::size_t>(value)];
  return stage > op && stage <= p_.recompute_until[static_cast<std::size_t>(op)];
}

bool Gaps::possible(const Gap& gap, GapMode mode) const {
  if (mode == GapMode::keep) return true;
  if (gap.to >= p_.ops || gap.to < gap.from + 2) return false;
  if (mode == GapMode::recompute) return can_recompute(gap.value, gap.to);
  return p_.paging && gap.to - 1 >= p_.producer[static_cast<std::size_t>(gap.value)] + 2;
}

std::vector<GapMode> Gaps::keep_all() const {
  std::vector<GapMode> modes(gaps_.size(), GapMode::keep);
  for (std::size_t g = 0; g < gaps_.size(); ++g)
    if (gaps_[g].to >= p_.ops)
      modes[g] = GapMode::recompute;  // no more uses: restored as an operand, or kept if impossible
  return modes;
}

GapMode Gaps::mode_at(const std::vector<GapMode>& modes, int value, int stage) const {
  for (std::size_t g : of(value))
    if (gaps_[g].from < stage && stage <= gaps_[g].to) return modes[g];
  return GapMode::keep;
}

void Gaps::restore(const std::vector<GapMode>& modes, Decisions& d, int value, int stage,
                   GapMode mode) const {
  if (mode == GapMode::keep) return;
  if (mode == GapMode::page) {
    d.page_in[static_cast<std::size_t>(stage - 1)].push_back(value);
    return;
  }
  const int op = p_.producer[static_cast<std::size_t>(value)];
  auto& set = d.recompute[static_cast<std::size_t>(stage)];
  if (std::find(set.begin(), set.end(), op) != set.end()) return;
  set.push_back(op);
  for (int u : p_.reads[static_cast<std::size_t>(op)]) {
    GapMode how = mode_at(modes, u, stage);
    if (how == GapMode::page && stage - 1 < p_.producer[static_cast<std::size_t>(u)] + 2) how = GapMode::keep;
    if (how == GapMode::recompute && !can_recompute(u, stage)) how = GapMode::keep;
    restore(modes, d, u, stage, how);
  }
}

Decisions Gaps::decisions(const std::vector<GapMode>& modes) const {
  Decisions d = no_decisions(p_);
  for (std::size_t g = 0; g < gaps_.size(); ++g)
    if (gaps_[g].to < p_.ops) restore(modes, d, gaps_[g].value, gaps_[g].to, modes[g]);
  for (auto* sets : {&d.recompute, &d.page_in})
    for (auto& set : *sets) {
      std::sort(set.begin(), set.end());
      set.erase(std::unique(set.begin(), set.end()), set.end());
    }
  return d;
}

}  // namespace poet
