#include "apps/shared/number.h"

#include <charconv>

#include "poet/base/error.h"

namespace poet::cli {

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_real(const char* option, const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::optional<double> value = number_in(*text);
  if (!value) throw InputError(option, "\"" + *text + "\" is not a number");
  return value;
}

}  // namespace poet::cli
