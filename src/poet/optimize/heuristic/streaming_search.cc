#include "poet/optimize/heuristic/streaming_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "poet/base/numbers.h"

namespace poet {
namespace {

constexpr int kRules = 6;  // rounds before the first packing

bool is_modelled(const Problem& p, const Gap& gap) { return gap.to < p.ops && gap.to > gap.from + 1; }

// Returns the size of values that accounts for most bytes read.
std::int64_t usual_size(const Problem& p) {
  std::map<std::int64_t, double> bytes;
  for (int v = 0; v < p.values; ++v)
    if (p.active[at(v)])
      bytes[p.bytes[at(v)]] +=
          static_cast<double>(p.bytes[at(v)]) * static_cast<double>(p.users[at(v)].size());
  const auto most = std::max_element(bytes.begin(), bytes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? 1 : std::max<std::int64_t>(1, most->first);
}

}  // namespace

StreamingSearch::StreamingSearch(const Problem& problem, std::int64_t alignment)
    : p_(problem),
      alignment_(alignment),
      gaps_(problem),
      streaming_(problem, gaps_),
      share_(gaps_.all().size(), 0.0),
      part_(usual_size(problem)) {
  for (int v = 0; v < p_.values; ++v) {
    const auto count = std::count_if(gaps_.of(v).begin(), gaps_.of(v).end(),
                                     [&](std::size_t g) { return is_modelled(p_, gaps_.all()[g]); });
    for (const std::size_t g : gaps_.of(v)) share_[g] = count > 0 ? 1 / static_cast<double>(count) : 0;
  }
}

bool StreamingSearch::consider(std::optional<Stream> made, double caution) {
  if (!made) return false;
  last_ = std::move(made);
  if (last_->bytes_written > p_.max_bytes_written || (best_ && last_->joules >= best_->joules)) return false;
  best_ = last_;
  caution_ = caution;
  return true;
}

bool StreamingSearch::improve(const std::function<bool()>& stop) {
  const int round = round_++;
  return round < kRules ? by_rule(round, stop) : by_packing(round - kRules, stop);
}

// Runs a pass by the round's rule; a pass that recomputes uses the best earlier pass for its prices.
bool StreamingSearch::by_rule(int round, const std::function<bool()>& stop) {
  struct Rule {
    bool by_distance;
    double caution;
    bool in_slots;
  };
  constexpr std::array<Rule, kRules> kOrder{{{false, 1, true},
                                             {false, kInfinity, true},
                                             {false, kInfinity, false},
                                             {false, 1.5, true},
                                             {false, 2.5, false},
                                             {true, kInfinity, true}}};
  constexpr Rule kSafe{false, kInfinity, false};
  const std::vector<double> ones(at(p_.ops), 1.0);
  const auto pass = [&](const Rule& rule, const Stream* before) {
    const StreamingGuide guide{ones, {}, rule.by_distance, rule.caution, alignment_, rule.in_slots};
    return consider(streaming_.run(guide, before, stop), rule.caution);
  };
  const std::optional<Stream> before = best_;
  if (pass(kOrder[at(round)], before ? &*before : nullptr)) return true;
  return round == 0 && pass(kSafe, nullptr);  // so that the first round finds a plan
}

bool StreamingSearch::by_packing(int round, const std::function<bool()>& stop) {
  constexpr int kQuietRounds = 4;  // rounds before prices are randomized
  constexpr double kNoise = 0.03;
  const bool noisy = round >= kQuietRounds;
  const auto factor = [&] {
    const double x = static_cast<double>(random_() >> 11) * 0x1p-53;
    return noisy ? std::exp(kNoise * (2 * x - 1)) : 1.0;
  };
  if (noisy || round == 0) last_ = best_;
  const std::vector<double> recomputation = streaming_.recomputation(last_ ? &*last_ : nullptr, stop);
  std::vector<PackedInterval> intervals;
  std::vector<std::size_t> ids;
  for (std::size_t g = 0; g < gaps_.all().size(); ++g) {
    const Gap& gap = gaps_.all()[g];
    if (!is_modelled(p_, gap)) continue;
    const double paging =
        p_.paging ? p_.in_joules[at(gap.value)] + share_[g] * p_.out_joules[at(gap.value)] : kInfinity;
    const double joules = std::min({paging, recomputation[g], p_.baseline_joules}) * factor();
    intervals.push_back({gap.from + 1, gap.to - 1, p_.bytes[at(gap.value)], joules});
    ids.push_back(g);
  }
  if (stop()) return false;
  std::optional<GapPacking> packing = pack_intervals(capacity(round % 2 == 0), intervals, stop);
  if (!packing) return false;
  StreamingGuide guide{std::move(packing->price),
                       std::vector<double>(gaps_.all().size(), 0.0),
                       false,
                       caution_,
                       alignment_,
                       round % 4 < 2};
  for (std::size_t i = 0; i < ids.size(); ++i) guide.kept[ids[i]] = packing->kept[i];
  split_page_outs(guide.rent, recomputation);
  std::optional<Stream> before = last_;
  const Stream* const known = before ? &*before : nullptr;
  bool better = consider(streaming_.run(guide, known, stop), caution_);
  guide.kept.clear();  // use the rent only
  if (!stop()) better = consider(streaming_.run(guide, known, stop), caution_) || better;
  return better;
}

// Returns the RAM that each op leaves to other values; `in_whole_parts`: rounded down to multiples of part_,
// which avoids fractions of values.
std::vector<std::int64_t> StreamingSearch::capacity(bool in_whole_parts) const {
  std::vector<std::int64_t> capacity;
  for (int t = 0; t < p_.ops; ++t) {
    const std::int64_t room = std::max<std::int64_t>(0, p_.budget - working_set(p_, t));
    capacity.push_back(in_whole_parts && room > part_ ? room / part_ * part_ : room);
  }
  return capacity;
}

// Shifts the shares of a value's page-out towards the gaps that gain most by paging.
void StreamingSearch::split_page_outs(const std::vector<double>& rent,
                                      const std::vector<double>& recomputation) {
  std::vector<double> sum{0};
  for (const double x : rent) sum.push_back(sum.back() + x);
  const auto wants = [&](std::size_t g) {
    const Gap& gap = gaps_.all()[g];
    if (!is_modelled(p_, gap)) return 0.0;
    const double keeping =
        (sum[at(gap.to)] - sum[at(gap.from) + 1]) * static_cast<double>(p_.bytes[at(gap.value)]);
    return std::max(0.0, std::min(keeping, recomputation[g]) - p_.in_joules[at(gap.value)]);
  };
  for (int v = 0; v < p_.values; ++v) {
    double all = 0;
    for (const std::size_t g : gaps_.of(v)) all += wants(g);
    if (all <= 0) continue;
    for (const std::size_t g : gaps_.of(v)) share_[g] = 0.5 * share_[g] + 0.5 * wants(g) / all;
  }
}

}  // namespace poet
