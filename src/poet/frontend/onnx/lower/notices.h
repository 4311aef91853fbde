#pragma once

// Notices of an import for the user. Private to poet/frontend/onnx.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace poet::onnx {

/// Names, all of them where they are few.
[[nodiscard]] inline std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  if (names.size() <= kMost) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, {}, ...", names[0], names[1]);
}

/// Each text once, in the order of their first times, with how often it was added.
class Notices {
 public:
  void add(const std::string& text) {
    for (auto& [known, count] : counted_) {
      if (known != text) continue;
      ++count;
      return;
    }
    counted_.emplace_back(text, 1);
  }

  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const auto& [text, count] : counted_)
      all.push_back(count == 1 ? text : fmt::format("{} ({} times)", text, count));
    return all;
  }

 private:
  std::vector<std::pair<std::string, std::int64_t>> counted_;
};

}  // namespace poet::onnx
