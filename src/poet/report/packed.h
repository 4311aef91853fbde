#pragma once

#include <string>

namespace poet {

/// Text compressed as browsers' DecompressionStream("deflate") reads it, in base 64: what a page carries much
/// of. Same text, same bytes. Throws InputError in a program that was built without zlib. O(text).
[[nodiscard]] std::string packed(const std::string& text);

}  // namespace poet
