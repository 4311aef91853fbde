#pragma once

#include <cstddef>

namespace poet {

/// Whether a pass over ops x live values takes more than a moment, and one search the time of many on smaller
/// graphs: what would do without them should.
[[nodiscard]] constexpr bool is_large(std::size_t ops) { return ops > 4'000; }

}  // namespace poet
