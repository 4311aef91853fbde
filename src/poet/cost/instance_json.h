#pragma once

// Instance files. Two forms are read: `nodes` (one value per op, as the published instances) and the richer
// `ops` + `values`. Instances that `nodes` can express (in particular those read in that form) are written in
// it, so that independent checkers of the published format keep working; others in the richer form. Reading a
// written file gives the same instance, to the last bit of every double. docs/formats_instance.md describes
// both forms.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "poet/cost/instance.h"

namespace poet {

/// Reads and verifies an instance. Throws InputError with `place` and the JSON pointer, op or value that is
/// invalid.
[[nodiscard]] Instance instance_from_json(const nlohmann::ordered_json& json, const std::string& place);
[[nodiscard]] nlohmann::ordered_json to_json(const Instance& instance);

/// Reads and verifies a file. Throws InputError naming the file, the place in it and the rule.
[[nodiscard]] Instance read_instance(const std::filesystem::path& file);

}  // namespace poet
