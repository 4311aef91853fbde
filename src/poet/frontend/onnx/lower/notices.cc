#include "poet/frontend/onnx/lower/notices.h"

#include <fmt/format.h>

#include <algorithm>

namespace poet::onnx {

void Notices::add(const std::string& text) {
  const auto known = std::find_if(counted_.begin(), counted_.end(),
                                  [&text](const auto& counted) { return counted.first == text; });
  if (known == counted_.end()) {
    counted_.emplace_back(text, 1);
  } else {
    ++known->second;
  }
}

std::vector<std::string> Notices::lines() const {
  std::vector<std::string> lines;
  for (const auto& [text, count] : counted_)
    lines.push_back(count == 1 ? text : fmt::format("{} ({} times)", text, count));
  return lines;
}

}  // namespace poet::onnx
