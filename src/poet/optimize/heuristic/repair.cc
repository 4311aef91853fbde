#include "poet/optimize/heuristic/repair.h"

#include <algorithm>
#include <cmath>

#include "poet/base/numbers.h"

namespace poet {

Repair::Repair(IncrementalReplay& replay, std::uint64_t seed)
    : r_(replay),
      p_(replay.problem()),
      random_(seed),
      planned_(at(p_.ops), 0),
      overflowing_(at(p_.ops) + 1, 0) {}

double Repair::uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

int Repair::below(int end) { return static_cast<int>(random_() % static_cast<std::uint64_t>(end)); }

bool Repair::make_fit(double most_joules, long most_steps, const std::function<bool()>& stop) {
  r_.update();
  ++evaluations_;
  stuck_ = false;
  for (long step = 0; r_.overflow() > 0; ++step) {
    if (r_.least_joules() > most_joules || step >= most_steps || stop()) return false;
    const auto& peak = r_.stage_peak();
    const int worst = static_cast<int>(std::max_element(peak.begin(), peak.end()) - peak.begin());
    stuck_ = !relieve(worst);
    if (stuck_) return false;
    ++evaluations_;
  }
  return r_.least_joules() <= most_joules;
}

// Applies changes, cheapest per byte first, to reduce the stage's overflow. Returns false if there are none.
bool Repair::relieve(int stage) {
  const auto& peak = r_.stage_peak();
  for (std::size_t s = 0; s < peak.size(); ++s) overflowing_[s + 1] = overflowing_[s] + (peak[s] > p_.budget);
  find_highest();
  changes_.clear();
  collect_kept(stage, false, changes_);
  collect_local(stage, changes_);
  if (changes_.empty()) collect_kept(stage, true, changes_);
  if (changes_.empty()) return false;
  if (options.noise > 0)
    for (Change& change : changes_) change.price *= std::exp(options.noise * (2 * uniform() - 1));
  const auto costlier = [](const Change& a, const Change& b) {
    if (a.price != b.price) return a.price > b.price;
    return a.id != b.id ? a.id > b.id : a.mechanism > b.mechanism;
  };
  std::make_heap(changes_.begin(), changes_.end(), costlier);
  if (changes_.front().price == kNever) return false;
  // Frees a quarter of the overflow before the next evaluation: several changes if the overflow is large.
  std::int64_t excess = (peak[at(stage)] - p_.budget) / 4;
  std::vector<int> taken;
  while (!changes_.empty()) {
    std::pop_heap(changes_.begin(), changes_.end(), costlier);
    const Change change = changes_.back();
    changes_.pop_back();
    if (change.price == kNever) break;
    if (std::find(taken.begin(), taken.end(), change.id) != taken.end()) continue;
    take(change);
    taken.push_back(change.id);
    excess -= change.mechanism == Mechanism::earlier ? 0 : p_.bytes[at(change.id)];
    if (excess <= 0 || change.mechanism == Mechanism::earlier) break;
  }
  r_.update();
  return true;
}

// Collects evictions of values retained across the stage without use; if `overwritable`, of operands that an
// op of the stage could overwrite with its result.
void Repair::collect_kept(int stage, bool overwritable, std::vector<Change>& changes) {
  work_ += p_.values;
  for (int v = 0; v < p_.values; ++v) {
    if (!p_.active[at(v)] || p_.producer[at(v)] >= stage) continue;
    const auto& kept = r_.retained(v);
    if (kept.empty() || kept.back().last <= stage || !r_.is_retained(v, stage)) continue;
    if (!r_.is_retained(v, stage + 1)) continue;
    const int from = r_.last_event(v, stage + 1);
    if ((from == stage) != overwritable || (overwritable && !can_be_overwritten(v, stage))) continue;
    const int to = r_.next_need(v, stage);
    if (to >= p_.ops || is_protected(v, from, to)) continue;
    const int relieved = overflowing_[at(to)] - overflowing_[std::min(at(from) + 1, at(stage))];
    const double bytes = static_cast<double>(p_.bytes[at(v)]) * std::max(1, relieved);
    freed_ = {from + 1, to - 1, p_.bytes[at(v)]};
    if (options.page && can_page(v, to))
      changes.push_back({price_of_paging(v) / bytes, v, to, Mechanism::page});
    if (options.recompute && can_recompute(v, to)) {
      ++plan_;
      changes.push_back(
          {price_of_recomputing(p_.producer[at(v)], to, kDepth) / bytes, v, to, Mechanism::recompute});
    }
    freed_ = {};
  }
}

// Collects alternatives to the stage's own recomputations and page-ins.
void Repair::collect_local(int stage, std::vector<Change>& changes) {
  for (int op : r_.recomputed_in(stage)) {
    for (int v : p_.writes[at(op)]) {
      if (!options.page || !can_page(v, stage) || r_.is_retained(v, stage - 1) ||
          is_protected(v, stage, stage))
        continue;
      const double bytes = static_cast<double>(p_.bytes[at(v)]);
      const double price = std::max(0.05 * price_of_op(op), price_of_paging(v) - price_of_op(op));
      changes.push_back({price / bytes, v, stage, Mechanism::page_instead});
    }
    if (stage - 1 > op && stage - 1 <= p_.recompute_until[at(op)] && !r_.is_computed(op, stage - 1)) {
      std::int64_t bytes = 1;
      for (int u : p_.reads[at(op)]) bytes += p_.bytes[at(u)];
      changes.push_back({price_of_op(op) / static_cast<double>(bytes), op, stage, Mechanism::earlier});
    }
  }
  if (!p_.transfers_take_ram()) return;
  for (int v : r_.paged_in_in(stage)) {
    if (!options.recompute) break;
    const int need = r_.next_need(v, stage);
    if (need >= p_.ops || !can_recompute(v, need) || is_protected(v, stage, need)) continue;
    ++plan_;
    const double price = price_of_recomputing(p_.producer[at(v)], need, kDepth);
    changes.push_back({price / static_cast<double>(p_.bytes[at(v)]), v, stage, Mechanism::recompute_instead});
  }
}

void Repair::take(const Change& change) {
  switch (change.mechanism) {
    case Mechanism::recompute:
      recompute_with_operands(p_.producer[at(change.id)], change.stage, kDepth);
      break;
    case Mechanism::page:
      page(change.id, change.stage);
      break;
    case Mechanism::page_instead:
      r_.remove_recompute(p_.producer[at(change.id)], change.stage);
      page(change.id, change.stage);
      break;
    case Mechanism::earlier:
      r_.remove_recompute(change.id, change.stage);
      recompute(change.id, change.stage - 1);
      break;
    case Mechanism::recompute_instead: {
      const int need = r_.next_need(change.id, change.stage);
      r_.remove_page_in(change.id, change.stage);
      recompute(p_.producer[at(change.id)], need);
      break;
    }
  }
}

// Returns whether evicting `v` lets an op of the stage write its result over it: all overwritable operands of
// the op are kept now.
bool Repair::can_be_overwritten(int v, int stage) const {
  const auto by = [&](int op) {
    const std::vector<int>& operands = p_.overwritable[at(op)];
    return std::find(operands.begin(), operands.end(), v) != operands.end() &&
           std::all_of(operands.begin(), operands.end(), [&](int u) { return r_.is_retained(u, stage + 1); });
  };
  const std::vector<int>& again = r_.recomputed_in(stage);
  return by(stage) || std::any_of(again.begin(), again.end(), by);
}

bool Repair::is_protected(int v, int from, int to) const {
  return std::any_of(protected_.begin(), protected_.end(),
                     [&](const Spot& s) { return s.value == v && from <= s.stage && s.stage <= to; });
}

}  // namespace poet
