#pragma once

// Splits text. Without streams: these take a failed allocation for the end of the text.

#include <string>
#include <string_view>
#include <vector>

namespace poet {

/// Returns the words between white space.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

/// Returns the pieces before each separator, and the one behind the last unless it is empty: lines of a text,
/// items of a list.
[[nodiscard]] std::vector<std::string> pieces_of(std::string_view text, char separator);

}  // namespace poet
