#pragma once

#include <cstddef>

namespace poet {

/// Returns whether a graph of so many ops is large: a pass over ops x live values takes more than a moment,
/// and one search as long as many on smaller graphs. Such passes are skipped where possible.
[[nodiscard]] constexpr bool is_large(std::size_t ops) { return ops > 4'000; }

}  // namespace poet
