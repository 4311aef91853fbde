#pragma once

// A function that may crash or never end, kept in a process of its own. Private to poet/frontend/onnx.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "poet/base/process/child.h"

namespace poet::onnx {

/// Bytes in, bytes out. The child is forked at the first question and answers all until it dies; then the
/// next question forks another. Each may take two seconds of processor time, and the child 128 MB beyond what
/// this process has. For one thread: the one that asks first.
class Isolated {
 public:
  using Answer = std::function<std::optional<std::string>(const std::string& question)>;

  /// `answer` runs in the child: what it changes, nobody sees.
  explicit Isolated(Answer answer) : answer_(std::move(answer)) {}

  /// Nothing when the function gives nothing, throws, crashes, takes too long or too much memory, or there
  /// can be no child.
  [[nodiscard]] std::optional<std::string> ask(const std::string& question);

 private:
  Answer answer_;
  std::unique_ptr<Child> child_;
};

}  // namespace poet::onnx
