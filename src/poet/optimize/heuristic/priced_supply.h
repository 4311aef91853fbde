#pragma once

// Recomputes a value in a stage, with its operands: each operand that is not in RAM is retained until then at
// the prices of overflow, paged in, or recomputed in turn, whichever is cheapest.

#include <functional>
#include <vector>

#include "poet/optimize/heuristic/incremental.h"
#include "poet/optimize/heuristic/overflow_prices.h"

namespace poet {

class PricedSupply {
 public:
  /// `draw` returns a random factor for each price that is compared, so that repeated calls differ.
  PricedSupply(IncrementalReplay& replay, const OverflowPrices& prices, std::function<double()> draw);

  /// Recomputes the op in the stage, if possible, without IncrementalReplay::update(). O(ops considered *
  /// stages across which their results may be retained); after 10,000 of them the others are not recomputed.
  void recompute(int op, int stage);

  [[nodiscard]] bool can_page(int value, int stage) const;
  [[nodiscard]] bool can_recompute(int value, int stage) const;

 private:
  enum class Means : char { undecided, keep, page, recompute };

  double price_of_op(int op, int stage, double most, int depth);
  double price_of_value(int value, int stage, double most, int depth);
  [[nodiscard]] double price_of_paging(int value) const;
  [[nodiscard]] double price_alone(int op) const;
  void carry_out(int op, int stage);
  void decide(int value, Means means);
  void take_back_to(std::size_t decisions);
  [[nodiscard]] bool available(int value, int stage) const;

  IncrementalReplay& r_;
  const Problem& p_;
  const OverflowPrices& prices_;
  std::function<double()> draw_;
  std::vector<Means> means_;  // per value; undecided between calls
  std::vector<int> decided_;  // the values that are not
  int considered_ = 0;        // in this call
};

}  // namespace poet
