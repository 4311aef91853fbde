#pragma once

#include <filesystem>
#include <string>

namespace poet {

/// Writes beside the target and renames: never half a file. A link keeps pointing where it points, also where
/// nothing is there yet; a pipe or a terminal is written to. Throws InputError when that fails.
void write_file(const std::filesystem::path& file, const std::string& bytes);

/// What the link `file`, or the last of a chain of links, points at, whether that is there or not; `file`
/// where it is no link. Throws InputError for links in a circle.
[[nodiscard]] std::filesystem::path behind_links(std::filesystem::path file);

}  // namespace poet
