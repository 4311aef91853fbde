#include "poet/plan/file/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "poet/cost/json_reader.h"

namespace poet {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json, std::initializer_list<std::string_view> listed) {
  std::string text = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : json.items()) {
    text += separator + json_text(key) + ": ";
    separator = ",\n";
    if (std::find(listed.begin(), listed.end(), key) == listed.end()) {
      text += json_text(value);
      continue;
    }
    const char* between = "[\n";
    for (const Json& item : value) {
      text += between + json_text(item);
      between = ",\n";
    }
    text += value.empty() ? "[]" : "\n]";
  }
  return text + "\n}\n";
}

}  // namespace poet
