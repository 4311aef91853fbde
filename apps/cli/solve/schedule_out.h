#pragma once

// --schedule-out: the answer as a staged schedule. Where it has none, since it pages between ops or pages
// parameters, the best staged schedule that is found goes into the file, and the file says what it leaves
// out; the answer stays what it is.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

struct ScheduleOut {
  std::string file;
  std::optional<Joules> energy;  // of the schedule; absent: none was found, nothing is written
  std::string leaves_out;        // of the answer, which then is another; may be empty
};

/// Of an answer. Where that has no staged schedule, and the search for it was not interrupted, solves once
/// more for one, in the time that is left, as `options` say. Throws InputError where the file cannot be
/// written.
[[nodiscard]] ScheduleOut write_schedule_of(const Solved& solved, const ProblemOptions& options,
                                            const std::string& file);

/// Returns a line for the summary.
[[nodiscard]] std::string to_text(const ScheduleOut& written);
[[nodiscard]] nlohmann::ordered_json to_json(const ScheduleOut& written);

}  // namespace poet::cli
