#pragma once

#include <string>

namespace poet::cli {

/// An error of the command line: the place, if known, and the violated rule.
struct Wrong {
  std::string place, rule;
  bool says_all = false;  // that there is to choose from
};

/// Translates CLI11's messages, such as "--model: At Most 1 required but received 2". Unknown texts are
/// unchanged.
[[nodiscard]] Wrong in_words(const std::string& text);

}  // namespace poet::cli
