#pragma once

// Background threads of the library.

#include <string>
#include <system_error>
#include <thread>

#include "poet/base/error.h"
#include "poet/base/process/signals_blocked.h"

namespace poet::runtime {

/// Starts a thread with all signals blocked, so that they are delivered to the program's own threads. Throws
/// InputError "NAME: cannot be started: ..." if the system refuses.
template <class Body>
[[nodiscard]] std::thread quiet_thread(const std::string& name, const Body& body) {
  const SignalsBlocked blocked;
  try {
    return std::thread(body);
  } catch (const std::system_error& failure) {
    throw InputError(name, "cannot be started: " + failure.code().message());
  }
}

}  // namespace poet::runtime
