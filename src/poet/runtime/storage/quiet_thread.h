#pragma once

// Threads that work in the background of a program that does not know of them.

#include <pthread.h>

#include <csignal>
#include <string>
#include <system_error>
#include <thread>

#include "poet/base/error.h"

namespace poet::runtime {

/// A thread that no signal interrupts: those are for the threads that the program knows. Throws InputError
/// "NAME: cannot be started: ..." when the system has none to give.
template <class Body>
[[nodiscard]] std::thread quiet_thread(const std::string& name, const Body& body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  std::error_code error;
  try {
    thread = std::thread(body);
  } catch (const std::system_error& failure) {
    error = failure.code();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error) throw InputError(name, "cannot be started: " + error.message());
  return thread;
}

}  // namespace poet::runtime
