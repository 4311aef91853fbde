#pragma once

// Pages with contents that tell them apart.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace poet::test {

using Page = std::vector<std::byte>;

/// Bytes of a generator of their own for every seed.
inline Page random_page(std::size_t bytes, std::uint64_t seed) {
  Page page(bytes);
  std::uint64_t state = seed * 2 + 1;
  for (std::byte& b : page) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    b = static_cast<std::byte>(state >> 56);
  }
  return page;
}

}  // namespace poet::test
