#include "poet/optimize/relaxation/gap_relaxation.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "poet/base/numbers.h"

namespace poet {
namespace {

// Ways to restore a value, in place of the index of a link that is paged in.
constexpr int kPagedIn = -1;
constexpr int kFromNothing = -2;  // the whole chain is recomputed
constexpr int kFromKept = -3;     // recomputed from a value that is kept throughout

// Projects the point onto the simplex of non-negative entries with sum `total`.
void project(const std::vector<double*>& point, double total) {
  std::vector<double> sorted;
  for (const double* x : point) sorted.push_back(*x);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0;
  double shift = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double all = (sum - total) / static_cast<double>(i + 1);
    if (sorted[i] - all > 0) shift = all;
  }
  double rounded = 0;
  for (double* x : point) rounded += * x = std::max(0.0, *x - shift);
  if (rounded > total)
    for (double* x : point) *x *= total / rounded;
}

}  // namespace

GapRelaxation::GapRelaxation(const Problem& problem, const Gaps& gaps)
    : p_(problem),
      gaps_(gaps),
      operand_(at(problem.values), -1),
      may_be_resident_(at(problem.values), 0),
      index_(gaps.all().size(), -1),
      parts_(gaps.all().size(), Parts{}),
      takes_part_(gaps.all().size()),
      claims_(at(problem.values)),
      most_(problem.baseline_joules),
      bound_(problem.baseline_joules) {
  for (const Resident& resident : p_.residents) {
    bound_ -= resident.joules;
    may_be_resident_[at(resident.value)] = 1;
  }
  for (int t = 0; t < p_.ops; ++t)
    capacity_.push_back(std::max<std::int64_t>(0, p_.budget - working_set(p_, t)));
  link_operands();
  for (std::size_t g = 0; g < index_.size(); ++g) {
    const Gap& gap = gaps_.all()[g];
    if (gap.to >= p_.ops || gap.to < gap.from + 2) continue;
    index_[g] = static_cast<int>(modelled_.size());
    modelled_.push_back({g, p_.bytes[at(gap.value)], recompute_price(gap.value, gap.from), 0, 0, {}});
  }
  for (int m = 0; m < static_cast<int>(modelled_.size()); ++m) {
    Modelled& gap = modelled_[at(m)];
    add_chain(gap);
    takes_part_[gap.id][0] = 1;
    claims_[at(gaps_.all()[gap.id].value)].push_back({m, kPagedIn});
    for (int k = 0; k < static_cast<int>(gap.chain.size()); ++k) {
      ++takes_part_[gap.chain[at(k)].id][at(k) + 1];
      claims_[at(gap.chain[at(k)].value)].push_back({m, k});
    }
  }
  for (std::size_t g = 0; g < parts_.size(); ++g) {
    const int count = std::accumulate(takes_part_[g].begin(), takes_part_[g].end(), 0);
    for (std::size_t k = 0; k < parts_[g].size(); ++k)
      if (count > 0) parts_[g][k] = static_cast<double>(takes_part_[g][k]) / count;
  }
  for (int v = 0; v < p_.values; ++v)
    for (const Claim& claim : claims_[at(v)])
      share(claim) = p_.out_joules[at(v)] / static_cast<double>(claims_[at(v)].size());
  for (Modelled& gap : modelled_) gap.fee = most_;
  std::vector<double> fees;
  for (Modelled& gap : modelled_) fees.push_back(way_back(gap).joules - least_price(gap));
  for (std::size_t m = 0; m < modelled_.size(); ++m)
    modelled_[m].fee = modelled_[m].chain.empty() ? 0 : std::max(0.0, fees[m]);
}

// Links each value to an operand from which it is recomputed: the costliest to restore of those not linked to
// another value. The cost includes the page-out if nothing else reads the operand later.
void GapRelaxation::link_operands() {
  std::vector<char> taken(at(p_.values), 0);
  for (int op = 0; op < p_.ops; ++op) {
    for (const int v : p_.writes[at(op)]) {
      double most = 0;
      for (const int u : p_.reads[at(op)]) {
        if (taken[at(u)]) continue;
        const bool read_later = p_.users[at(u)].back() > op;
        const double joules = p_.in_joules[at(u)] + (read_later ? 0 : p_.out_joules[at(u)]);
        if (joules <= most) continue;
        most = joules;
        operand_[at(v)] = u;
      }
      if (operand_[at(v)] >= 0) taken[at(operand_[at(v)])] = 1;
    }
  }
}

// Returns the price of a page-in, or infinity without storage. If transfers block compute, it includes the
// idle energy of their time.
double GapRelaxation::page_in_price(int value) const {
  if (!p_.paging) return kInfinity;
  const bool blocks = p_.transfers_take_time() && !p_.concurrent;
  return p_.in_joules[at(value)] + (blocks ? p_.idle_watts * p_.in_seconds[at(value)] : 0);
}

double GapRelaxation::recompute_price(int value, int after) const {
  const int op = p_.producer[at(value)];
  if (after + 1 > p_.recompute_until[at(op)]) return kInfinity;
  return (p_.joules[at(op)] + p_.idle_watts * p_.seconds[at(op)]) /
         static_cast<double>(p_.writes[at(op)].size());
}

void GapRelaxation::add_chain(Modelled& modelled) const {
  const Gap& gap = gaps_.all()[modelled.id];
  double recompute = modelled.recompute;
  for (int u = operand_[at(gap.value)]; u >= 0 && recompute < kInfinity; u = operand_[at(u)]) {
    if (modelled.chain.size() == kLinks) return;
    const auto& users = p_.users[at(u)];
    const auto next = std::upper_bound(users.begin(), users.end(), gap.from);
    if (next != users.end() && *next < gap.to) return;
    const std::size_t id = gaps_.of(u)[static_cast<std::size_t>(next - users.begin())];
    // It may be there as a resident, whose bytes count already.
    if (may_be_resident_[at(u)] && index_[id] < 0) return;
    recompute = recompute_price(u, gap.from);
    modelled.chain.push_back({u, id, recompute});
    modelled.bytes = std::min(modelled.bytes, p_.bytes[at(u)]);
  }
}

double& GapRelaxation::share(const Claim& claim) {
  Modelled& gap = modelled_[at(claim.gap)];
  return claim.link == kPagedIn ? gap.paging : gap.chain[at(claim.link)].paging;
}

// Returns the gap's part of the price of restoring the value itself (kPagedIn) or a link.
double GapRelaxation::part(const Modelled& gap, int link) const {
  return link == kPagedIn ? parts_[gap.id][0] : parts_[gap.chain[at(link)].id][at(link) + 1];
}

// Returns what the gap pays to restore the value itself or a link, by paging or recomputation.
double GapRelaxation::price(const Modelled& gap, int link, bool paged) const {
  const int v = link == kPagedIn ? gaps_.all()[gap.id].value : gap.chain[at(link)].value;
  const double recompute = link == kPagedIn ? gap.recompute : gap.chain[at(link)].recompute;
  const double whole = paged ? page_in_price(v) : recompute;
  if (whole == kInfinity) return kInfinity;
  const double shared = link == kPagedIn ? gap.paging : gap.chain[at(link)].paging;
  return part(gap, link) * whole + (paged ? shared : 0);
}

double GapRelaxation::least_price(const Modelled& gap) const {
  const double whole = std::min(gap.recompute, page_in_price(gaps_.all()[gap.id].value));
  return whole == kInfinity ? most_ : std::min(most_, part(gap, kPagedIn) * whole);
}

GapRelaxation::Way GapRelaxation::way_back(const Modelled& gap) const {
  Way best{price(gap, kPagedIn, true), kPagedIn};
  const auto consider = [&](double joules, int link) {
    if (joules < best.joules) best = {joules, link};
  };
  double sum = price(gap, kPagedIn, false);
  bool held = false;
  for (int k = 0; k < static_cast<int>(gap.chain.size()); ++k) {
    consider(sum + price(gap, k, true), k);
    sum += price(gap, k, false);
    held = held || index_[gap.chain[at(k)].id] >= 0;
  }
  consider(sum, kFromNothing);
  if (held) consider(least_price(gap) + gap.fee, kFromKept);
  best.joules = std::min(best.joules, most_);
  return best;
}

// Returns what residence of some values saves, at most, beyond keeping their gaps one by one and beyond what
// the packing counts for them, at these prices of a byte: a resident value takes its bytes, not rounded up,
// while any op runs, and none of its gaps costs anything.
double GapRelaxation::saved_by_residence(const std::vector<PackedInterval>& intervals,
                                         const std::vector<double>& prices) const {
  std::vector<double> sum(prices.size() + 1, 0.0);
  for (std::size_t t = 0; t < prices.size(); ++t) sum[t + 1] = sum[t] + prices[t];
  double saved = 0;
  for (const Resident& resident : p_.residents) {
    const double counted = resident.joules - static_cast<double>(resident.bytes) * sum.back();
    double more = counted;
    const auto as_loaded = static_cast<double>(p_.bytes[at(resident.value)]);  // as working sets count it
    more += as_loaded * prices[at(p_.producer[at(resident.value)])];
    for (const int user : p_.users[at(resident.value)]) more += as_loaded * prices[at(user)];
    for (const std::size_t id : gaps_.of(resident.value)) {
      if (index_[id] < 0) continue;
      const PackedInterval& gap = intervals[at(index_[id])];
      const double rent = static_cast<double>(gap.bytes) * (sum[at(gap.last) + 1] - sum[at(gap.first)]);
      more += std::min(gap.joules, rent);  // kept by itself it saves the rest
    }
    saved += std::max(0.0, more) - std::max(0.0, counted);
  }
  return saved;
}

std::optional<double> GapRelaxation::improve(double target, const std::function<bool()>& stop) {
  std::vector<double> worth(modelled_.size(), 0.0);
  std::vector<Way> ways;
  double all = 0;
  for (std::size_t m = 0; m < modelled_.size(); ++m) {
    const Modelled& gap = modelled_[m];
    ways.push_back(way_back(gap));
    all += ways.back().joules;
    worth[m] += ways.back().joules;
    for (const Link& link : gap.chain)
      if (const int held = index_[link.id]; held >= 0) worth[at(held)] += gap.fee;
  }
  std::vector<PackedInterval> intervals;
  for (std::size_t m = 0; m < modelled_.size(); ++m) {
    const Gap& gap = gaps_.all()[modelled_[m].id];
    intervals.push_back({gap.from + 1, gap.to - 1, modelled_[m].bytes, worth[m]});
  }
  // So that prices know of them, though not of the gaps that are kept with them.
  for (const Resident& resident : p_.residents)
    intervals.push_back({0, p_.ops - 1, resident.bytes, resident.joules});
  const std::optional<GapPacking> packed = pack_intervals(capacity_, intervals, stop);
  if (!packed) return std::nullopt;
  const GapPacking& packing = *packed;
  const double bound =
      p_.baseline_joules + all - packing.saved - saved_by_residence(intervals, packing.price);
  bound_ = std::max(bound_, bound);
  rent_ = packing.price;
  kept_.assign(gaps_.all().size(), 0);
  for (std::size_t m = 0; m < modelled_.size(); ++m) kept_[modelled_[m].id] = packing.kept[m];
  step(ways, packing, target - bound);
  return bound;
}

// Takes a subgradient step by Polyak's rule. Multipliers are joules, or fractions of `unit` joules, so that
// subgradients count gaps.
void GapRelaxation::step(const std::vector<Way>& ways, const GapPacking& packing, double missing) {
  std::vector<Parts> slopes(parts_.size(), Parts{});
  std::vector<double> fees(modelled_.size(), 0.0);
  std::vector<std::pair<Claim, double>> claims;
  const auto unit = [&](std::size_t g) {
    const int v = gaps_.all()[g].value;
    const int op = p_.producer[at(v)];
    return std::max(1e-12 * most_, p_.paging ? p_.in_joules[at(v)] : p_.joules[at(op)]);
  };
  for (int m = 0; m < static_cast<int>(modelled_.size()); ++m) {
    const Modelled& gap = modelled_[at(m)];
    const double broken = 1 - packing.kept[at(m)];
    const int way = ways[at(m)].link;
    const bool counts = ways[at(m)].joules < most_;
    const auto pays = [&](std::size_t g, int link, double joules) {
      if (counts && joules < kInfinity) slopes[g][at(link + 1)] += broken * joules / unit(g);
    };
    const int v = gaps_.all()[gap.id].value;
    if (way == kPagedIn) pays(gap.id, -1, page_in_price(v));
    if (way == kFromKept) pays(gap.id, -1, std::min(gap.recompute, page_in_price(v)));
    if (way == kFromNothing || way >= 0) pays(gap.id, -1, gap.recompute);
    if (way == kPagedIn || way >= 0) claims.push_back({{m, way}, broken});
    if (way == kFromKept && counts) fees[at(m)] += broken;
    for (int k = 0; k < static_cast<int>(gap.chain.size()); ++k) {
      const Link& link = gap.chain[at(k)];
      if (index_[link.id] >= 0) fees[at(m)] -= packing.kept[at(index_[link.id])];
      if (way == k) pays(link.id, k, page_in_price(link.value));
      if (way == kFromNothing || way > k) pays(link.id, k, link.recompute);
    }
    if (fees[at(m)] < 0 && gap.fee == 0) fees[at(m)] = 0;
  }
  double norm = 0;
  for (const Parts& parts : slopes)
    for (const double slope : parts) norm += slope * slope;
  for (const double slope : fees) norm += slope * slope;
  for (const auto& [claim, slope] : claims) norm += slope * slope;
  if (norm == 0 || missing <= 0) return;
  const double length = missing / norm;

  for (std::size_t m = 0; m < modelled_.size(); ++m)
    modelled_[m].fee = std::max(0.0, modelled_[m].fee + length * fees[m]);
  std::vector<double*> point;
  for (std::size_t g = 0; g < parts_.size(); ++g) {
    point.clear();
    for (std::size_t k = 0; k < parts_[g].size(); ++k) {
      if (takes_part_[g][k] == 0) continue;
      parts_[g][k] += length * slopes[g][k] / unit(g);
      point.push_back(&parts_[g][k]);
    }
    if (point.size() > 1) project(point, 1);
    if (point.size() == 1) *point.front() = 1;
  }
  for (const auto& [claim, slope] : claims) share(claim) += length * slope;
  for (int v = 0; v < p_.values; ++v) {
    point.clear();
    for (const Claim& claim : claims_[at(v)]) point.push_back(&share(claim));
    if (!point.empty()) project(point, p_.out_joules[at(v)]);
  }
}

}  // namespace poet
