#pragma once

#include <algorithm>
#include <thread>

namespace poet {

/// Returns the number of processor cores that this process may use: at least 1.
[[nodiscard]] inline int usable_cores() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace poet
