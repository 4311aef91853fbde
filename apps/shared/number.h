#pragma once

// A plain number as typed, of any sign: whoever takes it knows its range.

#include <optional>
#include <string>

namespace poet::cli {

/// Absent where the user said nothing. Throws InputError naming the option.
[[nodiscard]] std::optional<double> parse_real(const char* option, const std::optional<std::string>& text);

}  // namespace poet::cli
