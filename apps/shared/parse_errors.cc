#include "apps/shared/parse_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "poet/base/nearest.h"
#include "poet/base/text.h"

namespace poet::cli {

Wrong in_words(const std::string& text) {
  const auto after = [&](std::string_view mark) { return text.substr(text.find(mark) + mark.size()); };
  const auto before = [&](std::string_view mark) { return text.substr(0, text.find(mark)); };
  if (text.ends_with(" is required")) return {before(" is required"), "is missing"};
  if (text.starts_with("Could not convert: ")) {
    const std::string name = after(": ");
    return {name.substr(0, name.find(" = ")), fmt::format("\"{}\" is no number", after(" = "))};
  }
  if (text.find(": ") == std::string::npos) return {"", text};
  const std::string place = before(": ");
  if (text.find(": At Most 1 required") != std::string::npos)
    return {place, fmt::format("may be given only once (was given {} times)", after("received "))};
  if (text.find(": 1 required ") != std::string::npos && text.ends_with(" missing")) {
    const std::string type = after(" required ");
    return {place, fmt::format("needs a value: {}",
                               type.substr(0, std::min(type.find(":{"), type.rfind(" missing"))))};
  }
  if (text.find(" not in {") != std::string::npos) {
    std::string list = after(" not in {");
    list = list.substr(0, list.find('}'));
    const std::string given = after(": ");
    return {place, not_one_of(given.substr(0, given.find(" not in {")), pieces_of(list, ',')), true};
  }
  return {place, after(": ")};
}

}  // namespace poet::cli
