#pragma once

// First-fit: places each buffer in turn at the lowest offset that is free during its whole lifetime.

#include "poet/plan/layout/arena/sections.h"

namespace poet {

struct FirstFit {
  std::vector<std::int64_t> offsets;  // one per buffer
  std::int64_t height = 0;            // kAnywhere: some buffer does not end where it has to
};

/// `order` is a permutation of the buffers, in which fixed ones, which have no alignment, come first.
/// O(buffers^2) in the worst case; O(buffers * buffers alive at a time) for short lifetimes.
[[nodiscard]] FirstFit first_fit(const std::vector<Buffer>& buffers, const Sections& sections,
                                 const std::vector<int>& order);

}  // namespace poet
