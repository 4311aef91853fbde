#include "poet/base/parse_amounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

#include "poet/base/error.h"

namespace poet {
namespace {

struct InputUnit {
  std::string_view name;
  double scale;
};

constexpr std::array kByteUnits = {
    InputUnit{"", 1},       InputUnit{"b", 1},           InputUnit{"kb", 1e3},
    InputUnit{"mb", 1e6},   InputUnit{"gb", 1e9},        InputUnit{"tb", 1e12},
    InputUnit{"kib", 1024}, InputUnit{"mib", 1048576.0}, InputUnit{"gib", 1073741824.0}};
constexpr std::array kTimeUnits = {InputUnit{"", 1},      InputUnit{"ns", 1e-9}, InputUnit{"us", 1e-6},
                                   InputUnit{"ms", 1e-3}, InputUnit{"s", 1},     InputUnit{"min", 60},
                                   InputUnit{"h", 3600}};
constexpr std::array kFractionUnits = {InputUnit{"", 1}, InputUnit{"%", 0.01}};
constexpr std::array kNoUnits = {InputUnit{"", 1}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

struct Amount {
  double number;
  double scale;
};

/// A number and one of the units; nothing when the text is anything else, is not finite, or is negative.
template <std::size_t N>
std::optional<Amount> read_amount(std::string_view text, const std::array<InputUnit, N>& units) {
  text = trimmed(text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  std::string unit(trimmed(text));
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const InputUnit& known : units) {
    if (unit == known.name) return Amount{number, known.scale};
  }
  return std::nullopt;
}

[[noreturn]] void fail(const std::string& option, const std::string& text, const std::string& rule) {
  throw InputError(option, fmt::format("\"{}\" {}", text, rule));
}

}  // namespace

Bytes parse_bytes(const std::string& option, const std::string& text, const std::string& rule) {
  // Plain whole numbers exactly: a double would round beyond 2^53.
  const std::string_view digits = trimmed(text);
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
  const bool all_digits = end == digits.data() + digits.size() && !digits.empty();
  if (all_digits && error == std::errc{} && whole >= 0) return Bytes(whole);

  const std::optional<Amount> amount = read_amount(text, kByteUnits);
  if (!amount) fail(option, text, rule);
  // Cut off, but 0.29MB is 290,000 bytes although its product with 1e6 falls short of that by a rounding
  // error.
  const double product = amount->number * amount->scale;
  const double nearest = std::round(product);
  const bool whole_but_for_rounding =
      std::abs(product - nearest) <= 4 * std::numeric_limits<double>::epsilon() * product;
  const double bytes = whole_but_for_rounding ? nearest : std::floor(product);
  if (bytes >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) {
    fail(option, text, "is more bytes than 64 bits can count");
  }
  return Bytes(static_cast<std::int64_t>(bytes));
}

Seconds parse_duration(const std::string& option, const std::string& text) {
  const std::optional<Amount> amount = read_amount(text, kTimeUnits);
  if (!amount) fail(option, text, "is not a duration (try 50ms, 2s or 1.5min)");
  const double seconds = amount->number * amount->scale;
  if (seconds <= 0 || !std::isfinite(seconds)) fail(option, text, "must be a finite time > 0");
  return Seconds(seconds);
}

double parse_fraction(const std::string& option, const std::string& text) {
  const std::optional<Amount> amount = read_amount(text, kFractionUnits);
  if (!amount) fail(option, text, "is not a fraction (try 1% or 0.01)");
  const double fraction = amount->number * amount->scale;
  if (fraction > 1) fail(option, text, "must be from 0 to 1, or 0% to 100%");
  return fraction;
}

double parse_factor(const std::string& option, const std::string& text) {
  const std::optional<Amount> amount = read_amount(text, kNoUnits);
  if (!amount || amount->number <= 0)
    fail(option, text, "is not a factor (try 1.3; it must be finite and > 0)");
  return amount->number;
}

std::int64_t parse_count(const std::string& option, const std::string& text) {
  const std::string_view digits = trimmed(text);
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc{} || end != digits.data() + digits.size() || count < 1) {
    fail(option, text, "is not a whole number >= 1");
  }
  return count;
}

std::uint64_t parse_whole(const std::string& option, const std::string& text) {
  const std::string_view digits = trimmed(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size())
    fail(option, text, "is not a whole number from 0 on");
  return number;
}

std::uint32_t parse_word(const std::string& option, const std::string& text) {
  const std::uint64_t number = parse_whole(option, text);
  if (number > std::numeric_limits<std::uint32_t>::max()) fail(option, text, "is more than 4,294,967,295");
  return static_cast<std::uint32_t>(number);
}

}  // namespace poet
