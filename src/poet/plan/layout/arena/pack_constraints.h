#pragma once

// What limits the offsets of buffers beside each other: alignments, ranges, and fixed buffers as obstacles.

#include <utility>

#include "poet/plan/layout/arena/sections.h"

namespace poet {

/// Of buffers and sections that outlive it. Calls are O(fixed buffers).
class PackConstraints {
 public:
  /// O(buffers * fixed buffers).
  PackConstraints(const std::vector<Buffer>& buffers, const Sections& sections);

  [[nodiscard]] bool none() const { return none_; }

  /// Returns the lowest offset >= `least`, which is not below the buffer's range, that its alignment and the
  /// fixed buffers allow.
  [[nodiscard]] std::int64_t lowest(int buffer, std::int64_t least) const;

  /// Returns what fixed buffers take of [from, to) in a section.
  [[nodiscard]] std::int64_t taken(int section, std::int64_t from, std::int64_t to) const;

 private:
  using Obstacles = std::vector<std::pair<std::int64_t, std::int64_t>>;  // ends, from the lowest up

  const std::vector<Buffer>& buffers_;
  bool none_;
  std::vector<Obstacles> met_;      // per buffer
  std::vector<Obstacles> present_;  // per section
};

}  // namespace poet
