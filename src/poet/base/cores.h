#pragma once

#include <sched.h>

#include <algorithm>

namespace poet {

/// Returns the number of processor cores that this process may run on (taskset, cpusets): at least 1.
[[nodiscard]] inline int usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return std::max(1, CPU_COUNT(&allowed));
}

}  // namespace poet
