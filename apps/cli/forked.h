#pragma once

// Work in a child process, so that its memory is freed when it ends.

#include <functional>
#include <optional>
#include <string>

#include "poet/base/process/child.h"

namespace poet::cli {

/// A child process (base/process/child.h) that prints diagnostics as the program does. Ctrl-C is forwarded to
/// it while this process receives or waits; other termination signals end both.
class Forked {
 public:
  /// Exceptions of `work` are printed to stderr as diagnostics. Throws InternalError if the process cannot be
  /// created.
  explicit Forked(const std::function<int(Parent&)>& work);

  /// Waits for the next message; nullopt after the last.
  [[nodiscard]] std::optional<std::string> receive();
  /// Waits for its end and returns its exit code, 130 after Ctrl-C. `what` names it in errors. Throws
  /// InternalError if another signal killed it, as when memory runs out.
  [[nodiscard]] int wait(const std::string& what);

 private:
  Child child_;
};

}  // namespace poet::cli
