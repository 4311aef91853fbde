#include "poet/optimize/relaxation/implied_ram.h"

#include <algorithm>

#include "poet/base/numbers.h"

namespace poet {
namespace {

// Returns whether the op at which the gap begins may overwrite the value with its result.
bool is_overwritable(const Problem& p, const Gap& gap) {
  const std::vector<int>& operands = p.overwritable[at(gap.from)];
  return std::find(operands.begin(), operands.end(), gap.value) != operands.end();
}

}  // namespace

std::vector<double> ram_implied(const Problem& p, const StageWindows& windows, const WindowModel& model,
                                const std::vector<double>& x, const Gaps& gaps) {
  const auto value_of = [&](int column) { return column >= 0 ? x[at(column)] : 0.0; };
  std::vector<double> change(at(p.ops) + 1, 0.0);
  std::vector<double> given(at(p.ops), 1.0);  // degree to which no overwritable operand is freed
  for (const Gap& gap : gaps.all()) {
    if (gap.to >= p.ops) {
      if (is_overwritable(p, gap)) given[at(gap.from)] = 0;
      continue;
    }
    double kept = 1;
    for (int k = windows.of(gap.from); k <= windows.of(gap.to); ++k)
      kept -= value_of(model.recompute[at(k)][at(p.producer[at(gap.value)])]) +
              value_of(model.page_in[at(k)][at(gap.value)]);
    if (is_overwritable(p, gap)) given[at(gap.from)] -= 1 - std::clamp(kept, 0.0, 1.0);
    if (kept <= 0) continue;
    change[at(gap.from) + 1] += kept * static_cast<double>(p.bytes[at(gap.value)]);
    change[at(gap.to)] -= kept * static_cast<double>(p.bytes[at(gap.value)]);
  }
  for (std::size_t i = 0; i < p.residents.size(); ++i) {
    const auto& [v, joules, bytes] = p.residents[i];
    const double idle = value_of(model.resident[i]) * static_cast<double>(bytes);
    change[0] += idle;
    change[at(p.producer[at(v)])] -= idle;
    change[at(p.horizon[at(v)]) + 1] += idle;
  }
  std::vector<double> ram(at(p.ops));
  double sum = 0;
  for (int t = 0; t < p.ops; ++t) {
    sum += change[at(t)];
    ram[at(t)] = sum + static_cast<double>(working_set(p, t));
    if (!p.overwritable[at(t)].empty())
      ram[at(t)] += std::max(given[at(t)], 0.0) * static_cast<double>(p.bytes[at(p.first_result[at(t)])]);
  }
  return ram;
}

}  // namespace poet
