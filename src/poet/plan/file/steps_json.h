#pragma once

// A plan's steps and addresses as JSON, for files of one plan and of several.

#include <nlohmann/json_fwd.hpp>

#include "poet/cost/json_reader.h"
#include "poet/plan/file/plan_file.h"

namespace poet {

/// Adds `arena_bytes`, `steps` and `allocations`.
void write_steps(nlohmann::ordered_json& json, const PlanFile& file);

/// The reverse, for `file`'s instance and semantics; `allocations` is what that field is called. Throws
/// InputError.
void read_steps(const JsonField& root, const char* allocations, PlanFile& file);

}  // namespace poet
