#include "poet/optimize/heuristic/local_search.h"

#include <algorithm>
#include <cmath>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/repair.h"

namespace poet {
namespace {

// Temperatures relative to the mean price of a decision.
constexpr double kHottest = 0.3;
constexpr double kColdest = 0.003;
constexpr double kLeastNoise = 0.5;
constexpr double kMostNoise = 4;
constexpr double kPenalty = 1e4;
constexpr long kMostRepairs = 24;  // steps to repair one change

class Annealing {
 public:
  Annealing(const Problem& problem, const Candidate& start, const LocalSearchOptions& options)
      : p_(problem), replay_(problem), repair_(replay_, options.seed) {
    replay_.load(start.decisions);
    replay_.commit();
    unit_of_time_price_ = 0.02 * p_.baseline_joules / std::max(p_.baseline_seconds, 1e-300);
    score_ = best_score_ = score();
    feasible_ = within_limits();
    replay_.mark();
    repair_.options.page = p_.paging;
  }

  void run(long evaluations, const std::function<bool()>& stop) {
    list_decisions();
    if (decisions_.empty()) return;
    const double mean =
        std::max(0.0, replay_.total().joules - p_.baseline_joules) / static_cast<double>(decisions_.size());
    const long start = repair_.evaluations();
    for (;;) {
      const long done = repair_.evaluations() - start;
      if (done >= evaluations || stop()) return;
      const double progress = static_cast<double>(done) / static_cast<double>(evaluations);
      temperature_ = mean * kHottest * std::pow(kColdest / kHottest, progress);
      // Listed decisions may have been removed since; without a new list, no change might be possible.
      if (changes_since_listing_ > decisions_.size() / 8 || vain_ > decisions_.size()) list_decisions();
      if (decisions_.empty()) return;
      step(stop);
    }
  }

  [[nodiscard]] bool improved() const { return improved_; }
  [[nodiscard]] Candidate best() {
    replay_.return_to_mark();
    return complete(p_, replay_.decisions());
  }

 private:
  void list_decisions() {
    replay_.list_decisions(decisions_);
    changes_since_listing_ = vain_ = 0;
  }

  [[nodiscard]] const ListedDecision& any() {
    return decisions_[at(repair_.below(static_cast<int>(decisions_.size())))];
  }

  void step(const std::function<bool()>& stop) {
    repair_.clear_protected();
    repair_.options.noise = kLeastNoise * std::pow(kMostNoise / kLeastNoise, repair_.uniform());
    if (!change()) {
      replay_.rollback();
      ++vain_;
      return;
    }
    const double threshold = score_ - temperature_ * std::log(1 - repair_.uniform());
    if (!repair_.make_fit(threshold, kMostRepairs, stop) || !accept(threshold)) {
      replay_.rollback();
      return;
    }
    replay_.commit();
    ++changes_since_listing_;
    if (score_ < best_score_ - 1e-12 * p_.baseline_joules) {
      best_score_ = score_;
      improved_ = true;
      replay_.mark();
    }
  }

  [[nodiscard]] bool in_time() const { return replay_.total().seconds <= p_.deadline * (1 + 0.5e-9); }
  [[nodiscard]] bool within_limits() const {
    return replay_.overflow() == 0 && replay_.bytes_written() <= p_.max_bytes_written && in_time();
  }

  // Returns joules, plus a penalty above any saving for exceeding the deadline or the write limit.
  [[nodiscard]] double score() const {
    const auto total = replay_.total();
    double score = total.joules;
    if (total.seconds > p_.deadline) score += kPenalty * unit_of_time_price_ * (total.seconds - p_.deadline);
    if (const std::int64_t over = replay_.bytes_written() - p_.max_bytes_written; over > 0)
      score += kPenalty * unit_of_write_price() * static_cast<double>(over);
    return score;
  }

  bool accept(double threshold) {
    // Raises the prices of repairs while a limit is exceeded, and lowers them otherwise.
    if (replay_.bytes_written() > p_.max_bytes_written) {
      double& price = repair_.options.joules_per_byte_written;
      price = 1.1 * price + unit_of_write_price();
      if (feasible_) return false;
    } else {
      repair_.options.joules_per_byte_written *= 0.995;
    }
    const bool late = !p_.in_time(replay_.compute_seconds());
    if (late && feasible_) return price_time();
    if (!in_time()) {
      price_time();
      if (feasible_) return false;
    } else {
      repair_.options.joules_per_second *= 0.995;
    }
    const double reached = score();
    if (reached > threshold) return false;
    score_ = reached;
    feasible_ = feasible_ || within_limits();
    return true;
  }

  bool price_time() {
    repair_.options.joules_per_second = 1.1 * repair_.options.joules_per_second + unit_of_time_price_;
    return false;
  }

  [[nodiscard]] double unit_of_write_price() const {
    return 1e-3 * p_.baseline_joules / std::max(1.0, static_cast<double>(p_.max_bytes_written));
  }

  bool change() {
    const double choice = repair_.uniform();
    if (choice < 0.4) return take_back(any());
    if (choice < 0.7) return take_back_several();
    if (choice < 0.85) return switch_means(any());
    return shift(any());
  }

  bool remove(const ListedDecision& d) {
    return d.recompute ? replay_.remove_recompute(d.id, d.stage) : replay_.remove_page_in(d.id, d.stage);
  }

  void protect(const ListedDecision& d) {
    if (!d.recompute) {
      repair_.protect(d.id, d.stage + 1);
    } else {
      for (int v : p_.writes[at(d.id)]) repair_.protect(v, d.stage);
    }
  }

  bool take_back(const ListedDecision& d) {
    if (!remove(d)) return false;
    if (repair_.uniform() < 0.7) protect(d);
    return true;
  }

  // Removes several decisions that are close in time or concern the same value.
  bool take_back_several() {
    const std::size_t first = at(repair_.below(static_cast<int>(decisions_.size())));
    bool changed = take_back(decisions_[first]);
    const int more = 1 + repair_.below(5);
    const int reach = 4 + repair_.below(12);
    const bool same = repair_.uniform() < 0.3;
    for (int i = 0; i < more; ++i) {
      const auto other = static_cast<std::ptrdiff_t>(first) + repair_.below(2 * reach + 1) - reach;
      if (other < 0 || other >= static_cast<std::ptrdiff_t>(decisions_.size())) continue;
      const ListedDecision& d = decisions_[static_cast<std::size_t>(other)];
      if (same && producer_of(d) != producer_of(decisions_[first])) continue;
      changed |= take_back(d);
    }
    return changed;
  }

  [[nodiscard]] int producer_of(const ListedDecision& d) const {
    return d.recompute ? d.id : p_.producer[at(d.id)];
  }

  bool switch_means(const ListedDecision& d) {
    if (!remove(d)) return false;
    if (d.recompute) {
      bool paged = false;
      for (int v : p_.writes[at(d.id)]) paged |= repair_.page(v, d.stage);
      return paged;
    }
    const int need = replay_.next_need(d.id, d.stage);
    if (need >= p_.ops) return false;
    repair_.recompute(p_.producer[at(d.id)], need);
    return true;
  }

  // Moves a recomputation or a page-in to an earlier or a later stage.
  bool shift(const ListedDecision& d) {
    if (!remove(d)) return false;
    const int by = 1 + repair_.below(repair_.uniform() < 0.5 ? 2 : 12);
    const bool earlier = repair_.uniform() < 0.7;
    const int stage = earlier ? d.stage - by : d.stage + by;
    if (stage <= 0 || stage >= p_.ops) return false;
    if (!d.recompute) return replay_.add_page_in(d.id, stage);
    if (stage <= d.id || stage > p_.recompute_until[at(d.id)]) return false;
    repair_.recompute(d.id, stage);
    return true;
  }

  const Problem& p_;
  IncrementalReplay replay_;
  Repair repair_;
  double score_ = 0;
  double best_score_ = 0;  // of the marked decisions
  bool improved_ = false;  // whether decisions have been marked since the start
  bool feasible_ = false;  // once true, only feasible decisions are accepted
  double temperature_ = 0;
  double unit_of_time_price_ = 0;
  std::vector<ListedDecision> decisions_;  // some may have been removed since
  std::size_t changes_since_listing_ = 0;
  std::size_t vain_ = 0;  // attempts without a change since the listing
};

}  // namespace

Candidate anneal(const Problem& problem, const Candidate& start, const LocalSearchOptions& options,
                 const std::function<bool()>& stop) {
  if (stop()) return start;
  Annealing annealing(problem, start, options);
  annealing.run(options.evaluations, stop);
  if (!annealing.improved()) return start;
  Candidate best = annealing.best();
  if (!best.within(problem)) return start;
  return !start.within(problem) || best.joules < start.joules ? best : start;
}

bool local_search(Search& search, const LocalSearchOptions& options) {
  if (!search.has_incumbent()) return false;
  const auto stop = [&] { return search.done(); };
  bool improved = false;
  LocalSearchOptions round = options;
  round.evaluations = std::min(options.evaluations, 10'000L);
  for (long left = options.evaluations; left > 0 && !stop();) {
    Candidate found = anneal(search.problem(), search.incumbent(), round, stop);
    if (found.joules < search.incumbent().joules) improved |= search.offer(std::move(found));
    left -= round.evaluations;
    round.evaluations = std::min(left, 2 * round.evaluations);
    ++round.seed;
  }
  return improved;
}

}  // namespace poet
