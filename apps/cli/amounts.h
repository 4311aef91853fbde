#pragma once

// Amounts as people type and read them: "300KiB", "50ms", "1%". KB, MB, GB are powers of 1000; KiB, MiB, GiB
// of 1024. The parsers take the option's name for the message and throw InputError, one line:
//   --ram-budget: "12XB" is not an amount of bytes (try 300KiB, 2MB or 737719)

#include <cstdint>
#include <string>
#include <string_view>

#include "poet/base/units.h"

namespace poet::cli {

/// Whole bytes >= 0; a fraction of a byte is cut off, so that a budget is never exceeded. Bare numbers are
/// bytes. Units in any case, a space before them allowed.
[[nodiscard]] Bytes parse_bytes(const std::string& option, const std::string& text);

/// Seconds > 0: ns, us, ms, s, min, h; bare numbers are seconds.
[[nodiscard]] Seconds parse_duration(const std::string& option, const std::string& text);

/// A fraction from 0 to 1: "1%" and "0.01" are the same.
[[nodiscard]] double parse_fraction(const std::string& option, const std::string& text);

/// A finite number > 0.
[[nodiscard]] double parse_factor(const std::string& option, const std::string& text);

/// A whole number >= 1.
[[nodiscard]] std::int64_t parse_count(const std::string& option, const std::string& text);

/// With thousands separated: 11,173,962.
[[nodiscard]] std::string format_count(std::int64_t count);
/// "1 op", "3 ops".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);
/// Large numbers in short: 11.2 M, 1.81 G; below 10,000 as format_count.
[[nodiscard]] std::string format_short(double number);
/// `digits` significant digits, never an exponent: 0.001234, 12.34, 1234.
[[nodiscard]] std::string format_number(double number, int digits = 4);

// Quantities take the unit that reads best; zeros at the end of a fraction are left out.
[[nodiscard]] std::string format_bytes(Bytes bytes);
/// The RAM of a device, which comes in powers of two: 256 KiB, 2 GiB; as format_bytes when it is not a whole
/// number of those.
[[nodiscard]] std::string format_ram(Bytes bytes);
[[nodiscard]] std::string format_joules(Joules energy, int digits = 4);
[[nodiscard]] std::string format_seconds(Seconds time, int digits = 4);
[[nodiscard]] std::string format_watts(Watts power, int digits = 4);
/// 0.0016 -> "0.16%". What is not zero never prints as zero: "<0.0001%".
[[nodiscard]] std::string format_percent(double fraction, int digits = 3);

}  // namespace poet::cli
