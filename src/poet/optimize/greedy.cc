#include "poet/optimize/greedy.h"

#include <algorithm>
#include <cmath>

namespace poet {
namespace {

enum class Policy { both, page_only, recompute_only, fast };  // fast: least time first, for tight deadlines

class Greedy {
 public:
  Greedy(const Problem& problem, const Gaps& gaps, Policy policy, std::vector<Mode> modes)
      : p_(problem), gaps_(gaps), policy_(policy), modes_(std::move(modes)) {}

  [[nodiscard]] Candidate evaluate() const { return complete(p_, gaps_.decisions(modes_)); }

  // Empties gaps at the worst stage until `budget` holds or nothing is left to try; reports every candidate
  // on the way.
  void shrink(std::int64_t budget, const std::function<bool()>& stop,
              const std::function<void(const Candidate&)>& report) {
    std::vector<char> given_up(static_cast<std::size_t>(p_.ops), 0);
    for (;;) {
      const Candidate now = evaluate();
      report(now);
      int worst = -1;
      for (int t = 0; t < p_.ops; ++t) {
        const auto i = static_cast<std::size_t>(t);
        if (now.stage_peak[i] > budget && !given_up[i] &&
            (worst < 0 || now.stage_peak[i] > now.stage_peak[static_cast<std::size_t>(worst)]))
          worst = t;
      }
      if (worst < 0 || stop()) return;
      if (!relieve(now, worst, budget)) given_up[static_cast<std::size_t>(worst)] = 1;
    }
  }

  // Tries to bridge each emptied gap more cheaply, most expensive first.
  Candidate polish(Candidate best, const std::function<bool()>& stop) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t g = 0; g < modes_.size(); ++g)
      if (modes_[g] != Mode::keep && gap(g).to < p_.ops) order.emplace_back(-cost(gap(g), modes_[g]), g);
    std::sort(order.begin(), order.end());
    for (const auto& [negative_cost, g] : order)
      for (Mode mode : {Mode::keep, Mode::page, Mode::recompute}) {
        if (stop()) return best;
        const Mode before = modes_[g];
        if (mode == before || !allowed(gap(g), mode)) continue;
        modes_[g] = mode;
        Candidate candidate = evaluate();
        if (candidate.within(p_) && candidate.joules < best.joules) {
          best = std::move(candidate);
          if (mode == Mode::keep) break;
        } else {
          modes_[g] = before;
        }
      }
    return best;
  }

 private:
  [[nodiscard]] const Gap& gap(std::size_t g) const { return gaps_.all()[g]; }

  [[nodiscard]] bool allowed(const Gap& gap, Mode mode) const {
    if (mode == Mode::page && policy_ == Policy::recompute_only) return false;
    if (mode == Mode::recompute && policy_ == Policy::page_only) return false;
    return gaps_.possible(gap, mode);
  }

  [[nodiscard]] double cost(const Gap& gap, Mode mode) const {
    const auto v = static_cast<std::size_t>(gap.value);
    if (mode == Mode::keep) return 0;
    if (policy_ == Policy::fast && mode == Mode::recompute)
      return p_.seconds[static_cast<std::size_t>(p_.producer[v])];
    if (policy_ == Policy::fast) return 1e-3 * p_.in_seconds[v];  // mostly hidden behind compute
    if (mode == Mode::recompute) return p_.joules[static_cast<std::size_t>(p_.producer[v])];
    const auto& own = gaps_.of(gap.value);
    const bool stored =
        std::any_of(own.begin(), own.end(), [&](std::size_t g) { return modes_[g] == Mode::page; });
    return p_.in_joules[v] + (stored ? 0 : p_.out_joules[v]);
  }

  // Empties gaps across stage t, cheapest per byte of overflow first, until t should fit. False when none can
  // be emptied.
  bool relieve(const Candidate& now, int t, std::int64_t budget) {
    struct Move {
      double price;
      std::size_t gap;
      Mode mode;
    };
    std::vector<double> overflow(static_cast<std::size_t>(p_.ops) + 1, 0);  // prefix sums
    for (std::size_t s = 0; s < static_cast<std::size_t>(p_.ops); ++s)
      overflow[s + 1] = overflow[s] + (now.stage_peak[s] > budget ? 1.0 : 0.0);
    const auto& retained = now.retain[static_cast<std::size_t>(t)];
    std::vector<Move> moves;
    for (std::size_t g = 0; g < modes_.size(); ++g) {
      const auto& [value, from, to] = gap(g);
      if (from >= t || to <= t || to >= p_.ops) continue;
      if (modes_[g] != Mode::keep || !std::binary_search(retained.begin(), retained.end(), value)) continue;
      const double bytes = static_cast<double>(p_.bytes[static_cast<std::size_t>(value)]);
      const double stages =
          overflow[static_cast<std::size_t>(to)] - overflow[static_cast<std::size_t>(from) + 1];
      for (Mode mode : {Mode::recompute, Mode::page})
        if (allowed(gap(g), mode))
          moves.push_back({cost(gap(g), mode) / (bytes * std::max(1.0, stages)), g, mode});
    }
    std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
      return a.price != b.price ? a.price < b.price : a.gap < b.gap;
    });
    std::int64_t excess = now.stage_peak[static_cast<std::size_t>(t)] - budget;
    bool moved = false;
    for (const Move& move : moves) {
      if (excess <= 0) break;
      if (modes_[move.gap] != Mode::keep) continue;
      modes_[move.gap] = move.mode;
      excess -= p_.bytes[static_cast<std::size_t>(gap(move.gap).value)];
      moved = true;
    }
    return moved || swap_recomputation_for_paging(now, t);
  }

  // Recomputing in stage t may itself be what overflows: page those values instead.
  bool swap_recomputation_for_paging(const Candidate& now, int t) {
    bool moved = false;
    for (int op : now.decisions.recompute[static_cast<std::size_t>(t)])
      for (int v : p_.writes[static_cast<std::size_t>(op)])
        for (std::size_t g : gaps_.of(v)) {
          if (gap(g).from >= t || gap(g).to < t || modes_[g] != Mode::recompute) continue;
          if (!allowed(gap(g), Mode::page)) continue;
          modes_[g] = Mode::page;
          moved = true;
        }
    return moved;
  }

  const Problem& p_;
  const Gaps& gaps_;
  Policy policy_;
  std::vector<Mode> modes_;
};

constexpr Policy kPolicies[] = {Policy::both, Policy::page_only, Policy::recompute_only, Policy::fast};

std::optional<Candidate> shrink_and_polish(const Problem& problem, Greedy& search,
                                           const std::function<bool()>& stop) {
  std::optional<Candidate> found;
  search.shrink(problem.budget, stop, [&](const Candidate& c) {
    if (c.within(problem) && (!found || c.joules < found->joules)) found = c;
  });
  if (found) found = search.polish(*found, stop);
  return found;
}

}  // namespace

std::optional<Candidate> greedy(const Problem& problem, const std::function<bool()>& stop) {
  const Gaps gaps(problem);
  std::optional<Candidate> best;
  for (Policy policy : kPolicies) {
    if (stop()) break;
    if (policy == Policy::page_only && !problem.paging) continue;
    if (policy == Policy::fast && best) continue;
    Greedy search(problem, gaps, policy, gaps.keep_all());
    const std::optional<Candidate> found = shrink_and_polish(problem, search, stop);
    if (found && (!best || found->joules < best->joules)) best = found;
  }
  return best;
}

std::optional<Candidate> greedy_from(const Problem& problem, std::vector<Mode> modes,
                                     const std::function<bool()>& stop) {
  const Gaps gaps(problem);
  Greedy search(problem, gaps, Policy::both, std::move(modes));
  return shrink_and_polish(problem, search, stop);
}

Candidate lean_schedule(const Problem& problem, const std::function<bool()>& stop) {
  const Gaps gaps(problem);
  Candidate leanest = complete(problem, no_decisions(problem));
  for (Policy policy : kPolicies) {
    if (stop()) break;
    if (policy == Policy::page_only && !problem.paging) continue;
    Greedy search(problem, gaps, policy, gaps.keep_all());
    search.shrink(0, stop, [&](const Candidate& c) {
      if (c.peak < leanest.peak) leanest = c;
    });
  }
  return leanest;
}

}  // namespace poet
