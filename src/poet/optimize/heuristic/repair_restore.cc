// How repairs restore a value: the prices of retaining, paging and recomputing it, and the cheapest of these.

#include <algorithm>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/repair.h"

namespace poet {
namespace {

constexpr double kHopeless = 1e3;  // penalty factor if an operand can only be kept: no RAM is gained
constexpr int kBlock = 64;         // stages that share an entry of highest_

}  // namespace

bool Repair::can_page(int v, int stage) const {
  return p_.paging && stage - 1 >= p_.producer[at(v)] + 2 && !r_.is_read(v, stage - 1);
}

bool Repair::can_recompute(int v, int stage) const {
  const int op = p_.producer[at(v)];
  return stage > op && stage <= p_.recompute_until[at(op)];
}

bool Repair::available(int v, int stage) const {
  return r_.is_retained(v, stage) || r_.is_computed(p_.producer[at(v)], stage);
}

void Repair::find_highest() {
  const auto& peak = r_.stage_peak();
  highest_.clear();
  for (std::size_t first = 0; first < peak.size(); first += kBlock) {
    const auto begin = peak.begin() + static_cast<std::ptrdiff_t>(first);
    highest_.push_back(
        *std::max_element(begin, begin + std::min<std::ptrdiff_t>(kBlock, peak.end() - begin)));
  }
}

// Returns whether no stage in [first, last] has a peak above `most`. Latest first: overflow is most likely
// near the stage that needs the value.
bool Repair::stays_below(int first, int last, std::int64_t most) const {
  const auto& peak = r_.stage_peak();
  for (int t = last; t >= first;) {
    if (t % kBlock == kBlock - 1 && t - kBlock + 1 >= first) {
      if (highest_[at(t / kBlock)] > most) return false;
      t -= kBlock;
    } else {
      if (peak[at(t)] > most) return false;
      --t;
    }
  }
  return true;
}

// Returns whether the value fits if it is retained from its last event until `stage`.
bool Repair::fits_until(int v, int stage) const {
  const int first = r_.last_event(v, stage) + 1;
  const std::int64_t most = p_.budget - p_.bytes[at(v)];
  const int freed_first = std::clamp(freed_.first, first, stage + 1);
  const int freed_last = std::clamp(freed_.last, freed_first - 1, stage);
  return stays_below(freed_last + 1, stage, most) &&
         stays_below(freed_first, freed_last, most + freed_.bytes) &&
         stays_below(first, freed_first - 1, most);
}

double Repair::price_of_paging(int v) const {
  const double written =
      p_.out_joules[at(v)] + options.joules_per_byte_written * static_cast<double>(p_.bytes[at(v)]);
  return p_.in_joules[at(v)] + (r_.page_out(v) >= 0 ? 0 : written);
}

double Repair::price_of_op(int op) const {
  return p_.joules[at(op)] + (p_.idle_watts + options.joules_per_second) * p_.seconds[at(op)];
}

double Repair::price_of_recomputing(int op, int stage, int depth) {
  planned_[at(op)] = plan_;
  work_ += 1 + static_cast<long>(p_.reads[at(op)].size());
  double price = price_of_op(op);
  for (int u : p_.reads[at(op)])
    if (!available(u, stage)) price += price_of_bringing(u, stage, depth - 1);
  return price;
}

double Repair::price_of_bringing(int v, int stage, int depth) {
  const int op = p_.producer[at(v)];
  if (planned_[at(op)] == plan_ || fits_until(v, stage)) return 0;
  double price = kNever;
  if (options.page && can_page(v, stage)) price = price_of_paging(v);
  if (options.recompute && depth > 0 && price > price_of_op(op) && can_recompute(v, stage))
    price = std::min(price, price_of_recomputing(op, stage, depth));
  return price == kNever ? kHopeless * price_of_op(op) : price;
}

void Repair::recompute(int op, int stage) {
  find_highest();
  recompute_with_operands(op, stage, kDepth);
}

void Repair::recompute_with_operands(int op, int stage, int depth) {
  if (!r_.add_recompute(op, stage)) return;
  for (int u : p_.reads[at(op)])
    if (!available(u, stage)) bring(u, stage, depth - 1);
}

void Repair::bring(int v, int stage, int depth) {
  if (fits_until(v, stage)) return;
  const int op = p_.producer[at(v)];
  const double paged = options.page && can_page(v, stage) ? price_of_paging(v) : kNever;
  double recomputed = kNever;
  if (options.recompute && depth > 0 && can_recompute(v, stage) && paged > price_of_op(op)) {
    ++plan_;
    recomputed = price_of_recomputing(op, stage, depth);
  }
  if (paged == kNever && recomputed == kNever) return;  // retained even if it does not fit
  if (recomputed <= paged) {
    recompute_with_operands(op, stage, depth);
  } else {
    page(v, stage);
  }
}

bool Repair::page(int v, int stage) { return can_page(v, stage) && r_.add_page_in(v, stage - 1); }

}  // namespace poet
