#include "poet/ranked_sets.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/quick_energy.h"
#include "poet/plan/allowance.h"
#include "poet/plan/paged_to_fit.h"

namespace poet {
namespace {

bool writes_too_much(const Instance& paged, const Limits& limits) {
  return limits.max_bytes_written && with_loads(paged).written_home > *limits.max_bytes_written;
}

/// Drops sets that write too much home, unless all do.
void drop_hopeless(const Instance& instance, const Limits& limits, std::vector<PagedSet>& sets) {
  const auto hopeless = [&](const PagedSet& paged) {
    return writes_too_much(with_paged(instance, paged), limits);
  };
  if (!std::ranges::all_of(sets, hopeless)) std::erase_if(sets, hopeless);
}

struct Ranked {
  double joules = kInfinity;
  PagedSet paged;
  Bytes floor;
};

class Ranking {
 public:
  Ranking(const Instance& instance, const Limits& limits, const Stop& stop)
      : instance_(instance), limits_(limits), stop_(stop) {}

  void add(PagedSet paged) {
    const Bytes floor = ram_floor(with_paged(instance_, paged), Semantics::device).bytes();
    ranked_.push_back({kInfinity, std::move(paged), floor});
  }

  /// Streaming passes first, so that greedy, which is slow, starts with the best sets.
  void search() {
    for (const int few_ops : {0, kFewOps}) {
      for (Ranked& of : ranked_) search(of, few_ops);
      sort();
    }
  }

  /// Adds sets that leave less or more RAM free than the best one, halfway to those next to it.
  void refine() {
    constexpr int kRounds = 5;
    for (int round = 0; round < kRounds && ranked_.front().joules < kInfinity; ++round) {
      const std::size_t before = ranked_.size();
      for (const Bytes ram : beside(ranked_.front())) {
        std::optional<PagedSet> paged = paged_to_fit(instance_, ram);
        if (stop_() || !paged || paged->empty() || has(*paged) || !may_be_paged(*paged)) continue;
        add(std::move(*paged));
        for (const int few_ops : {0, kFewOps}) search(ranked_.back(), few_ops);
      }
      if (ranked_.size() == before) return;
      sort();
    }
  }

  std::vector<Ranked> take() { return std::move(ranked_); }

 private:
  static constexpr int kFewOps = 4'000;

  void search(Ranked& of, int few_ops) const {
    if (stop_()) return;
    const auto answer =
        quick_answer([&] { return stop_(); }, with_paged(instance_, of.paged), limits_, few_ops);
    if (answer) of.joules = std::min(of.joules, answer->energy.value());
  }

  [[nodiscard]] bool may_be_paged(const PagedSet& paged) const {
    const Instance instance = with_paged(instance_, paged);
    return has_homes(instance) && !writes_too_much(instance, limits_);
  }

  void sort() { std::ranges::stable_sort(ranked_, {}, &Ranked::joules); }

  [[nodiscard]] bool has(const PagedSet& paged) const {
    return std::ranges::find(ranked_, paged, &Ranked::paged) != ranked_.end();
  }

  /// The RAM halfway between a set's floor and the next lower and the next higher one.
  [[nodiscard]] std::vector<Bytes> beside(const Ranked& best) const {
    Bytes lower(0), higher = limits_.ram_budget;
    for (const Ranked& other : ranked_) {
      if (other.floor < best.floor) lower = std::max(lower, other.floor);
      if (other.floor > best.floor) higher = std::min(higher, other.floor);
    }
    const auto halfway = [&](Bytes to) { return Bytes((best.floor.value() + to.value()) / 2); };
    return {halfway(lower), halfway(higher)};
  }

  const Instance& instance_;
  const Limits& limits_;
  const Stop& stop_;
  std::vector<Ranked> ranked_;
};

}  // namespace

RankedSets ranked_sets(const Instance& instance, const Limits& limits, std::vector<PagedSet> sets,
                       const Stop& stop) {
  constexpr double kMuchMore = 1.1;     // a full search saves up to a tenth of the quick one's energy
  constexpr double kHardlyMore = 1.02;  // fragmentation, which greedy plans do not count, costs more
  drop_hopeless(instance, limits, sets);
  if (sets.size() < 2) {
    const std::size_t all = sets.size();
    return {std::move(sets), all};
  }
  Ranking ranking(instance, limits, stop);
  for (PagedSet& paged : sets) ranking.add(std::move(paged));
  ranking.search();
  ranking.refine();
  std::vector<Ranked> ranked = ranking.take();
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
