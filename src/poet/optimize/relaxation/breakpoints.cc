#include "poet/optimize/relaxation/breakpoints.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/incremental.h"
#include "poet/optimize/relaxation/implied_ram.h"
#include "poet/optimize/relaxation/window_pressure.h"

namespace poet {
namespace {

constexpr int kWaitReach = 4;  // stages before a stall in which its cause is searched
constexpr int kApart = 3;      // least distance in stages between breakpoints of linear relaxations

/// Returns, per stage, the RAM with every value kept that could be used later.
std::vector<std::int64_t> most_kept(const Problem& p) {
  std::vector<std::int64_t> change(at(p.ops) + 1, 0);
  for (int v = 0; v < p.values; ++v) {
    if (!p.active[at(v)] || p.horizon[at(v)] <= p.producer[at(v)]) continue;
    change[at(p.producer[at(v)]) + 1] += p.bytes[at(v)];
    change[at(p.horizon[at(v)])] -= p.bytes[at(v)];
  }
  std::vector<std::int64_t> bytes(at(p.ops));
  std::int64_t kept = 0;
  for (int t = 0; t < p.ops; ++t) {
    kept += change[at(t)];
    bytes[at(t)] = kept + working_set(p, t);
    if (!p.overwritable[at(t)].empty()) bytes[at(t)] += p.bytes[at(p.first_result[at(t)])];
  }
  for (const Resident& one : p.residents)
    for (std::int64_t& at_stage : bytes) at_stage += one.bytes;
  return bytes;
}

}  // namespace

std::vector<int> overflowing(const Problem& p, const std::vector<double>& ram,
                             const std::vector<int>& breakpoints, int at_most) {
  constexpr int kBeside = 2;  // stages
  std::vector<int> order;
  for (int t = 0; t < p.ops; ++t) {
    const bool is_new = std::find(breakpoints.begin(), breakpoints.end(), t) == breakpoints.end();
    if (is_new && ram[at(t)] > static_cast<double>(p.budget) * (1 + 1e-6)) order.push_back(t);
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return ram[at(a)] > ram[at(b)]; });
  std::vector<int> chosen;
  for (const int t : order) {
    if (static_cast<int>(chosen.size()) >= at_most) break;
    if (std::none_of(chosen.begin(), chosen.end(), [&](int s) { return std::abs(s - t) <= kBeside; }))
      chosen.push_back(t);
  }
  return chosen;
}

Breakpoints::Breakpoints(const Problem& problem, const Gaps& gaps)
    : p_(problem), gaps_(gaps), most_kept_(most_kept(problem)) {
  const Candidate keep_all = complete(p_, no_decisions(p_));
  const auto& peak = keep_all.stage_peak;
  stages_ = {static_cast<int>(std::max_element(peak.begin(), peak.end()) - peak.begin())};
}

bool Breakpoints::add_where_implied(const StageWindows& windows, const WindowModel& model,
                                    const std::vector<double>& x, int at_most) {
  return add_overflowing(ram_implied(p_, windows, model, x, gaps_), at_most);
}

bool Breakpoints::add_where_answer_fails(const StageWindows& windows, const WindowModel& model,
                                         const std::vector<double>& x) {
  if (add_where_implied(windows, model, x, 1)) return true;
  const WindowDecisions decided = window_decisions(model, x);
  if (p_.transfers_take_time()) {
    const std::vector<std::int64_t> peaks = complete(p_, taken_once(p_, windows, decided)).stage_peak;
    if (add_overflowing({peaks.begin(), peaks.end()}, 1)) return true;
  }
  if (add_overflowing(pressed(windows, decided), 1)) return true;
  const Candidate spread = complete(p_, gaps_.decisions(taken_for_each_use(p_, windows, decided, gaps_)));
  return add_overflowing({spread.stage_peak.begin(), spread.stage_peak.end()}, 1) ||
         add_where_recomputed_twice(windows, spread);
}

bool Breakpoints::add_where_pressed(const StageWindows& windows, const WindowDecisions& decided,
                                    int at_most) {
  std::vector<double> ram = pressed(windows, decided);
  keep_apart(ram);
  return add_overflowing(std::move(ram), at_most);
}

bool Breakpoints::add_where_costliest(const std::vector<double>& prices, int at_most) {
  const double most = *std::max_element(prices.begin(), prices.end());
  if (most <= 0) return false;
  std::vector<double> ram(prices.size());
  for (std::size_t t = 0; t < ram.size(); ++t)
    ram[t] = static_cast<double>(p_.budget) * (1 + prices[t] / most);
  keep_apart(ram);
  return add_overflowing(std::move(ram), at_most);
}

bool Breakpoints::add_where_compute_waits(const Decisions& schedule) {
  if (!p_.transfers_take_time()) return false;
  IncrementalReplay replay(p_);
  replay.load(schedule);
  const std::vector<double> waits = replay.waits();
  std::vector<int> order;
  for (int t = 1; t < p_.ops; ++t)
    if (waits[at(t)] > 0) order.push_back(t);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return waits[at(a)] > waits[at(b)]; });
  for (int t : order)
    for (int before = t - 1; before >= std::max(0, t - kWaitReach); --before)
      if (!contain(before)) {
        stages_.push_back(before);
        return true;
      }
  return false;
}

bool Breakpoints::contain(int stage) const {
  return std::find(stages_.begin(), stages_.end(), stage) != stages_.end();
}

bool Breakpoints::add_overflowing(std::vector<double> ram, int at_most) {
  for (int t = 0; t < p_.ops; ++t)
    if (most_kept_[at(t)] <= p_.budget) ram[at(t)] = 0;
  const std::vector<int> added = overflowing(p_, ram, stages_, at_most);
  stages_.insert(stages_.end(), added.begin(), added.end());
  return !added.empty();
}

// The relaxation recomputes an op once in a window in which a feasible schedule recomputes it more often or
// keeps the result. A breakpoint in between decides. Prefers most joules, at stages that are nearly full.
bool Breakpoints::add_where_recomputed_twice(const StageWindows& windows, const Candidate& spread) {
  std::vector<double> doubled(at(p_.ops), 0.0);
  std::vector<int> last(at(p_.ops), -1);
  for (int t = 0; t < p_.ops; ++t)
    for (int op : spread.decisions.recompute[at(t)]) {
      if (last[at(op)] >= 0 && windows.of(last[at(op)]) == windows.of(t))
        for (int s = last[at(op)]; s < t; ++s) doubled[at(s)] += p_.joules[at(op)];
      last[at(op)] = t;
    }
  int best = -1;
  double most = 0;
  for (int t = 0; t < p_.ops; ++t) {
    const double full = static_cast<double>(spread.stage_peak[at(t)]) / static_cast<double>(p_.budget);
    const double score = doubled[at(t)] * std::pow(full, 4);
    if (score > most && !contain(t)) {
      most = score;
      best = t;
    }
  }
  if (best >= 0) stages_.push_back(best);
  return best >= 0;
}

// Returns the RAM of stages that overflow however the decisions are shifted; 0 for other stages.
std::vector<double> Breakpoints::pressed(const StageWindows& windows, const WindowDecisions& decided) const {
  std::vector<double> ram = pressure(p_, windows, decided);
  for (double& bytes : ram)
    if (bytes > 0) bytes += static_cast<double>(p_.budget);
  return ram;
}

// Excludes stages near breakpoints: such breakpoints tighten a linear relaxation little and enlarge the tree.
void Breakpoints::keep_apart(std::vector<double>& ram) const {
  for (const int t : stages_)
    for (int s = std::max(0, t - kApart); s <= std::min(p_.ops - 1, t + kApart); ++s) ram[at(s)] = 0;
}

}  // namespace poet
