#include "poet/optimize/heuristic/streaming_prices.h"

#include <algorithm>

#include "poet/optimize/heuristic/streaming.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

// Predicts the price of recomputing a value at the end of each gap.
class Foresight {
 public:
  Foresight(const Problem& p, const Gaps& gaps, const Stream* before) : p_(p), gaps_(gaps), before_(before) {}

  std::vector<double> prices() {
    std::vector<double> prices(gaps_.all().size(), kInfinity);
    for (std::size_t g = 0; g < prices.size(); ++g) {
      const Gap& gap = gaps_.all()[g];
      if (gap.to >= p_.ops) continue;
      room_ = p_.budget - bytes_of(p_.reads[at(gap.to)]);
      prices[g] = recomputing(gap.value, gap.to, 0);
    }
    return prices;
  }

 private:
  [[nodiscard]] std::int64_t bytes_of(const std::vector<int>& values) const {
    std::int64_t bytes = 0;
    for (const int v : values) bytes += p_.bytes[at(v)];
    return bytes;
  }

  // Returns the price, or infinity. `room_`: RAM left by the operands of the op that needs `v`.
  double recomputing(int v, int stage, int depth) {
    const int op = p_.producer[at(v)];
    if ((depth >= kStreamDepth && !p_.reads[at(op)].empty()) || stage > p_.recompute_until[at(op)])
      return kInfinity;
    const auto& users = p_.reads[at(stage)];
    const auto beside = [&](const std::vector<int>& values) {
      std::int64_t bytes = 0;
      for (const int u : values)
        if (!contains(users, u)) bytes += p_.bytes[at(u)];
      return bytes;
    };
    const std::int64_t needed = beside(p_.reads[at(op)]) + beside(p_.writes[at(op)]);
    if (needed + p_.workspace[at(op)] > room_) return kInfinity;
    room_ -= needed;
    double price = price_of(p_, op);
    for (const int u : p_.reads[at(op)]) {
      if (price == kInfinity) break;
      price += bringing(u, stage, depth);
    }
    room_ += needed;
    return price;
  }

  double bringing(int u, int stage, int depth) {
    if (contains(p_.reads[at(stage)], u) || is_there(u, stage)) return 0;
    double paging = kInfinity;
    if (p_.paging) paging = p_.in_joules[at(u)] + (is_used_after(u, stage) ? 0 : p_.out_joules[at(u)]);
    return std::min(paging, recomputing(u, stage, depth + 1));
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
  std::int64_t room_ = 0;
};

}  // namespace

std::vector<double> Streaming::recomputation(const Stream* before) const {
  return Foresight(p_, gaps_, before).prices();
}

}  // namespace poet
