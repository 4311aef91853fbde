#pragma once

#include <string>

namespace poet {

/// Returns text compressed for browsers' DecompressionStream("deflate"), in base 64. Deterministic. Throws
/// InputError in builds without zlib. O(text).
[[nodiscard]] std::string packed(const std::string& text);

}  // namespace poet
