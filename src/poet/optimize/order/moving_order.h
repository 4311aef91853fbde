#pragma once

// An order in which runs of ops move, with its RAM at every position. A move changes RAM only between its two
// places: before and after, the same values are in RAM.

#include <cstdint>
#include <utility>
#include <vector>

#include "poet/optimize/order/order_costs.h"

namespace poet {

class MovingOrder {
 public:
  /// `costs` must outlive this; `order` must be topological. OrderRam::beyond counts RAM above `share`. O(ops
  /// + edges).
  MovingOrder(const OrderCosts& costs, std::vector<int> order, std::int64_t share);

  /// Returns the earliest and the latest position at which the run of `count` ops from position `first` may
  /// begin, with all other ops in order. O(edges of the run).
  [[nodiscard]] std::pair<int, int> window(int first, int count) const;
  /// Moves the run so that it begins at `to`, within its window. Moving it back restores the state.
  /// O(positions passed + edges of the run, each with the users of the value read + ops / 64).
  void move(int first, int count, int to);

  [[nodiscard]] const std::vector<int>& order() const { return order_; }
  [[nodiscard]] OrderRam ram() const;
  /// RAM while the op at each position runs.
  [[nodiscard]] const std::vector<std::int64_t>& per_position() const { return ram_; }

 private:
  void shift(int first, int count, int to);
  void find_last_user(int value);
  void find_beside(int op);
  void replay(int from, int to);

  const OrderCosts& c_;
  std::vector<int> order_;
  std::int64_t share_;
  std::vector<int> position_;         // per op
  std::vector<int> last_user_;        // per value; -1: unread
  std::vector<std::int64_t> freed_;   // per op, after it has run
  std::vector<std::int64_t> beside_;  // per op: workspace, less the bytes that its result overwrites
  std::vector<std::int64_t> ram_;     // per position
  std::vector<std::int64_t> left_;    // per position: RAM after the op
  std::vector<std::int64_t> peaks_;   // per block of positions
  double beyond_ = 0;
};

/// O(ops + edges).
[[nodiscard]] OrderRam ram_of(const OrderCosts& costs, const std::vector<int>& order, std::int64_t share);

}  // namespace poet
