#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "poet/base/error.h"

namespace poet::cli {

/// "a, b, c".
[[nodiscard]] inline std::string listed(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The value named by `text`; InputError listing the names otherwise.
template <class T>
[[nodiscard]] T choose(const std::string& option, const std::string& text,
                       const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    names.push_back(name);
  }
  throw InputError(option, fmt::format("\"{}\" is none of {}", text, listed(names)));
}

}  // namespace poet::cli
