#pragma once

// Numbers of any sign; callers check the range.

#include <optional>
#include <string>
#include <string_view>

namespace poet::cli {

/// Returns the number that the whole text is, which may be infinite or nan; nullopt if it is none.
[[nodiscard]] std::optional<double> number_in(std::string_view text);

/// Returns the number, or nullopt if not given. Throws InputError naming the option.
[[nodiscard]] std::optional<double> parse_real(const char* option, const std::optional<std::string>& text);

}  // namespace poet::cli
