#pragma once

#include <string>
#include <string_view>

namespace poet::server {

/// Returns the SHA-256 digest as 64 hexadecimal digits.
[[nodiscard]] std::string digest(std::string_view bytes);

/// Returns whether a text has the form of a digest.
[[nodiscard]] bool is_digest(std::string_view text);

}  // namespace poet::server
