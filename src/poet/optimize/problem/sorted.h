#pragma once

// Small sets as increasing vectors.

#include <algorithm>
#include <vector>

namespace poet {

[[nodiscard]] inline bool contains(const std::vector<int>& sorted, int x) {
  return std::binary_search(sorted.begin(), sorted.end(), x);
}

/// Nothing happens where it is in there already.
inline void insert_sorted(std::vector<int>& sorted, int x) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), x);
  if (at == sorted.end() || *at != x) sorted.insert(at, x);
}

}  // namespace poet
