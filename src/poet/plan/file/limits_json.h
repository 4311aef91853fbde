#pragma once

// Semantics and limits as schedule and plan files state them.

#include <nlohmann/json_fwd.hpp>

#include "poet/cost/json_reader.h"
#include "poet/plan/limits.h"

namespace poet {

/// Adds `semantics`, `ram_budget_bytes`, `deadline_seconds` (null: none) and, if there is one,
/// `max_bytes_written`.
void write_limits(nlohmann::ordered_json& json, Semantics semantics, const Limits& limits);

/// Read them from the object that has these members. Throw InputError.
[[nodiscard]] Semantics read_semantics(const JsonField& file);
[[nodiscard]] Limits read_limits(const JsonField& file);

}  // namespace poet
