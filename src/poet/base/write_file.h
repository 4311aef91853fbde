#pragma once

#include <filesystem>
#include <string>

namespace poet {

/// Writes beside the target and renames: never half a file. A link keeps pointing where it points; a pipe or
/// a terminal is written to. Throws InputError when that fails.
void write_file(const std::filesystem::path& file, const std::string& bytes);

}  // namespace poet
