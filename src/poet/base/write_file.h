#pragma once

#include <filesystem>
#include <string>

namespace poet {

/// Writes a file atomically: to a temporary file beside it, which is renamed. Links are followed, dangling
/// ones too; pipes and terminals are written to directly. Throws InputError if that fails.
void write_file(const std::filesystem::path& file, const std::string& bytes);

/// Returns the target of the link `file`, or of the last of a chain of links, whether it exists or not;
/// `file` itself if it is no link. Throws InputError for circular links.
[[nodiscard]] std::filesystem::path behind_links(std::filesystem::path file);

}  // namespace poet
