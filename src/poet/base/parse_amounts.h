#pragma once

// Amounts as users type them: "300KiB", "50ms", "1%". KB, MB, GB are powers of 1000; KiB, MiB, GiB of 1024.
// The parsers take the name of the option (or the place in a file) for the message and throw InputError, one
// line:
//   --split: "12XB" is not an amount of bytes (try 300KiB, 2MB or 737719)

#include <cstdint>
#include <string>

#include "poet/base/units.h"

namespace poet {

/// Returns whole bytes >= 0, rounded down so that a budget is never exceeded. Bare numbers are bytes; units
/// in any case may follow a space. `rule` is that of the InputError for other text.
[[nodiscard]] Bytes parse_bytes(
    const std::string& option, const std::string& text,
    const std::string& rule = "is not an amount of bytes (try 300KiB, 2MB or 737719)");

/// Returns seconds > 0. Units are ns, us, ms, s, min and h; bare numbers are seconds.
[[nodiscard]] Seconds parse_duration(const std::string& option, const std::string& text);

/// Returns a fraction from 0 to 1: "1%" and "0.01" are equal.
[[nodiscard]] double parse_fraction(const std::string& option, const std::string& text);

/// Returns a finite number > 0.
[[nodiscard]] double parse_factor(const std::string& option, const std::string& text);

/// Returns a whole number >= 1.
[[nodiscard]] std::int64_t parse_count(const std::string& option, const std::string& text);

/// Return a whole number >= 0 of 64 or 32 bits.
[[nodiscard]] std::uint64_t parse_whole(const std::string& option, const std::string& text);
[[nodiscard]] std::uint32_t parse_word(const std::string& option, const std::string& text);

}  // namespace poet
