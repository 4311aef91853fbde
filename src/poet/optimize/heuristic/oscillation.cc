#include "poet/optimize/heuristic/oscillation.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/incremental.h"
#include "poet/optimize/heuristic/overflow_prices.h"
#include "poet/optimize/heuristic/priced_supply.h"

namespace poet {
namespace {

// Temperatures relative to the mean energy of an op.
constexpr double kHottestOfOp = 0.5;
constexpr double kColdestOfOp = 0.005;
constexpr double kMoreNoise = 3;
constexpr double kSomeNoise = 0.2;
constexpr double kLimitPenalty = 100;  // in baselines, for exceeding a limit by 100%
constexpr int kStale = 10;             // changes until the decisions are listed again

double mean_joules(const Problem& p) {
  double sum = 0;
  int count = 0;
  for (const double joules : p.joules) {
    sum += joules;
    count += joules > 0 ? 1 : 0;
  }
  return count > 0 ? sum / count : p.baseline_joules;
}

}  // namespace

class Oscillation::Walk {
 public:
  Walk(const Problem& problem, std::uint64_t seed)
      : p_(problem),
        replay_(problem),
        prices_(replay_),
        supply_(replay_, prices_, [this] { return factor(); }),
        random_(seed),
        mean_(mean_joules(problem)) {
    consider();
  }

  void start_from(const Decisions& decisions) {
    replay_.load(decisions);
    replay_.commit();
    prices_.look_again();
    consider();
  }

  bool run(long changes, const std::function<bool()>& stop) {
    const int period = std::max(50, p_.ops / 4);  // changes between updates of the prices
    const double before = best_joules_;
    list_decisions();
    score_ = score();
    for (long i = 0; i < changes && !stop(); ++i) {
      const double progress = static_cast<double>(i) / static_cast<double>(changes);
      temperature_ = mean_ * kHottestOfOp * std::pow(kColdestOfOp / kHottestOfOp, progress);
      step();
      if (i % period != period - 1) continue;
      prices_.adapt();
      score_ = score();
    }
    return best_joules_ < before;
  }

  [[nodiscard]] std::optional<Candidate> best() const {
    if (best_joules_ == kInfinity) return std::nullopt;
    return complete(p_, best_);
  }
  [[nodiscard]] const std::vector<double>& prices() const { return prices_.per_stage(); }

 private:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  int below(int end) { return static_cast<int>(random_() % static_cast<std::uint64_t>(end)); }
  double factor() { return std::exp(noise_ * (2 * uniform() - 1)); }

  [[nodiscard]] bool fits() const {
    return replay_.overflow() == 0 && replay_.bytes_written() <= p_.max_bytes_written &&
           p_.in_time(replay_.total().seconds);
  }

  [[nodiscard]] double score() const {
    const auto total = replay_.total();
    double broken = 0;
    if (total.seconds > p_.deadline) broken += (total.seconds - p_.deadline) / p_.baseline_seconds;
    if (replay_.bytes_written() > p_.max_bytes_written)
      broken += static_cast<double>(replay_.bytes_written() - p_.max_bytes_written) /
                std::max(1.0, static_cast<double>(p_.max_bytes_written));
    return total.joules + kLimitPenalty * p_.baseline_joules * broken + prices_.of_overflow();
  }

  void step() {
    if (changes_since_listing_ > kStale) list_decisions();
    noise_ = kSomeNoise + kMoreNoise * uniform() * uniform();
    if (!change()) {
      replay_.rollback();
      return;
    }
    replay_.update();
    const double reached = score();
    if (reached > score_ - temperature_ * std::log(1 - uniform())) {
      replay_.rollback();
      return;
    }
    score_ = reached;
    replay_.commit();
    prices_.look_again();
    ++changes_since_listing_;
    consider();
  }

  void consider() {
    if (!fits()) return;
    const double joules = replay_.total().joules;
    if (joules >= best_joules_ - 1e-12 * p_.baseline_joules) return;
    best_joules_ = joules;
    best_ = replay_.decisions();
  }

  void list_decisions() {
    replay_.list_decisions(decisions_);
    changes_since_listing_ = 0;
  }

  bool change() {
    const double choice = uniform();
    if (decisions_.empty() || choice < 0.45) return take_from_ram(stage_to_relieve());
    if (choice < 0.8) return take_back();
    if (choice < 0.88 && p_.paging) return switch_means();
    return shift();
  }

  const ListedDecision& any() { return decisions_[at(below(static_cast<int>(decisions_.size())))]; }

  bool remove(const ListedDecision& d) {
    return d.recompute ? replay_.remove_recompute(d.id, d.stage) : replay_.remove_page_in(d.id, d.stage);
  }

  // Returns a random stage, mostly one that overflows, with a probability proportional to its overflow.
  int stage_to_relieve() {
    if (replay_.overflow() > 0 && uniform() < 0.8) {
      auto left = static_cast<std::int64_t>(uniform() * static_cast<double>(replay_.overflow()));
      const auto& peak = replay_.stage_peak();
      for (int t = 1; t < p_.ops; ++t) {
        const std::int64_t over = std::max<std::int64_t>(0, peak[at(t)] - p_.budget);
        if (left < over) return t;
        left -= over;
      }
    }
    return p_.ops > 1 ? 1 + below(p_.ops - 1) : 0;
  }

  // Evicts a value that is retained across the stage without use, and restores it for its next use.
  bool take_from_ram(int stage) {
    constexpr int kTries = 30;
    for (int i = 0; i < kTries; ++i) {
      const int v = below(p_.values);
      if (!p_.active[at(v)] || p_.producer[at(v)] >= stage || stage + 1 >= p_.ops) continue;
      if (!replay_.is_retained(v, stage) || !replay_.is_retained(v, stage + 1)) continue;
      if (replay_.last_event(v, stage + 1) == stage) continue;
      const int need = replay_.next_need(v, stage);
      if (need >= p_.ops) continue;
      const bool recompute = supply_.can_recompute(v, need);
      const bool page = supply_.can_page(v, need);
      if (page && (!recompute || uniform() < 0.5)) return replay_.add_page_in(v, need - 1);
      if (!recompute) continue;
      supply_.recompute(p_.producer[at(v)], need);
      return true;
    }
    return false;
  }

  // Removes one decision, or several that are close in time.
  bool take_back() {
    constexpr int kMost = 4;
    constexpr int kReach = 10;
    const int last = static_cast<int>(decisions_.size()) - 1;
    const int first = below(last + 1);
    bool changed = remove(decisions_[at(first)]);
    if (uniform() < 0.5) return changed;
    for (int more = below(kMost); more > 0; --more)
      changed |= remove(decisions_[at(std::clamp(first + below(2 * kReach + 1) - kReach, 0, last))]);
    return changed;
  }

  bool switch_means() {
    const ListedDecision d = any();
    if (!remove(d)) return false;
    if (d.recompute) {
      for (int v : p_.writes[at(d.id)])
        if (supply_.can_page(v, d.stage)) replay_.add_page_in(v, d.stage - 1);
      return true;
    }
    const int need = replay_.next_need(d.id, d.stage);
    if (need < p_.ops && supply_.can_recompute(d.id, need)) supply_.recompute(p_.producer[at(d.id)], need);
    return true;
  }

  bool shift() {
    constexpr int kNear = 2;
    constexpr int kFar = 12;
    const ListedDecision d = any();
    if (!remove(d)) return false;
    const int by = 1 + below(uniform() < 0.5 ? kNear : kFar);
    const int stage = uniform() < 0.7 ? d.stage - by : d.stage + by;
    if (stage <= 0 || stage >= p_.ops) return true;  // removed only
    if (!d.recompute) {
      replay_.add_page_in(d.id, stage);
    } else if (stage > d.id && stage <= p_.recompute_until[at(d.id)]) {
      supply_.recompute(d.id, stage);
    }
    return true;
  }

  const Problem& p_;
  IncrementalReplay replay_;
  OverflowPrices prices_;
  PricedSupply supply_;
  std::mt19937_64 random_;
  double mean_;  // energy of an op in joules
  double noise_ = 0;
  double temperature_ = 0;
  double score_ = 0;
  double best_joules_ = kInfinity;
  Decisions best_;
  std::vector<ListedDecision> decisions_;  // some may have been removed since
  int changes_since_listing_ = 0;
};

Oscillation::Oscillation(const Problem& problem, std::uint64_t seed)
    : walk_(std::make_unique<Walk>(problem, seed)) {}
Oscillation::~Oscillation() = default;

void Oscillation::start_from(const Decisions& decisions) { walk_->start_from(decisions); }
bool Oscillation::run(long changes, const std::function<bool()>& stop) { return walk_->run(changes, stop); }
std::optional<Candidate> Oscillation::best() const { return walk_->best(); }
const std::vector<double>& Oscillation::prices() const { return walk_->prices(); }

}  // namespace poet
