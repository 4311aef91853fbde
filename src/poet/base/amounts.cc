#include "poet/base/amounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <vector>

namespace poet {
namespace {

constexpr std::int64_t kKibi = 1024;

std::atomic<ByteUnits> units_of_bytes = ByteUnits::decimal;

struct Unit {
  std::string_view name;
  double scale;
};

/// The unit in which `value` reads best: the largest in which it is at least 1 once rounded, else the
/// smallest.
struct Scaled {
  double value;
  std::string_view unit;
};

Scaled scaled(double value, int digits, const std::vector<Unit>& increasing) {
  Scaled best{value / increasing.front().scale, increasing.front().name};
  for (const Unit& unit : increasing) {
    const double in_unit = value / unit.scale;
    if (std::abs(in_unit) >= 1 - 0.5 * std::pow(10.0, -digits)) best = {in_unit, unit.name};
  }
  return best;
}

std::string without_trailing_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

std::string with_unit(double value, int digits, const std::vector<Unit>& increasing,
                      std::string_view zero_unit) {
  if (value == 0) return fmt::format("0 {}", zero_unit);
  const Scaled best = scaled(value, digits, increasing);
  return fmt::format("{} {}", without_trailing_zeros(format_number(best.value, digits)), best.unit);
}

}  // namespace

std::string format_count(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  const std::ptrdiff_t sign = count < 0 ? 1 : 0;
  for (std::ptrdiff_t at = std::ssize(text) - 3; at > sign; at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

std::string format_short(double number) {
  if (std::abs(number) < 1e4 && number == std::floor(number))
    return format_count(static_cast<std::int64_t>(number));
  const Scaled best = scaled(number, 3, {{"", 1}, {" k", 1e3}, {" M", 1e6}, {" G", 1e9}, {" T", 1e12}});
  return fmt::format("{}{}", without_trailing_zeros(format_number(best.value, 3)), best.unit);
}

std::string format_number(double number, int digits) {
  if (!std::isfinite(number)) return fmt::format("{}", number);
  if (number == 0) return "0";
  // The exponent after rounding: 999.96 at 4 digits is 1000, not 1000.0.
  const std::string scientific = fmt::format("{:.{}e}", number, digits - 1);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  return fmt::format("{:.{}f}", number, std::max(0, digits - 1 - exponent));
}

void set_byte_units(ByteUnits units) { units_of_bytes = units; }

ByteUnits byte_units() { return units_of_bytes; }

ByteUnits units_of(Bytes budget) {
  const bool binary = budget.value() % kKibi == 0 && budget.value() % 1000 != 0;
  return binary ? ByteUnits::binary : ByteUnits::decimal;
}

void use_units_of(Bytes budget) { set_byte_units(units_of(budget)); }

std::string format_bytes(Bytes bytes) { return format_bytes(bytes, units_of_bytes); }

std::string format_bytes(Bytes bytes, ByteUnits units) {
  // Up to here the exact count is as short as a rounded one.
  if (std::abs(static_cast<double>(bytes.value())) < 1e4)
    return fmt::format("{} B", format_count(bytes.value()));
  const auto value = static_cast<double>(bytes.value());
  if (units == ByteUnits::binary)
    return with_unit(value, 4, {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}}, "B");
  return with_unit(value, 4, {{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}}, "B");
}

std::string format_ram(Bytes bytes) {
  std::int64_t count = bytes.value();
  std::string_view unit;
  for (const std::string_view next : {"KiB", "MiB", "GiB"}) {
    if (count < kKibi || count % kKibi != 0) break;
    count /= kKibi;
    unit = next;
  }
  return unit.empty() || count >= kKibi ? format_bytes(bytes) : fmt::format("{} {}", count, unit);
}

std::string format_joules(Joules energy, int digits) {
  return with_unit(energy.value(), digits, {{"nJ", 1e-9}, {"uJ", 1e-6}, {"mJ", 1e-3}, {"J", 1}, {"kJ", 1e3}},
                   "J");
}

std::string format_seconds(Seconds time, int digits) {
  // Minutes and hours from two of them on: 90 s reads better than 1.5 min.
  const double seconds = std::abs(time.value());
  if (seconds >= 7200) return with_unit(time.value(), digits, {{"h", 3600}}, "h");
  if (seconds >= 120) return with_unit(time.value(), digits, {{"min", 60}}, "min");
  return with_unit(time.value(), digits, {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}, "s");
}

std::string format_watts(Watts power, int digits) {
  return with_unit(power.value(), digits, {{"uW", 1e-6}, {"mW", 1e-3}, {"W", 1}}, "W");
}

std::string format_percent(double fraction, int digits) {
  const double percent = 100 * fraction;
  if (percent == 0) return "0%";
  if (std::abs(percent) < 1e-4) return percent > 0 ? "<0.0001%" : ">-0.0001%";
  // Not more decimals than 4, and no trailing zeros that pretend precision: 50%, 0.16%.
  std::string text = format_number(percent, digits);
  if (const std::size_t point = text.find('.'); point != std::string::npos)
    text.resize(std::min(text.size(), point + 5));
  return without_trailing_zeros(text) + "%";
}

}  // namespace poet
