#pragma once

// Background threads of the library.

#include <pthread.h>

#include <csignal>
#include <string>
#include <system_error>
#include <thread>

#include "poet/base/error.h"

namespace poet::runtime {

/// Starts a thread with all signals blocked, so that they are delivered to the program's own threads. Throws
/// InputError "NAME: cannot be started: ..." if the system refuses.
template <class Body>
[[nodiscard]] std::thread quiet_thread(const std::string& name, const Body& body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(body);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (const std::system_error& failure) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw InputError(name, "cannot be started: " + failure.code().message());
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace poet::runtime
