#include "poet/optimize/heuristic/streaming_prices.h"

#include <algorithm>
#include <numeric>

#include "poet/optimize/heuristic/prices_in_room.h"
#include "poet/optimize/heuristic/streaming.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

// Predicts the price of recomputing a value at the end of each gap.
class Foresight {
 public:
  Foresight(const Problem& p, const Gaps& gaps, const Stream* before)
      : p_(p), gaps_(gaps), before_(before), known_(p.values) {}

  // By the op at the end, so that gaps with the same one share the prices of operands. When stopped, those
  // that are left are infinite.
  std::vector<double> prices(const std::function<bool()>& stop) {
    constexpr std::size_t kPoll = 64;
    std::vector<double> prices(gaps_.all().size(), kInfinity);
    std::size_t looked_at = 0;
    int stage = -1;
    std::int64_t room = 0;
    for (const std::size_t g : by_end()) {
      const Gap& gap = gaps_.all()[g];
      if (looked_at++ % kPoll == 0 && stop()) break;
      if (gap.to != stage) {
        stage = gap.to;
        room = p_.budget - bytes_of(p_.reads[at(stage)]);
        known_.forget();
      }
      prices[g] = recomputing(gap.value, stage, room, 0).price;
    }
    return prices;
  }

 private:
  // The gaps that end with an op.
  [[nodiscard]] std::vector<std::size_t> by_end() const {
    const auto end = [&](std::size_t g) { return gaps_.all()[g].to; };
    std::vector<std::size_t> order;
    for (std::size_t g = 0; g < gaps_.all().size(); ++g)
      if (end(g) < p_.ops) order.push_back(g);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return end(a) < end(b); });
    return order;
  }

  [[nodiscard]] std::int64_t bytes_of(const std::vector<int>& values) const {
    std::int64_t bytes = 0;
    for (const int v : values) bytes += p_.bytes[at(v)];
    return bytes;
  }

  // The price is infinite if it is impossible. `room`: RAM left by the operands of the op that needs `v`.
  PriceInRoom recomputing(int v, int stage, std::int64_t room, int depth) {
    const int op = p_.producer[at(v)];
    if ((depth >= kStreamDepth && !p_.reads[at(op)].empty()) || stage > p_.recompute_until[at(op)]) return {};
    if (const PriceInRoom* known = known_.find(v, depth, room)) return *known;
    const std::int64_t taken = beside(p_.reads[at(op)], stage) + beside(p_.writes[at(op)], stage);
    PriceInRoom made;
    made.compare(room, taken + p_.workspace[at(op)]);
    if (room >= taken + p_.workspace[at(op)]) {
      made.price = price_of(p_, op);
      for (const int u : p_.reads[at(op)]) {
        if (made.price == kInfinity) break;
        made.price += bringing(u, stage, room - taken, depth, taken, made);
      }
    }
    known_.remember(v, depth, made);
    return made;
  }

  // The bytes of those values that the op does not read.
  [[nodiscard]] std::int64_t beside(const std::vector<int>& values, int stage) const {
    std::int64_t bytes = 0;
    for (const int u : values)
      if (!contains(p_.reads[at(stage)], u)) bytes += p_.bytes[at(u)];
    return bytes;
  }

  // Of an operand, for the recomputation `of` a value that has taken these bytes.
  double bringing(int u, int stage, std::int64_t room, int depth, std::int64_t taken, PriceInRoom& of) {
    if (contains(p_.reads[at(stage)], u) || is_there(u, stage)) return 0;
    double paging = kInfinity;
    if (p_.paging) paging = p_.in_joules[at(u)] + (is_used_after(u, stage) ? 0 : p_.out_joules[at(u)]);
    const PriceInRoom again = recomputing(u, stage, room, depth + 1);
    of.depend(again, taken);
    return std::min(paging, again.price);
  }

  // Returns whether `before` has `u` in RAM at `stage`, for a first computation or use of its own.
  [[nodiscard]] bool is_there(int u, int stage) const {
    if (before_ == nullptr) return false;
    const auto& all = before_->in_ram[at(u)];
    const auto next = std::upper_bound(all.begin(), all.end(), stage,
                                       [](int t, const RamInterval& r) { return t < r.from; });
    if (next == all.begin()) return false;
    const RamInterval& residence = *(next - 1);
    if (residence.to <= stage) return false;
    if (residence.from <= p_.producer[at(u)]) return true;
    const auto& users = p_.users[at(u)];
    const auto use = std::lower_bound(users.begin(), users.end(), residence.from);
    return use != users.end() && *use < residence.to;
  }

  [[nodiscard]] bool is_used_after(int u, int stage) const {
    return !p_.users[at(u)].empty() && p_.users[at(u)].back() > stage;
  }

  const Problem& p_;
  const Gaps& gaps_;
  const Stream* before_;
  PricesInRoom known_;
};

}  // namespace

std::vector<double> Streaming::recomputation(const Stream* before, const std::function<bool()>& stop) const {
  return Foresight(p_, gaps_, before).prices(stop);
}

}  // namespace poet
