#pragma once

// What says that a process is to take less memory: how long processes wait for it, and limits of its control
// group. None of these allocates more than a small file takes.

#include <filesystem>
#include <optional>
#include <vector>

#include "poet/base/units.h"

namespace poet::runtime {

/// Percent of the last ten seconds in which some process waited for memory: `some avg10` of
/// /proc/pressure/memory or a group's memory.pressure. Nothing where the file does not tell.
[[nodiscard]] std::optional<double> memory_pressure(const std::filesystem::path& file);

/// The lesser of memory.high and memory.max of a group (version 2). Nothing where it has neither.
[[nodiscard]] std::optional<Bytes> group_limit(const std::filesystem::path& folder);

/// Whether a folder tells a limit, be it that there is none ("max"): what is no group never would.
[[nodiscard]] bool tells_limit(const std::filesystem::path& folder);

/// The folders of this process's group (version 2) and of those around it, as far as they are there.
[[nodiscard]] std::vector<std::filesystem::path> own_groups(const std::filesystem::path& root = "/");

}  // namespace poet::runtime
