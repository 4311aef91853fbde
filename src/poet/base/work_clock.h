#pragma once

// The clock of time limits: how long a computation works, or how much.

#include <sys/types.h>

namespace poet {

/// Returns seconds since some moment, on the clock that time limits count by: the wall's. With
/// POET_CLOCK=processor in the environment, the processor time of this process and of the children that it
/// has waited for, so that an answer within a time limit does not depend on what else the machine does.
[[nodiscard]] double work_seconds();

/// The same for a child that has not been waited for: with POET_CLOCK=processor, its own processor time.
[[nodiscard]] double work_seconds_of(pid_t child);

}  // namespace poet
