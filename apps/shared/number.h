#pragma once

// Numbers of any sign; callers check the range.

#include <optional>
#include <string>

namespace poet::cli {

/// Returns the number, or nullopt if not given. Throws InputError naming the option.
[[nodiscard]] std::optional<double> parse_real(const char* option, const std::optional<std::string>& text);

}  // namespace poet::cli
