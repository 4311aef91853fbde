#pragma once

// Small sets as increasing vectors.

#include <algorithm>
#include <vector>

namespace poet {

[[nodiscard]] inline bool contains(const std::vector<int>& sorted, int x) {
  return std::binary_search(sorted.begin(), sorted.end(), x);
}

/// Does nothing if it is there already.
inline void insert_sorted(std::vector<int>& sorted, int x) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), x);
  if (at == sorted.end() || *at != x) sorted.insert(at, x);
}

/// `x` must be there.
inline void erase_sorted(std::vector<int>& sorted, int x) {
  sorted.erase(std::lower_bound(sorted.begin(), sorted.end(), x));
}

/// Returns whether an element is in [first, last].
[[nodiscard]] inline bool any_in(const std::vector<int>& sorted, int first, int last) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), first);
  return found != sorted.end() && *found <= last;
}

/// Returns the largest element below x, or -1.
[[nodiscard]] inline int last_below(const std::vector<int>& sorted, int x) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), x);
  return found == sorted.begin() ? -1 : *(found - 1);
}

}  // namespace poet
