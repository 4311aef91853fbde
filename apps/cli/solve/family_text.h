#pragma once

// The answers of family.h for people and programs.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// summary_text() and result_json() of one answer; of several ones a table with a line of each, what is to be
/// noted, and why there is no plan where there is none.
[[nodiscard]] std::string answers_text(const std::vector<Solved>& answers);
[[nodiscard]] nlohmann::ordered_json answers_json(const std::vector<Solved>& answers);

}  // namespace poet::cli
