#include "poet/base/error.h"

#include <algorithm>

namespace poet {
namespace {

constexpr std::size_t kAroundPlace = 2;  // ": "
constexpr std::size_t kAroundHint = 3;   // " (" and ")"

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Names in files may have any length; a line may not. Characters of UTF-8 stay whole.
std::string without_middle(const std::string& text, std::size_t longest) {
  constexpr std::size_t kEnd = 400;
  if (text.size() <= longest) return text;
  std::size_t begin = longest - kEnd, end = text.size() - kEnd;
  while (begin > 0 && continues_character(text[begin])) --begin;
  while (end < text.size() && continues_character(text[end])) ++end;
  return text.substr(0, begin) + "..." + text.substr(end);
}

std::string place_said(const std::string& place) { return without_middle(place, 1000); }
std::string rule_said(const std::string& rule) { return without_middle(rule, 2000); }

/// Without control characters: what() would end at a zero byte, and a name in a file is no command to a
/// terminal.
std::string line(const std::string& place, const std::string& rule, const std::string& hint) {
  std::string text = (place.empty() ? rule : place + ": " + rule) + (hint.empty() ? "" : " (" + hint + ")");
  std::ranges::replace_if(
      text, [](unsigned char byte) { return byte < ' ' || byte == 0x7F; }, ' ');
  return text;
}

}  // namespace

InputError::InputError(const std::string& place, const std::string& rule, const std::string& hint)
    : std::runtime_error(line(place_said(place), rule_said(rule), rule_said(hint))),
      place_size_(place_said(place).size()),
      hint_size_(rule_said(hint).size()) {}

InputError::InputError(const Field& field, const std::string& rule) : InputError(field.name, rule) {
  is_field_ = true;
}

InputError::InputError(const std::string& message) : InputError(std::string{}, message) {}

std::string_view InputError::rule() const {
  std::string_view text = what();
  if (place_size_ > 0) text.remove_prefix(place_size_ + kAroundPlace);
  if (hint_size_ > 0) text.remove_suffix(hint_size_ + kAroundHint);
  return text;
}

std::string_view InputError::hint() const {
  std::string_view text = what();
  if (hint_size_ == 0) return {};
  text.remove_suffix(1);
  return text.substr(text.size() - hint_size_);
}

InternalError::InternalError(const std::string& message) : std::logic_error(message) {}

void ensure(bool condition, const char* promise) {
  if (!condition) throw InternalError(std::string("violated: ") + promise);
}

}  // namespace poet
