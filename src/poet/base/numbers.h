#pragma once

#include <cstddef>
#include <limits>

namespace poet {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns a container's index. `index` must not be negative.
[[nodiscard]] constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace poet
