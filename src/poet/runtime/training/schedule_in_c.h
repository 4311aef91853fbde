#pragma once

// A schedule as boards have it.

#include "firmware/engine/poet_rate.h"
#include "poet/runtime/training/learning_rate.h"

namespace poet::runtime {

/// Of a schedule that check_schedule() accepts.
[[nodiscard]] poet_schedule schedule_in_c(const LearningRateSchedule& schedule);
/// And back.
[[nodiscard]] LearningRateSchedule schedule_from_c(const poet_schedule& schedule);

}  // namespace poet::runtime
