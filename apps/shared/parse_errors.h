#pragma once

#include <string>

namespace poet::cli {

/// What is wrong with a command line: where, if that is known, and what must hold there.
struct Wrong {
  std::string place, rule;
  bool says_all = false;  // that there is to choose from
};

/// What CLI11 says, "--model: At Most 1 required but received 2" for one, in words. Other texts as they are.
[[nodiscard]] Wrong in_words(const std::string& text);

}  // namespace poet::cli
