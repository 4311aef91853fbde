#pragma once

// The values in RAM during a streaming pass. Private to streaming*.cc.

#include <cstdint>
#include <vector>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/problem.h"

namespace poet {

/// Every member function is O(1). Computations pin their operands and results, which must not be evicted.
class StreamingRam {
 public:
  explicit StreamingRam(const Problem& problem)
      : p_(problem), place_(at(problem.values), -1), pins_(at(problem.values), 0) {}

  [[nodiscard]] bool has(int v) const { return place_[at(v)] >= 0; }
  [[nodiscard]] bool is_pinned(int v) const { return pins_[at(v)] > 0; }
  [[nodiscard]] const std::vector<int>& values() const { return values_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Returns the bytes of pinned values.
  [[nodiscard]] std::int64_t pinned_bytes() const { return pinned_bytes_; }

  /// Values may be pinned before they are in RAM.
  void pin(int v) {
    if (pins_[at(v)]++ == 0 && has(v)) pinned_bytes_ += p_.bytes[at(v)];
  }
  void unpin(int v) {
    if (--pins_[at(v)] == 0 && has(v)) pinned_bytes_ -= p_.bytes[at(v)];
  }

  void add(int v) {
    place_[at(v)] = static_cast<int>(values_.size());
    values_.push_back(v);
    bytes_ += p_.bytes[at(v)];
    if (is_pinned(v)) pinned_bytes_ += p_.bytes[at(v)];
  }

  void remove(int v) {
    const int last = values_.back();
    values_[at(place_[at(v)])] = last;
    place_[at(last)] = place_[at(v)];
    place_[at(v)] = -1;
    values_.pop_back();
    bytes_ -= p_.bytes[at(v)];
    if (is_pinned(v)) pinned_bytes_ -= p_.bytes[at(v)];
  }

 private:
  const Problem& p_;
  std::vector<int> values_;
  std::vector<int> place_;  // per value, its index in values_; -1: not in RAM
  std::vector<int> pins_;   // per value, the number of active computations with it as operand or result
  std::int64_t bytes_ = 0;
  std::int64_t pinned_bytes_ = 0;
};

}  // namespace poet
