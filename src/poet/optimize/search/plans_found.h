#pragma once

// The plans of a search: the best one and a few earlier best ones. If the addresses of one do not fit, those
// of another may.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "poet/optimize/search/instant_transfers.h"

namespace poet {

class PlansFound {
 public:
  PlansFound() = default;
  /// `known`: by increasing energy, as take() returns them.
  explicit PlansFound(std::vector<SynchronousPlan> known) : plans_(std::move(known)) {
    std::reverse(plans_.begin(), plans_.end());
  }

  [[nodiscard]] const SynchronousPlan* best() const { return plans_.empty() ? nullptr : &plans_.back(); }
  [[nodiscard]] bool is_better(const SynchronousPlan& made) const {
    return plans_.empty() || made.energy < plans_.back().energy;
  }
  /// Adds a better plan.
  void add(SynchronousPlan made) {
    plans_.push_back(std::move(made));
    if (plans_.size() > kMost) plans_.erase(plans_.begin());
  }

  /// Returns the plans by increasing energy.
  [[nodiscard]] std::vector<SynchronousPlan> take() {
    std::reverse(plans_.begin(), plans_.end());
    return std::exchange(plans_, {});
  }

 private:
  static constexpr std::size_t kMost = 6;

  std::vector<SynchronousPlan> plans_;  // by decreasing energy
};

}  // namespace poet
