#include "poet/optimize/greedy.h"

#include <algorithm>
#include <cmath>

namespace poet {
namespace {

enum class Mode : char { keep, page, recompute };

// A value's wait from one first use (or its production) to the next.
struct Gap {
  int value;
  int from;  // op that last used or made it
  int to;    // op that reads it next; ops count when open: after the last first use, needed only for
             // recomputing others
  Mode mode;
};

enum class Policy { both, page_only, recompute_only };

class Greedy {
 public:
  Greedy(const Problem& problem, Policy policy) : p_(problem), policy_(policy) {
    gaps_of_.resize(static_cast<std::size_t>(p_.values));
    for (int v = 0; v < p_.values; ++v) {
      if (!p_.active[static_cast<std::size_t>(v)]) continue;
      int from = p_.producer[static_cast<std::size_t>(v)];
      for (int user : p_.users[static_cast<std::size_t>(v)]) {
        add_gap({v, from, user, Mode::keep});
        from = user;
      }
      add_gap({v, from, p_.ops, can_recompute(v, p_.ops - 1) ? Mode::recompute : Mode::keep});
    }
  }

  Candidate evaluate() const { return complete(p_, decisions()); }

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

  // Tries to keep again what was emptied, most expensive first.
  Candidate polish(Candidate best, const std::function<bool()>& stop) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t g = 0; g < gaps_.size(); ++g)
      if (gaps_[g].mode != Mode::keep && gaps_[g].to < p_.ops)
        order.emplace_back(-cost(gaps_[g], gaps_[g].mode), g);
    std::sort(order.begin(), order.end());
    for (const auto& [negative_cost, g] : order) {
      const Mode before = gaps_[g].mode;
      bool better = false;
      for (Mode mode : {Mode::keep, Mode::page, Mode::recompute}) {
        if (stop()) return best;
        if (mode == before || !possible(gaps_[g], mode)) continue;
        const Mode previous = gaps_[g].mode;
        gaps_[g].mode = mode;
        Candidate candidate = evaluate();
        if (candidate.within(p_) && candidate.joules < best.joules) {
          best = std::move(candidate);
          better = true;
        } else {
          gaps_[g].mode = previous;
        }
        if (better && mode == Mode::keep) break;
      }
    }
    return best;
  }

 private:
  void add_gap(Gap gap) {
    gaps_of_[static_cast<std::size_t>(gap.value)].push_back(gaps_.size());
    gaps_.push_back(gap);
  }

  [[nodiscard]] bool can_recompute(int v, int stage) const {
    const int op = p_.producer[static_cast<std::size_t>(v)];
    return stage > op && stage <= p_.recompute_until[static_cast<std::size_t>(op)];
  }

  [[nodiscard]] bool possible(const Gap& gap, Mode mode) const {
    if (mode == Mode::keep) return true;
    if (gap.to >= p_.ops) return false;
    if (mode == Mode::recompute)
      return policy_ != Policy::page_only && gap.to > gap.from + 1 && can_recompute(gap.value, gap.to);
    // Leaves after the stage in which it was made, returns in the stage before its use.
    return p_.paging && policy_ != Policy::recompute_only && gap.to - 1 > gap.from &&
           gap.to - 1 >= p_.producer[static_cast<std::size_t>(gap.value)] + 2;
  }

  [[nodiscard]] double cost(const Gap& gap, Mode mode) const {
    const auto v = static_cast<std::size_t>(gap.value);
    if (mode == Mode::recompute) return p_.joules[static_cast<std::size_t>(p_.producer[v])];
    if (mode == Mode::keep) return 0;
    const bool stored = std::any_of(gaps_of_[v].begin(), gaps_of_[v].end(),
                                    [&](std::size_t g) { return gaps_[g].mode == Mode::page; });
    return p_.in_joules[v] + (stored ? 0 : p_.out_joules[v]);
  }

  [[nodiscard]] Mode mode_at(int v, int stage) const {
    for (std::size_t g : gaps_of_[static_cast<std::size_t>(v)])
      if (gaps_[g].from < stage && stage <= gaps_[g].to) return gaps_[g].mode;
    return Mode::keep;
  }

  void restore(Decisions& d, int v, int stage, Mode mode) const {
    if (mode == Mode::page) {
      d.page_in[static_cast<std::size_t>(stage - 1)].push_back(v);
    } else if (mode == Mode::recompute) {
      const int op = p_.producer[static_cast<std::size_t>(v)];
      auto& set = d.recompute[static_cast<std::size_t>(stage)];
      if (std::find(set.begin(), set.end(), op) != set.end()) return;
      set.push_back(op);
      for (int u : p_.reads[static_cast<std::size_t>(op)]) {
        Mode how = mode_at(u, stage);
        if (how == Mode::page && stage - 1 < p_.producer[static_cast<std::size_t>(u)] + 2) how = Mode::keep;
        if (how == Mode::recompute && !can_recompute(u, stage)) how = Mode::keep;
        restore(d, u, stage, how);
      }
    }
  }

  [[nodiscard]] Decisions decisions() const {
    Decisions d = no_decisions(p_);
    for (const Gap& gap : gaps_)
      if (gap.to < p_.ops) restore(d, gap.value, gap.to, gap.mode);
    for (auto* sets : {&d.recompute, &d.page_in})
      for (auto& set : *sets) {
        std::sort(set.begin(), set.end());
        set.erase(std::unique(set.begin(), set.end()), set.end());
      }
    return d;
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
    for (std::size_t g = 0; g < gaps_.size(); ++g) {
      const Gap& gap = gaps_[g];
      if (gap.from >= t || gap.to <= t) continue;
      if (gap.to >= p_.ops) {  // kept for others' recomputation only
        continue;
      }
      if (gap.mode != Mode::keep || !std::binary_search(retained.begin(), retained.end(), gap.value))
        continue;
      const double bytes = static_cast<double>(p_.bytes[static_cast<std::size_t>(gap.value)]);
      const double stages =
          overflow[static_cast<std::size_t>(gap.to)] - overflow[static_cast<std::size_t>(gap.from) + 1];
      for (Mode mode : {Mode::recompute, Mode::page})
        if (possible(gap, mode))
          moves.push_back({cost(gap, mode) / (bytes * std::max(1.0, stages)), g, mode});
    }
    std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
      return a.price != b.price ? a.price < b.price : a.gap < b.gap;
    });
    std::int64_t excess = now.stage_peak[static_cast<std::size_t>(t)] - budget;
    bool moved = false;
    for (const Move& move : moves) {
      if (excess <= 0) break;
      if (gaps_[move.gap].mode != Mode::keep) continue;
      gaps_[move.gap].mode = move.mode;
      excess -= p_.bytes[static_cast<std::size_t>(gaps_[move.gap].value)];
      moved = true;
    }
    return moved || swap_recomputation_for_paging(now, t);
  }

  // Recomputing in stage t may itself be what overflows: page those values instead.
  bool swap_recomputation_for_paging(const Candidate& now, int t) {
    bool moved = false;
    for (int op : now.decisions.recompute[static_cast<std::size_t>(t)])
      for (int v : p_.writes[static_cast<std::size_t>(op)])
        for (std::size_t g : gaps_of_[static_cast<std::size_t>(v)]) {
          Gap& gap = gaps_[g];
          if (gap.from >= t || gap.to < t || gap.mode != Mode::recompute) continue;
          if (possible(gap, Mode::page)) {
            gap.mode = Mode::page;
            moved = true;
          }
        }
    return moved;
  }

  const Problem& p_;
  Policy policy_;
  std::vector<Gap> gaps_;
  std::vector<std::vector<std::size_t>> gaps_of_;
};

constexpr Policy kPolicies[] = {Policy::both, Policy::page_only, Policy::recompute_only};

}  // namespace

GreedyResult greedy(const Problem& problem, const std::function<bool()>& stop) {
  GreedyResult result;
  bool any = false;
  for (Policy policy : kPolicies) {
    if (policy == Policy::page_only && !problem.paging) continue;
    Greedy search(problem, policy);
    std::optional<Candidate> found;
    search.shrink(problem.budget, stop, [&](const Candidate& c) {
      if (!any || c.peak < result.leanest.peak) result.leanest = c;
      any = true;
      if (c.within(problem) && (!found || c.joules < found->joules)) found = c;
    });
    if (found) found = search.polish(*found, stop);
    if (found && (!result.within || found->joules < result.within->joules)) result.within = found;
    if (stop()) break;
  }
  return result;
}

Candidate lean_schedule(const Problem& problem, const std::function<bool()>& stop) {
  Candidate leanest;
  bool any = false;
  for (Policy policy : kPolicies) {
    if (policy == Policy::page_only && !problem.paging) continue;
    Greedy search(problem, policy);
    search.shrink(0, stop, [&](const Candidate& c) {
      if (!any || c.peak < leanest.peak) leanest = c;
      any = true;
    });
    if (stop()) break;
  }
  return leanest;
}

}  // namespace poet
