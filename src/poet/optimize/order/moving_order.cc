#include "poet/optimize/order/moving_order.h"

#include <algorithm>

#include "poet/base/numbers.h"

namespace poet {
namespace {

constexpr int kPeakBlock = 64;  // positions that share a peak

}  // namespace

MovingOrder::MovingOrder(const OrderCosts& costs, std::vector<int> order, std::int64_t share)
    : c_(costs),
      order_(std::move(order)),
      share_(share),
      position_(order_.size()),
      last_user_(costs.bytes.size(), -1),
      freed_(costs.unread),
      beside_(costs.workspace),
      ram_(order_.size()),
      left_(order_.size()),
      peaks_(order_.size() / kPeakBlock + 1) {
  for (int i = 0; i < c_.ops; ++i) position_[at(order_[at(i)])] = i;
  for (int v = 0; v < static_cast<int>(c_.users.size()); ++v) find_last_user(v);
  for (int op = 0; op < c_.ops; ++op) find_beside(op);
  // replay() subtracts the previous excess of each position over the share, which is zero at first.
  std::fill(ram_.begin(), ram_.end(), share_);
  replay(0, c_.ops - 1);
}

std::pair<int, int> MovingOrder::window(int first, int count) const {
  int low = 0;
  int high = c_.ops;  // one past the last position that the ops may take
  for (int i = first; i < first + count; ++i) {
    const std::size_t op = at(order_[at(i)]);
    for (const int other : c_.before[op]) {
      const int place = position_[at(other)];
      if (place < first) low = std::max(low, place + 1);
    }
    for (const int other : c_.after[op]) {
      const int place = position_[at(other)];
      if (place >= first + count) high = std::min(high, place);
    }
  }
  return {low, high - count};
}

void MovingOrder::move(int first, int count, int to) {
  if (first == to) return;
  shift(first, count, to);
  for (int i = to; i < to + count; ++i)
    for (const int v : c_.reads[at(order_[at(i)])]) find_last_user(v);
  replay(std::min(first, to), std::max(first, to) + count - 1);
}

OrderRam MovingOrder::ram() const { return {*std::max_element(peaks_.begin(), peaks_.end()), beyond_}; }

void MovingOrder::shift(int first, int count, int to) {
  const auto begin = order_.begin();
  if (to < first) {
    std::rotate(begin + to, begin + first, begin + first + count);
  } else {
    std::rotate(begin + first, begin + first + count, begin + to + count);
  }
  for (int i = std::min(first, to); i < std::max(first, to) + count; ++i) position_[at(order_[at(i)])] = i;
}

void MovingOrder::find_last_user(int value) {
  const std::size_t v = at(value);
  int last = -1;
  int place = -1;
  for (const int user : c_.users[v]) {
    if (position_[at(user)] <= place) continue;
    place = position_[at(user)];
    last = user;
  }
  const int before = last_user_[v];
  if (before == last) return;
  last_user_[v] = last;
  freed_[at(last)] += c_.bytes[v];
  find_beside(last);
  if (before < 0) return;
  freed_[at(before)] -= c_.bytes[v];
  find_beside(before);
}

// Updates the op's bytes besides its results: workspace, less one operand that the result overwrites (all
// candidates have the result's size).
void MovingOrder::find_beside(int op) {
  std::int64_t covered = 0;
  for (const int v : c_.may_cover[at(op)])
    if (last_user_[at(v)] == op) covered = c_.bytes[at(v)];
  beside_[at(op)] = c_.workspace[at(op)] - covered;
}

void MovingOrder::replay(int from, int to) {
  std::int64_t ram = from == 0 ? 0 : left_[at(from - 1)];
  for (int i = from; i <= to; ++i) {
    const std::size_t op = at(order_[at(i)]);
    ram += c_.produced[op];
    const std::int64_t now = ram + beside_[op];
    beyond_ += static_cast<double>(std::max<std::int64_t>(0, now - share_) -
                                   std::max<std::int64_t>(0, ram_[at(i)] - share_));
    ram_[at(i)] = now;
    ram -= freed_[op];
    left_[at(i)] = ram;
  }
  for (int block = from / kPeakBlock; block <= to / kPeakBlock && from <= to; ++block) {
    const auto begin = ram_.begin() + std::ptrdiff_t{block} * kPeakBlock;
    peaks_[at(block)] = *std::max_element(begin, std::min(begin + kPeakBlock, ram_.end()));
  }
}

OrderRam ram_of(const OrderCosts& costs, const std::vector<int>& order, std::int64_t share) {
  return MovingOrder(costs, order, share).ram();
}

}  // namespace poet
