#include "poet/optimize/relaxation/window_pressure.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/incremental.h"
#include "poet/optimize/heuristic/overflow_prices.h"

namespace poet {
namespace {

constexpr int kShifts = 3'000;
constexpr int kUntilMeasured = kShifts / 3;
constexpr int kPeriod = 100;            // shifts between updates of the prices
constexpr double kTemperature = 0.001;  // relative to the initial price of overflow by the whole budget

class Shifting {
 public:
  Shifting(const Problem& problem, const StageWindows& windows, const WindowDecisions& decided)
      : p_(problem), windows_(windows), replay_(problem), prices_(replay_), pressure_(at(problem.ops), 0.0) {
    replay_.load(taken_once(problem, windows, decided));
    replay_.commit();
  }

  std::vector<double> run() {
    list();
    double score = prices_.of_overflow();
    const double temperature = kTemperature * prices_.of_bytes(p_.budget);
    for (int i = 0; i < kShifts && replay_.overflow() > 0; ++i) {
      if (!decisions_.empty()) shift(decisions_[static_cast<std::size_t>(random_() % decisions_.size())]);
      replay_.update();
      const double reached = prices_.of_overflow();
      if (reached <= score - temperature * std::log(1 - uniform())) {
        score = reached;
        replay_.commit();
        list();
      } else {
        replay_.rollback();
      }
      if (i >= kUntilMeasured) measure();
      if (i % kPeriod != kPeriod - 1) continue;
      prices_.adapt();
      score = prices_.of_overflow();
    }
    if (replay_.overflow() == 0) pressure_.assign(at(p_.ops), 0.0);
    return pressure_;
  }

 private:
  struct Decision {
    bool recompute;
    int id;  // op or value
    int stage;
  };

  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  void list() {
    decisions_.clear();
    for (int t = 0; t < p_.ops; ++t) {
      for (int op : replay_.recomputed_in(t)) decisions_.push_back({true, op, t});
      for (int v : replay_.paged_in_in(t)) decisions_.push_back({false, v, t});
    }
  }

  void shift(const Decision& d) {
    // A value available from the window's first stage on was paged in during the previous stage.
    const int window = windows_.of(d.recompute ? d.stage : std::min(d.stage + 1, p_.ops - 1));
    int first = windows_.first_stage(window) - (d.recompute ? 0 : 1);
    int last = windows_.last_stage(window) - (d.recompute ? 0 : 1);
    first = std::max(first, d.recompute ? d.id + 1 : p_.producer[at(d.id)] + 2);
    if (d.recompute) last = std::min(last, p_.recompute_until[at(d.id)]);
    if (first > last) return;
    const int stage = first + static_cast<int>(random_() % static_cast<std::uint64_t>(last - first + 1));
    if (d.recompute) {
      replay_.remove_recompute(d.id, d.stage);
      replay_.add_recompute(d.id, stage);
    } else {
      replay_.remove_page_in(d.id, d.stage);
      replay_.add_page_in(d.id, stage);
    }
  }

  void measure() {
    const auto& peak = replay_.stage_peak();
    for (std::size_t t = 0; t < peak.size(); ++t)
      pressure_[t] +=
          static_cast<double>(std::max<std::int64_t>(0, peak[t] - p_.budget)) / (kShifts - kUntilMeasured);
  }

  const Problem& p_;
  const StageWindows& windows_;
  IncrementalReplay replay_;
  OverflowPrices prices_;
  std::mt19937_64 random_{1};
  std::vector<Decision> decisions_;
  std::vector<double> pressure_;
};

}  // namespace

std::vector<double> pressure(const Problem& problem, const StageWindows& windows,
                             const WindowDecisions& decided) {
  return Shifting(problem, windows, decided).run();
}

}  // namespace poet
