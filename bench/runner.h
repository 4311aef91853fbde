#pragma once

// One solve in a process of its own: its peak memory is its own, and a crash or an overrun is a result.

#include <map>
#include <optional>
#include <string>

#include "bench/child.h"
#include "bench/measurement.h"

namespace poet::bench {

struct RunOptions {
  ChildOptions child;
  Marks marks;
  std::optional<Bytes> memory_limit;  // of the solve's address space
  double grace_seconds = 60;  // beyond the time limit, then the solve is killed and recorded as overrun
};

/// From the first call on Ctrl-C (SIGINT) and SIGTERM make it true instead of ending the process.
[[nodiscard]] bool interrupted();

/// Solves the case and waits for the end. `ram` may be given, and is completed with what was found out.
/// Absent when interrupted. The best known energy is not filled in.
[[nodiscard]] std::optional<Measurement> measure(const Case& one, const Configuration& configuration,
                                                 KnownRam& ram, const RunOptions& options);

}  // namespace poet::bench
