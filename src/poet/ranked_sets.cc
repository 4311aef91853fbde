#include "poet/ranked_sets.h"

#include <algorithm>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/quick_energy.h"
#include "poet/plan/allowance.h"

namespace poet {
namespace {

/// Drops sets that write too much home, unless all do.
void drop_hopeless(const Instance& instance, const Limits& limits, std::vector<PagedSet>& sets) {
  const std::optional<Bytes>& most = limits.max_bytes_written;
  if (!most) return;
  const auto writes_too_much = [&](const PagedSet& paged) {
    return with_loads(with_paged(instance, paged)).written_home > *most;
  };
  if (!std::ranges::all_of(sets, writes_too_much)) std::erase_if(sets, writes_too_much);
}

}  // namespace

RankedSets ranked_sets(const Instance& instance, const Limits& limits, std::vector<PagedSet> sets,
                       const Stop& stop) {
  constexpr double kMuchMore = 1.1;     // a full search saves up to a tenth of the quick one's energy
  constexpr double kHardlyMore = 1.02;  // fragmentation, which greedy plans do not count, costs more
  constexpr int kFewOps = 4'000;
  drop_hopeless(instance, limits, sets);
  if (sets.size() < 2) {
    const std::size_t all = sets.size();
    return {std::move(sets), all};
  }
  struct Ranked {
    double joules = kInfinity;
    PagedSet paged;
    Bytes floor;
  };
  std::vector<Ranked> ranked;
  for (PagedSet& paged : sets) {
    const Bytes floor = ram_floor(with_paged(instance, paged), Semantics::device).bytes();
    ranked.push_back({kInfinity, std::move(paged), floor});
  }
  // Streaming passes first, so that greedy, which is slow, starts with the best sets.
  for (const int few_ops : {0, kFewOps}) {
    for (auto& [joules, paged, floor] : ranked) {
      if (stop()) break;
      if (const auto answer =
              quick_answer([&] { return stop(); }, with_paged(instance, paged), limits, few_ops))
        joules = std::min(joules, answer->energy.value());
    }
    std::ranges::stable_sort(ranked, {}, &Ranked::joules);
  }
  // Of sets of almost the same energy, those first that leave more RAM free: addresses are found in it.
  const double least = ranked.front().joules;  // infinite if no search found a plan
  const auto similar = std::ranges::find_if(
      ranked, [least](double joules) { return least == kInfinity || joules > kHardlyMore * least; },
      &Ranked::joules);
  std::ranges::stable_sort(ranked.begin(), similar, {}, &Ranked::floor);
  RankedSets best;
  const double most = kMuchMore * least;
  for (auto& [joules, paged, floor] : ranked) {
    best.promising += joules <= most ? 1 : 0;
    best.sets.push_back(std::move(paged));
  }
  return best;
}

}  // namespace poet
