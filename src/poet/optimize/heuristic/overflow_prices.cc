#include "poet/optimize/heuristic/overflow_prices.h"

#include <algorithm>

#include "poet/base/numbers.h"

namespace poet {
namespace {

constexpr int kStagesAtOnce = 16;
constexpr double kFirst = 0.1;  // relative to the mean energy per byte of values
constexpr double kLeast = 1e-3;
constexpr double kRise = 1.05;
constexpr double kFall = 0.98;

}  // namespace

OverflowPrices::OverflowPrices(const IncrementalReplay& replay) : r_(replay), p_(replay.problem()) {
  double bytes = 1;
  for (int v = 0; v < p_.values; ++v)
    if (p_.active[at(v)]) bytes += static_cast<double>(p_.bytes[at(v)]);
  first_ = kFirst * p_.baseline_joules / bytes;
  least_ = kLeast * p_.baseline_joules / bytes;
  price_.assign(at(p_.ops), first_);
  look_again();
}

double OverflowPrices::of_overflow() const {
  if (r_.overflow() == 0) return 0;
  const auto& peak = r_.stage_peak();
  double joules = 0;
  for (std::size_t t = 0; t < peak.size(); ++t)
    joules += price_[t] * static_cast<double>(std::max<std::int64_t>(0, peak[t] - p_.budget));
  return joules;
}

double OverflowPrices::of_keeping(int v, int stage) const {
  const auto bytes = static_cast<double>(p_.bytes[at(v)]);
  double joules = 0;
  for (int t = r_.last_event(v, stage) + 1; t < stage;) {
    const int end = std::min(stage, (t / kStagesAtOnce + 1) * kStagesAtOnce);
    if (highest_[at(t / kStagesAtOnce)] + bytes > 0) joules += of_keeping(bytes, t, end);
    t = end;
  }
  return joules;
}

// Two independent sums for instruction-level parallelism: searches spend half of their time here.
double OverflowPrices::of_keeping(double bytes, int first, int end) const {
  const auto at_stage = [&](int t) { return price_[at(t)] * std::clamp(over_[at(t)] + bytes, 0.0, bytes); };
  double even = 0;
  double odd = 0;
  int t = first;
  for (; t + 1 < end; t += 2) {
    even += at_stage(t);
    odd += at_stage(t + 1);
  }
  return even + odd + (t < end ? at_stage(t) : 0);
}

void OverflowPrices::look_again() {
  const auto& peak = r_.stage_peak();
  over_.resize(peak.size());
  highest_.assign((peak.size() + kStagesAtOnce - 1) / kStagesAtOnce, -kInfinity);
  for (std::size_t t = 0; t < peak.size(); ++t) {
    over_[t] = static_cast<double>(peak[t] - p_.budget);
    highest_[t / kStagesAtOnce] = std::max(highest_[t / kStagesAtOnce], over_[t]);
  }
}

void OverflowPrices::adapt() {
  const auto& peak = r_.stage_peak();
  const bool fits = r_.overflow() == 0;
  for (std::size_t t = 0; t < peak.size(); ++t) {
    if (peak[t] > p_.budget) price_[t] *= kRise;
    if (fits) price_[t] = std::max(least_, kFall * price_[t]);
  }
}

}  // namespace poet
