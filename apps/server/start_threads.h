#pragma once

// Threads that are there all, or none.

#include <cstddef>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "poet/base/error.h"

namespace poet::server {

/// Adds `count` threads of work(number). When the system has none to give, `stop()` has to end and join those
/// that were started: what owns them is not made, so that its destructor does not. Throws InputError then.
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
