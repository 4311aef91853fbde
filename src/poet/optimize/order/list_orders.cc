#include "poet/optimize/order/list_orders.h"

#include <algorithm>
#include <array>
#include <set>

#include "poet/base/numbers.h"

namespace poet {
namespace {

class Listing {
 public:
  Listing(const OrderCosts& costs, ListRule rule)
      : c_(costs),
        rule_(rule),
        waits_(at(costs.ops)),
        since_(at(costs.ops), -1),
        freed_(costs.unread),
        keys_(at(costs.ops)),
        readers_left_(costs.users.size()),
        listed_(at(costs.ops), 0) {
    for (std::size_t v = 0; v < c_.users.size(); ++v) {
      readers_left_[v] = static_cast<int>(c_.users[v].size());
      if (readers_left_[v] == 1) free_with_last(static_cast<int>(v));
    }
    for (int op = 0; op < c_.ops; ++op) {
      waits_[at(op)] = static_cast<int>(c_.before[at(op)].size());
      if (waits_[at(op)] == 0) make_ready(op);
    }
  }

  std::vector<int> run() {
    while (!ready_.empty()) {
      const int op = static_cast<int>(ready_.begin()->back());
      ready_.erase(ready_.begin());
      order_.push_back(op);
      listed_[at(op)] = 1;
      for (const int v : c_.reads[at(op)])
        if (--readers_left_[at(v)] == 1) free_with_last(v);
      for (const int next : c_.after[at(op)])
        if (--waits_[at(next)] == 0) make_ready(next);
    }
    return order_;
  }

 private:
  // The smallest key is listed next; the last component is the op.
  using Key = std::array<std::int64_t, 4>;

  [[nodiscard]] Key key(int op) const {
    const std::size_t i = at(op);
    if (c_.updates[i] != 0) return {-1, 0, 0, op};
    const std::int64_t grows = c_.produced[i] - freed_[i];
    const std::int64_t needs = c_.produced[i] + c_.workspace[i];
    switch (rule_) {
      case ListRule::given:
        break;
      case ListRule::least:
        return {0, grows, needs, op};
      case ListRule::shrink:
        return grows <= 0 ? Key{0, needs, grows, op} : Key{1, grows - needs, grows, op};
      case ListRule::youngest:
        return {0, -since_[i], grows, op};
    }
    return {0, 0, 0, op};
  }

  void make_ready(int op) {
    since_[at(op)] = static_cast<std::int64_t>(order_.size());
    keys_[at(op)] = key(op);
    ready_.insert(keys_[at(op)]);
  }

  // Credits the value's bytes to its only remaining reader, which frees it.
  void free_with_last(int value) {
    const auto& users = c_.users[at(value)];
    const int last = *std::find_if(users.begin(), users.end(), [&](int op) { return !listed_[at(op)]; });
    freed_[at(last)] += c_.bytes[at(value)];
    if (since_[at(last)] < 0) return;
    ready_.erase(keys_[at(last)]);
    keys_[at(last)] = key(last);
    ready_.insert(keys_[at(last)]);
  }

  const OrderCosts& c_;
  ListRule rule_;
  std::vector<int> waits_;           // per op: predecessors not listed yet
  std::vector<std::int64_t> since_;  // per op: number of ops listed when it became ready; -1: not ready
  std::vector<std::int64_t> freed_;  // per op: bytes known to be freed after it
  std::vector<Key> keys_;            // per op, of ready ops
  std::vector<int> readers_left_;    // per value
  std::vector<char> listed_;         // per op
  std::set<Key> ready_;
  std::vector<int> order_;
};

}  // namespace

std::vector<int> list_order(const OrderCosts& costs, ListRule rule) { return Listing(costs, rule).run(); }

}  // namespace poet
