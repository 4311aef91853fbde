#pragma once

// Text in pieces. Not by streams: where there is no memory for a word they take it for the end of the text.

#include <string>
#include <string_view>
#include <vector>

namespace poet {

/// What stands between white space.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

/// What stands before each separator, and behind the last unless that is nothing: lines of a text, items of a
/// list.
[[nodiscard]] std::vector<std::string> pieces_of(std::string_view text, char separator);

}  // namespace poet
