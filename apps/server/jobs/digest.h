#pragma once

#include <string>
#include <string_view>

namespace poet::server {

/// SHA-256 as 64 hexadecimal digits.
[[nodiscard]] std::string digest(std::string_view bytes);

/// Whether a text looks like one.
[[nodiscard]] bool is_digest(std::string_view text);

}  // namespace poet::server
