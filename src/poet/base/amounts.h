#pragma once

// Amounts as people read them: "11,173,962", "737.7 KB", "1.34 s", "0.16%". KB, MB, GB are powers of 1000;
// KiB, MiB, GiB of 1024.

#include <cstdint>
#include <string>
#include <string_view>

#include "poet/base/units.h"

namespace poet {

/// With thousands separated: 11,173,962.
[[nodiscard]] std::string format_count(std::int64_t count);
/// "1 op", "3 ops".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);
/// Large numbers in short: 11.2 M, 1.81 G; below 10,000 as format_count.
[[nodiscard]] std::string format_short(double number);
/// `digits` significant digits, never an exponent: 0.001234, 12.34, 1234.
[[nodiscard]] std::string format_number(double number, int digits = 4);

/// The units of format_bytes(), for the whole process; decimal by default.
enum class ByteUnits { decimal, binary };
void set_byte_units(ByteUnits units);
[[nodiscard]] ByteUnits byte_units();
/// Returns binary units if the budget is a whole number of KiB and not of KB, as it was probably typed in
/// those.
[[nodiscard]] ByteUnits units_of(Bytes budget);
/// Sets the byte units to those of the budget.
void use_units_of(Bytes budget);

// Quantities are scaled to a readable unit; trailing zeros of a fraction are omitted.
[[nodiscard]] std::string format_bytes(Bytes bytes);
[[nodiscard]] std::string format_bytes(Bytes bytes, ByteUnits units);
/// Formats the RAM of a device in powers of two: 256 KiB, 2 GiB; as format_bytes() if it is not a whole
/// number of KiB.
[[nodiscard]] std::string format_ram(Bytes bytes);
[[nodiscard]] std::string format_joules(Joules energy, int digits = 4);
[[nodiscard]] std::string format_seconds(Seconds time, int digits = 4);
[[nodiscard]] std::string format_watts(Watts power, int digits = 4);
/// 0.0016 -> "0.16%". Nonzero fractions never print as zero: "<0.0001%".
[[nodiscard]] std::string format_percent(double fraction, int digits = 3);

}  // namespace poet
