#pragma once

// Starts all of several threads, or none.

#include <cstddef>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "poet/base/error.h"

namespace poet::server {

/// Adds `count` threads that run work(number). If the system refuses a thread, calls `stop()`, which must end
/// and join those already started (the owner's destructor does not run), and throws InputError.
template <class Work, class Stop>
void start_threads(std::vector<std::thread>& threads, std::size_t count, const Work& work, const Stop& stop) {
  try {
    threads.reserve(threads.size() + count);
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([work, i] { work(i); });
  } catch (const std::system_error& error) {
    stop();
    throw InputError("the server's threads", "cannot be started: " + error.code().message());
  } catch (...) {
    stop();
    throw;
  }
}

}  // namespace poet::server
