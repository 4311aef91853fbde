#include "apps/cli/reproduce/ram_pairs.h"

#include <algorithm>
#include <cstdlib>

#include "apps/cli/reproduce/curves.h"

namespace poet::cli {
namespace {

void add(const std::vector<SweepResult>& results, std::vector<const SweepResult*> RamPair::*list,
         std::vector<RamPair>& pairs) {
  for (const SweepResult& result : results) {
    if (!result.ram_budget_bytes || !result.baseline_joules) continue;  // failed
    const std::string title = panel_title(result);
    auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const RamPair& p) { return p.title == title; });
    if (pair == pairs.end())
      pair = pairs.insert(pairs.end(), RamPair{result.network, result.platform, title, {}, {}, 0, 0});
    ((*pair).*list).push_back(&result);
    pair->keep_all = ram_of(result) / (std::strtod(result.ram.c_str(), nullptr) / 100);
    if (pair->joules == 0 || !result.part_bytes) pair->joules = *result.baseline_joules;
  }
}

}  // namespace

double ram_of(const SweepResult& result) { return static_cast<double>(result.ram_budget_bytes.value_or(0)); }

std::vector<RamPair> ram_pairs(const std::vector<SweepResult>& resident,
                               const std::vector<SweepResult>& paged) {
  std::vector<RamPair> pairs;
  add(resident, &RamPair::resident, pairs);
  add(paged, &RamPair::paged, pairs);
  for (RamPair& pair : pairs)
    for (auto* list : {&pair.resident, &pair.paged})
      std::stable_sort(list->begin(), list->end(),
                       [](const auto* a, const auto* b) { return ram_of(*a) < ram_of(*b); });
  return pairs;
}

const SweepResult* best_within(const std::vector<const SweepResult*>& results, double ram) {
  const SweepResult* best = nullptr;
  for (const SweepResult* result : results)
    if (ram_of(*result) <= ram && holds(*result) &&
        (best == nullptr || *result->energy_joules < *best->energy_joules))
      best = result;
  return best;
}

}  // namespace poet::cli
