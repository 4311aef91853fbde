#pragma once

// Brings a value back in a stage, with all that this needs: for each operand that is not in RAM then, the
// cheapest of keeping it until then at the prices of overflow, paging it in, and recomputing it in turn.

#include <functional>
#include <vector>

#include "poet/optimize/heuristic/incremental.h"
#include "poet/optimize/heuristic/overflow_prices.h"

namespace poet {

class PricedSupply {
 public:
  /// `draw` is asked for a factor on each price that is compared, so that repeated calls differ.
  PricedSupply(IncrementalReplay& replay, const OverflowPrices& prices, std::function<double()> draw);

  /// Recomputes op in the stage, where that is possible. Not updated. O(ops that are considered * stages that
  /// their results would be kept over).
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
};

}  // namespace poet
