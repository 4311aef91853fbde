#pragma once

#include <string>

namespace poet {

/// Bytes in base 64, as RFC 4648 has it, with padding.
[[nodiscard]] std::string base64(const std::string& bytes);

/// The reverse. Throws std::invalid_argument for what is not.
[[nodiscard]] std::string from_base64(const std::string& text);

}  // namespace poet
