#pragma once

// What the two forms of a file of several plans share.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "poet/cost/json_reader.h"
#include "poet/plan/file/plan_family.h"

namespace poet {

/// That budgets fall from plan to plan, and that what a plan has on storage may live there. Throws InputError
/// with `place`.
void check_family(const PlanFamily& family, const std::string& place);

/// That nothing is paged in the instance that they share. Throws InputError with `place`.
void check_none_paged(const Instance& instance, const std::string& place);

[[nodiscard]] nlohmann::ordered_json ids_json(const std::vector<ValueId>& values);
/// The member `paged`: indices within the graph. Throws InputError.
[[nodiscard]] std::vector<ValueId> read_paged(const JsonField& json, const Graph& graph);

}  // namespace poet
