#include "poet/base/error.h"

#include <algorithm>

namespace poet {
namespace {

constexpr std::size_t kAroundPlace = 2;  // ": "
constexpr std::size_t kAroundHint = 3;   // " (" and ")"

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Names in files may have any length; a line may not. Characters of UTF-8 stay whole.
std::string without_middle(const std::string& place) {
  constexpr std::size_t kLongest = 1000, kEnd = 400;
  if (place.size() <= kLongest) return place;
  std::size_t begin = kLongest - kEnd, end = place.size() - kEnd;
  while (begin > 0 && continues_character(place[begin])) --begin;
  while (end < place.size() && continues_character(place[end])) ++end;
  return place.substr(0, begin) + "..." + place.substr(end);
}

/// Without zero bytes, at which what() would end.
std::string line(const std::string& place, const std::string& rule, const std::string& hint) {
  std::string text = (place.empty() ? rule : place + ": " + rule) + (hint.empty() ? "" : " (" + hint + ")");
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace

InputError::InputError(const std::string& place, const std::string& rule, const std::string& hint)
    : std::runtime_error(line(without_middle(place), rule, hint)),
      place_size_(without_middle(place).size()),
      hint_size_(hint.size()) {}

InputError::InputError(const Field& field, const std::string& rule) : InputError(field.name, rule) {
  is_field_ = true;
}

InputError::InputError(const std::string& message) : std::runtime_error(message) {}

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
  if (!condition) throw InternalError(promise);
}

}  // namespace poet
