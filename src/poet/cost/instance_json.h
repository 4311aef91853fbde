#pragma once

// Instance files. Two forms are read: `nodes` (one value per op, as the published instances) and the richer
// `ops` + `values`. An instance of which `nodes` can say everything (above all, one read in that form) is
// written back in it, so that independent checkers of the published format keep working; any other in the
// richer form. Reading what was written gives the same instance, to the last bit of every double.
// docs/formats.md describes both forms.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "poet/cost/instance.h"

namespace poet {

/// Reads and verifies. Throws InputError with `place` and the JSON pointer, or the op or value, of what is
/// wrong.
[[nodiscard]] Instance instance_from_json(const nlohmann::ordered_json& json, const std::string& place);
[[nodiscard]] nlohmann::ordered_json to_json(const Instance& instance);

/// Reads and verifies a file; InputError names the file, the place in it and the rule.
[[nodiscard]] Instance read_instance(const std::filesystem::path& file);

}  // namespace poet
