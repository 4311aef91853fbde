#pragma once

// Schedule files: the stages with their instance, semantics and limits, so that they can be verified without
// other files.

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
  /// What the accompanying plan does and a staged schedule cannot express; may be empty.
  std::string leaves_out = {};
};

[[nodiscard]] nlohmann::ordered_json to_json(const ScheduleFile& file);
/// Throws InputError with the place and the rule. Indices are checked for range; the verifier decides whether
/// the schedule is valid.
[[nodiscard]] ScheduleFile schedule_from_json(const nlohmann::ordered_json& json, const std::string& place);

[[nodiscard]] ScheduleFile read_schedule(const std::filesystem::path& file);
/// Writes the file atomically. Throws InputError if the folder cannot be written.
void write_schedule(const ScheduleFile& schedule, const std::filesystem::path& file);

}  // namespace poet
