#pragma once

#include <string>

namespace poet {

/// Encodes bytes in base 64 with padding (RFC 4648).
[[nodiscard]] std::string base64(const std::string& bytes);

/// Decodes base64(). Throws std::invalid_argument for malformed text.
[[nodiscard]] std::string from_base64(const std::string& text);

}  // namespace poet
