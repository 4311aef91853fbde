// Which values a streaming pass evicts, and how they can come back.

#include <algorithm>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/streaming_pass.h"
#include "poet/optimize/heuristic/streaming_prices.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {

double StreamingPass::loss(int v) {
  return std::max(0.0, recent_rank(v)) * static_cast<double>(p_.bytes[at(v)]);
}

double StreamingPass::rank(int v) const {
  const std::size_t g = gap_of(v);
  const Gap& gap = gaps_.all()[g];
  if (gap.to >= p_.ops) return values_[at(v)].is_wanted_stored && !values_[at(v)].is_stored ? 0 : -1;
  if (guide_.by_distance) return 1.0 / (gap.to - t_ + 1);
  const double away = gap.to <= t_ ? 0 : rent_[at(gap.to)] - rent_[at(t_)];
  const auto bytes = static_cast<double>(p_.bytes[at(v)]);
  const double kept = guide_.kept.empty() ? 0 : guide_.kept[g];
  return 1e6 * kept + price_of_return(v, g) / (bytes * (away + 1e-9 * rent_.back() + 1e-300));
}

double StreamingPass::price_of_return(int v, std::size_t g) const {
  const double paging =
      p_.paging ? p_.in_joules[at(v)] + (values_[at(v)].is_stored ? 0 : p_.out_joules[at(v)]) : kInfinity;
  return std::min(paging, recomputation_[g]);
}

// Returns the rank, cached for some evictions if there are many values, since it changes slowly.
double StreamingPass::recent_rank(int v) {
  constexpr std::size_t kMany = 64;
  Recent& recent = values_[at(v)].recent;
  const auto fresh = static_cast<long>(ram_.values().size() / kMany);
  if (recent.looked_up < 0 || recent.uses != values_[at(v)].uses || recent.looked_up + fresh < evictions_)
    recent = {rank(v), values_[at(v)].uses, evictions_};
  return recent.rank;
}

// Selects the values of lowest rank, then evicts those of them that are necessary.
bool StreamingPass::make_room(std::int64_t more) {
  if (ram_.bytes() + more <= p_.budget) return true;
  ++evictions_;
  ranked_.clear();
  for (const int v : ram_.values())
    if (!ram_.is_pinned(v)) ranked_.push_back({recent_rank(v), v});
  const auto later = [](const Ranked& a, const Ranked& b) { return b < a; };
  std::make_heap(ranked_.begin(), ranked_.end(), later);
  std::int64_t excess = ram_.bytes() + more - p_.budget;
  lowest_.clear();
  while (!ranked_.empty() && excess > 0) {
    std::pop_heap(ranked_.begin(), ranked_.end(), later);
    lowest_.push_back(ranked_.back());
    ranked_.pop_back();
    excess -= p_.bytes[at(lowest_.back().value)];
  }
  if (excess > 0) return false;
  for (std::size_t i = lowest_.size(); i-- > 0;) {
    const std::int64_t bytes = p_.bytes[at(lowest_[i].value)];
    if (excess + bytes <= 0 && lowest_[i].rank >= 0) {
      excess += bytes;
      continue;
    }
    if (!evict(lowest_[i].value)) return false;
  }
  return true;
}

bool StreamingPass::evict(int v) {
  const std::size_t g = gap_of(v);
  const bool used = gaps_.all()[g].to < p_.ops;
  if (!values_[at(v)].is_stored && (used || values_[at(v)].is_wanted_stored)) {
    const double paging = p_.paging ? p_.in_joules[at(v)] + p_.out_joules[at(v)] : kInfinity;
    const bool drops = used && !values_[at(v)].is_wanted_stored && recomputation_[g] < paging &&
                       secure(v, gaps_.all()[g].to);
    if (!drops) {
      if (!p_.paging) return false;
      store(v);
    }
  }
  leave(v);
  return true;
}

// Ensures that the operands for recomputing `v` before op `stage` are not lost. Returns false if that is
// impossible or the recomputation does not fit beside the op's operands.
bool StreamingPass::secure(int v, int stage) {
  known_.forget();
  return secure(v, stage, room_for(stage), 0).price == 0;
}

// The price is 0 if they are ensured to be there, with what is in `room` recomputed; else infinite. What is
// known for a room has been ensured.
PriceInRoom StreamingPass::secure(int v, int stage, std::int64_t room, int depth) {
  const int op = p_.producer[at(v)];
  if ((depth >= kStreamDepth && !p_.reads[at(op)].empty()) || stage > p_.recompute_until[at(op)]) return {};
  if (const PriceInRoom* known = known_.find(v, depth, room)) return *known;
  std::int64_t taken = 0;
  const auto& read = p_.reads[at(stage)];
  for (const auto* values : {&p_.reads[at(op)], &p_.writes[at(op)]})
    for (const int u : *values)
      if (!contains(read, u)) taken += p_.bytes[at(u)];
  PriceInRoom made;
  made.compare(room, taken + p_.workspace[at(op)]);
  bool done = room >= taken + p_.workspace[at(op)];
  for (const int u : p_.reads[at(op)]) {
    if (!done) break;
    if (values_[at(u)].is_stored) continue;
    const PriceInRoom again = secure(u, stage, room - taken, depth + 1);
    made.depend(again, taken);
    if (again.price == 0) continue;
    done = ram_.has(u) && p_.paging;
    if (done) values_[at(u)].is_wanted_stored = true;
  }
  if (done) made.price = 0;
  known_.remember(v, depth, made);
  return made;
}

std::int64_t StreamingPass::room_for(int stage) const {
  std::int64_t room = p_.budget;
  for (const int u : p_.reads[at(stage)]) room -= p_.bytes[at(u)];
  return room;
}

}  // namespace poet
