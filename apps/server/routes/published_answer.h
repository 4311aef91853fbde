#pragma once

// The answer of the published reference's server (github.com/ShishirPatil/poet).

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "poet/plan/file/schedule_json.h"

namespace poet::server {

/// {"ram_budget", "runtime_budget_ms", "paging", "remat", "total_power_cost_page", "total_power_cost_cpu",
/// "total_runtime",
///  "feasible", "solution": {"R", "SRam", "SSd", "Min", "Mout", "FreeE", "U", "finished", "feasible",
///  "solve_time_s"}}: joules,
/// milliseconds, bytes, matrices as lists of rows; null without a schedule.
struct PublishedQuestion {
  double ram_budget = 0;
  double runtime_budget = 0;  // a multiple of the time of the step
  std::int64_t paging = 1, remat = 1;
};

/// `result`: of poet solve --json. O(stages x edges).
[[nodiscard]] nlohmann::ordered_json published_answer(const PublishedQuestion& question,
                                                      const Instance& instance,
                                                      const nlohmann::ordered_json& result,
                                                      const std::optional<ScheduleFile>& schedule);

}  // namespace poet::server
