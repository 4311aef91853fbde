#pragma once

// Schedule files: the stages with their instance, semantics and limits, so that verifying needs nothing else.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

struct ScheduleFile {
  Instance instance;
  Semantics semantics = Semantics::staged;
  Limits limits;
  Schedule schedule;
  std::string leaves_out = {};  // what the answer that it was made beside does and it cannot; may be empty
};

[[nodiscard]] nlohmann::ordered_json to_json(const ScheduleFile& file);
/// Throws InputError with the place and the rule; indices are checked for range, not the schedule for sense.
[[nodiscard]] ScheduleFile schedule_from_json(const nlohmann::ordered_json& json, const std::string& place);

[[nodiscard]] ScheduleFile read_schedule(const std::filesystem::path& file);
/// Writes beside the target and renames: never half a file. Throws InputError when the folder cannot be
/// written.
void write_schedule(const ScheduleFile& schedule, const std::filesystem::path& file);

}  // namespace poet
