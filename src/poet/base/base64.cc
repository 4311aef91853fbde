#include "poet/base/base64.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace poet {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(const std::string& bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t j) {
      return j < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[j])) : 0U;
    };
    const std::uint32_t three = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    for (std::size_t j = 0; j < 4; ++j)
      text += i + j <= bytes.size() ? kDigits[three >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string from_base64(const std::string& text) {
  if (text.size() % 4 != 0) throw std::invalid_argument("base 64 comes in fours");
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t three = 0;
    std::size_t digits = 0;
    for (std::size_t j = i; j < i + 4; ++j) {
      const std::size_t digit = kDigits.find(text[j]);
      const bool is_padding = text[j] == '=' && j + 2 >= text.size();
      if (digit == std::string_view::npos ? !is_padding : digits != j - i)
        throw std::invalid_argument("not base 64");
      if (digit != std::string_view::npos) ++digits;
      three = three << 6 | static_cast<std::uint32_t>(is_padding ? 0 : digit);
    }
    for (std::size_t j = 0; j + 1 < digits; ++j) bytes += static_cast<char>(three >> (16 - 8 * j) & 255);
  }
  return bytes;
}

}  // namespace poet
