#include "poet/optimize/heuristic/priced_supply.h"

#include <algorithm>
#include <utility>

#include "poet/base/numbers.h"

namespace poet {
namespace {

constexpr int kSupplyDepth = 60;  // maximum length of a chain of recomputations
// Values whose supply is considered for one recomputation: what was decided below a recomputation that turns
// out too expensive is decided again for the next reader, which may double the effort at every level.
constexpr int kMostConsidered = 10'000;

}  // namespace

PricedSupply::PricedSupply(IncrementalReplay& replay, const OverflowPrices& prices,
                           std::function<double()> draw)
    : r_(replay),
      p_(replay.problem()),
      prices_(prices),
      draw_(std::move(draw)),
      means_(at(p_.values), Means::undecided) {}

void PricedSupply::recompute(int op, int stage) {
  considered_ = 0;
  for (int v : p_.writes[at(op)]) decide(v, Means::recompute);
  price_of_op(op, stage, kInfinity, kSupplyDepth);
  carry_out(op, stage);
  take_back_to(0);
}

bool PricedSupply::can_page(int v, int stage) const {
  return p_.paging && stage - 1 >= p_.producer[at(v)] + 2 && !r_.is_read(v, stage - 1);
}

bool PricedSupply::can_recompute(int v, int stage) const {
  const int op = p_.producer[at(v)];
  return stage > op && stage <= p_.recompute_until[at(op)];
}

bool PricedSupply::available(int v, int stage) const {
  return r_.is_retained(v, stage) || r_.is_computed(p_.producer[at(v)], stage);
}

double PricedSupply::price_alone(int op) const {
  return p_.joules[at(op)] + p_.idle_watts * p_.seconds[at(op)];
}

double PricedSupply::price_of_paging(int v) const {
  return p_.in_joules[at(v)] + (r_.page_out(v) >= 0 ? 0 : p_.out_joules[at(v)]);
}

void PricedSupply::decide(int v, Means means) {
  means_[at(v)] = means;
  decided_.push_back(v);
}

void PricedSupply::take_back_to(std::size_t decisions) {
  while (decided_.size() > decisions) {
    means_[at(decided_.back())] = Means::undecided;
    decided_.pop_back();
  }
}

// Returns the price of recomputing `op` in `stage`; stops early once it exceeds `most`.
double PricedSupply::price_of_op(int op, int stage, double most, int depth) {
  double price = price_alone(op);
  for (int u : p_.reads[at(op)]) {
    if (price >= most) break;
    if (!available(u, stage)) price += price_of_value(u, stage, most - price, depth - 1);
  }
  return price;
}

double PricedSupply::price_of_value(int v, int stage, double most, int depth) {
  if (means_[at(v)] != Means::undecided) return 0;  // already decided for another reader
  Means best = Means::keep;
  double least = prices_.of_keeping(v, stage);
  if (least > 0 && can_page(v, stage)) {
    const double paged = draw_() * price_of_paging(v);
    if (paged < least) {
      least = paged;
      best = Means::page;
    }
  }
  ++considered_;
  if (least > 0 && depth > 0 && considered_ <= kMostConsidered && can_recompute(v, stage)) {
    const double factor = draw_();
    const int op = p_.producer[at(v)];
    if (factor * price_alone(op) < least) {
      const std::size_t decisions = decided_.size();
      decide(v, Means::recompute);
      const double recomputed = factor * price_of_op(op, stage, std::min(least, most) / factor, depth);
      if (recomputed < least) return recomputed;
      take_back_to(decisions);
    }
  }
  decide(v, best);
  return least;
}

void PricedSupply::carry_out(int op, int stage) {
  if (!r_.add_recompute(op, stage)) return;
  for (int u : p_.reads[at(op)]) {
    if (available(u, stage)) continue;
    if (means_[at(u)] == Means::recompute) carry_out(p_.producer[at(u)], stage);
    if (means_[at(u)] == Means::page) r_.add_page_in(u, stage - 1);
  }
}

}  // namespace poet
