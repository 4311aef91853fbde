#include "poet/plan/file/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

/// Names need not be UTF-8, JSON must be.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string text_of(const Json& json, std::initializer_list<std::string_view> listed) {
  std::string text = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : json.items()) {
    text += separator + dump(key) + ": ";
    separator = ",\n";
    if (std::find(listed.begin(), listed.end(), key) == listed.end()) {
      text += dump(value);
      continue;
    }
    const char* between = "[\n";
    for (const Json& item : value) {
      text += between + dump(item);
      between = ",\n";
    }
    text += value.empty() ? "[]" : "\n]";
  }
  return text + "\n}\n";
}

}  // namespace poet
