#pragma once

// Each buffer in its turn at the lowest place that is free during its whole life.

#include "poet/plan/layout/arena/sections.h"

namespace poet {

struct FirstFit {
  std::vector<std::int64_t> offsets;  // one per buffer
  std::int64_t height = 0;
};

/// `order` holds every buffer once. O(buffers^2) at worst; where lives are short, O(buffers * alive at a
/// time).
[[nodiscard]] FirstFit first_fit(const std::vector<Buffer>& buffers, const Sections& sections,
                                 const std::vector<int>& order);

}  // namespace poet
