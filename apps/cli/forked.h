#pragma once

// Work in a process of its own, so that the memory it takes is not this process's.

#include <functional>
#include <optional>
#include <string>

#include "poet/base/process/child.h"

namespace poet::cli {

/// A child (base/process/child.h) that speaks to the user as the program does. Ctrl-C is passed on to it
/// while this process receives or waits; other requests to stop end both.
class Forked {
 public:
  /// What `work` throws is said on stderr, as the program says it. Throws InputError if no process can be
  /// started.
  explicit Forked(const std::function<int(Parent&)>& work);

  /// The next message, waited for; nothing when there will be none.
  [[nodiscard]] std::optional<std::string> receive();
  /// Until it has ended: its exit code, 130 after Ctrl-C. `what` it is: "what solves for the plan". Throws
  /// InternalError when another signal has ended it, as systems do that run out of memory.
  [[nodiscard]] int wait(const std::string& what);

 private:
  Child child_;
};

}  // namespace poet::cli
