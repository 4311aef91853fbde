#include "poet/optimize/heuristic/greedy.h"

#include <algorithm>
#include <limits>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/local_search.h"
#include "poet/optimize/heuristic/repair.h"
#include "poet/optimize/heuristic/retime.h"

namespace poet {
namespace {

constexpr std::uint64_t kSeed = 1;

enum class Variant { both, page_only, recompute_only, fast };  // fast: time first, for tight deadlines
constexpr Variant kVariants[] = {Variant::both, Variant::page_only, Variant::recompute_only, Variant::fast};

RepairOptions options_for(const Problem& p, Variant variant) {
  RepairOptions options;
  options.page = p.paging && variant != Variant::recompute_only;
  options.recompute = variant != Variant::page_only;
  if (variant == Variant::fast)
    options.joules_per_second = 1e3 * p.baseline_joules / std::max(p.baseline_seconds, 1e-300);
  return options;
}

bool within_limits(const IncrementalReplay& replay) {
  const Problem& p = replay.problem();
  return replay.overflow() == 0 && replay.bytes_written() <= p.max_bytes_written &&
         p.in_time(replay.total().seconds);
}

bool make_fit(IncrementalReplay& replay, Repair& repair, const std::function<bool()>& stop) {
  constexpr long kSteps = 50;    // between two checks of the overflow
  constexpr int kPatience = 10;  // consecutive checks without a new lowest overflow
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int since = 0; since < kPatience && !stop(); ++since) {
    if (repair.make_fit(kInfinity, kSteps, stop)) {
      replay.commit();
      return true;
    }
    if (repair.stuck()) break;
    if (replay.overflow() < least) {
      least = replay.overflow();
      since = 0;
    }
  }
  replay.commit();
  return false;
}

// Removes decisions that are not needed, costliest first, or replaces them by cheaper ones.
void polish(IncrementalReplay& replay, Repair& repair, const std::function<bool()>& stop) {
  const Problem& p = replay.problem();
  struct Decision {
    double price;
    bool recompute;
    int id;
    int stage;
  };
  std::vector<Decision> all;
  for (int t = 0; t < p.ops; ++t) {
    for (int op : replay.recomputed_in(t)) all.push_back({p.joules[at(op)], true, op, t});
    for (int v : replay.paged_in_in(t))
      all.push_back({p.in_joules[at(v)] + p.out_joules[at(v)], false, v, t});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Decision& a, const Decision& b) { return a.price > b.price; });
  const auto keep_if_better = [&](double joules) {
    replay.update();
    if (replay.overflow() == 0 && replay.least_joules() < joules && within_limits(replay) &&
        replay.total().joules < joules) {
      replay.commit();
      return true;
    }
    replay.rollback();
    return false;
  };
  const auto remove = [&](const Decision& d) {
    return d.recompute ? replay.remove_recompute(d.id, d.stage) : replay.remove_page_in(d.id, d.stage);
  };
  for (const Decision& d : all) {
    if (stop()) return;
    const double joules = replay.total().joules;
    if (!remove(d) || keep_if_better(joules)) continue;
    if (d.recompute && repair.options.page) {
      remove(d);
      for (int v : p.writes[at(d.id)]) repair.page(v, d.stage);
      keep_if_better(joules);
    } else if (!d.recompute && repair.options.recompute) {
      const int need = replay.next_need(d.id, d.stage);
      remove(d);
      if (need < p.ops) repair.recompute(p.producer[at(d.id)], need);
      keep_if_better(joules);
    }
  }
}

// Returns a candidate that fits RAM but may violate other limits, or nullopt if none is found. Takes what it
// works from `work`.
std::optional<Candidate> fit_and_polish(IncrementalReplay& replay, const RepairOptions& options,
                                        std::uint64_t seed, const std::function<bool()>& stop, long& work) {
  Repair repair(replay, seed);
  repair.options = options;
  const std::function<bool()> ends = [&] { return repair.work() >= work || stop(); };
  std::optional<Candidate> made;
  if (make_fit(replay, repair, ends)) {
    repair.options.noise = 0;
    if (within_limits(replay)) polish(replay, repair, ends);
    made = complete(replay.problem(), replay.decisions());
  }
  work -= std::min(work, repair.work());
  return made;
}

// Keeps the cheapest candidate within the limits and the fastest of those that violate one.
class BestFound {
 public:
  explicit BestFound(const Problem& problem) : p_(problem) {}

  void consider(const std::optional<Candidate>& found) {
    if (!found) return;
    if (found->within(p_)) {
      if (!best || found->joules < best->joules) best = found;
    } else if (!nearest || found->seconds < nearest->seconds) {
      nearest = found;
    }
  }

  std::optional<Candidate> best, nearest;

 private:
  const Problem& p_;
};

// Repairs a schedule that violates the deadline or the write limit, or returns nullopt.
std::optional<Candidate> meet_limits(const Problem& p, const Candidate& start,
                                     const std::function<bool()>& stop) {
  LocalSearchOptions effort;
  effort.evaluations = 5'000 + 10L * p.ops;
  const Candidate found = anneal(p, retime(p, start, stop), effort, stop);
  if (!found.within(p)) return std::nullopt;
  return found;
}

bool applies(const Problem& p, Variant variant) { return variant != Variant::page_only || p.paging; }

}  // namespace

std::optional<Candidate> greedy(const Problem& problem, const std::function<bool()>& stop, long most_work) {
  BestFound best_found(problem);
  long work = most_work;
  const auto attempt = [&](const RepairOptions& options, std::uint64_t seed) {
    IncrementalReplay replay(problem);
    best_found.consider(fit_and_polish(replay, options, seed, stop, work));
  };
  for (Variant variant : kVariants) {
    if (work <= 0 || stop()) break;
    if (!applies(problem, variant) || (variant == Variant::fast && best_found.best)) continue;
    attempt(options_for(problem, variant), kSeed);
  }
  constexpr std::uint64_t kAttempts = 6;  // randomized, if nothing fits
  for (std::uint64_t i = 1; i <= kAttempts && work > 0 && !best_found.best && !best_found.nearest && !stop();
       ++i) {
    RepairOptions options = options_for(problem, i % 2 == 0 ? Variant::fast : Variant::both);
    options.noise = 0.5 * static_cast<double>(i);
    attempt(options, kSeed + i);
  }
  if (!best_found.best && best_found.nearest && !stop())
    return meet_limits(problem, *best_found.nearest, stop);
  return best_found.best;
}

std::optional<Candidate> greedy_from(const Problem& problem, const std::vector<GapMode>& modes,
                                     const std::function<bool()>& stop) {
  return greedy_from(problem, Gaps(problem).decisions(modes), stop);
}

std::optional<Candidate> greedy_from(const Problem& problem, const Decisions& decisions,
                                     const std::function<bool()>& stop) {
  IncrementalReplay replay(problem);
  replay.load(decisions);
  replay.commit();
  long work = kAnyWork;
  std::optional<Candidate> found =
      fit_and_polish(replay, options_for(problem, Variant::both), kSeed, stop, work);
  if (!found || found->within(problem)) return found;
  return meet_limits(problem, *found, stop);
}

Candidate lean_schedule(const Problem& problem, const std::function<bool()>& stop) {
  Candidate leanest = complete(problem, no_decisions(problem));
  std::int64_t floor = 0;
  for (int t = 0; t < problem.ops; ++t) floor = std::max(floor, working_set(problem, t));
  Problem p = problem;
  for (Variant variant : kVariants) {
    // Finds the least budget that the variant can meet, by bisection.
    std::int64_t low = floor;
    while (applies(problem, variant) && low < leanest.peak && !stop()) {
      p.budget = low + (leanest.peak - low) / 2;
      IncrementalReplay replay(p);
      Repair repair(replay, kSeed);
      repair.options = options_for(p, variant);
      if (make_fit(replay, repair, stop)) {
        leanest = complete(problem, replay.decisions());
      } else {
        low = p.budget + 1;
      }
    }
  }
  return leanest;
}

}  // namespace poet
