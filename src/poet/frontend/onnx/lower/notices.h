#pragma once

// What the user is told of an import. Private to poet/frontend/onnx.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace poet::onnx {

/// Each text once, in the order of their first times, with how often it was added.
class Notices {
 public:
  void add(const std::string& text);
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  std::vector<std::pair<std::string, std::int64_t>> counted_;
};

}  // namespace poet::onnx
