#pragma once

// Signs that a process should use less memory: memory pressure, and limits of its control group.

#include <filesystem>
#include <optional>
#include <vector>

#include "poet/base/units.h"

namespace poet::runtime {

/// Returns the percentage of the last ten seconds in which some process waited for memory: `some avg10` of
/// /proc/pressure/memory or a group's memory.pressure. Returns nullopt if the file cannot be read or lacks
/// it.
[[nodiscard]] std::optional<double> memory_pressure(const std::filesystem::path& file);

/// Returns the lesser of memory.high and memory.max of a control group (version 2), or nullopt if it has
/// neither.
[[nodiscard]] std::optional<Bytes> group_limit(const std::filesystem::path& folder);

/// Returns whether a folder has a limit, "max" included, and so is a control group.
[[nodiscard]] bool tells_limit(const std::filesystem::path& folder);

/// Returns the existing folders of this process's control group (version 2) and its ancestors.
[[nodiscard]] std::vector<std::filesystem::path> own_groups(const std::filesystem::path& root = "/");

}  // namespace poet::runtime
