#pragma once

// Folders, listed and removed so that a lack of memory is an exception or leaves nothing behind: libstdc++'s
// iterators end the program where there is none (GCC 12; opening a folder is noexcept there).

#include <filesystem>
#include <system_error>
#include <vector>

namespace poet {

/// What is in a folder, in the order of names. Where it cannot be read to its end `error` says why.
[[nodiscard]] std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder,
                                                            std::error_code& error);

/// The same; of a folder that cannot be read, or is none, what is known.
[[nodiscard]] std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// The regular files in it and in the folders below. Throws std::filesystem::filesystem_error.
[[nodiscard]] std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// The folder, or file, goes with all that is in it; links are not followed. What cannot be removed stays.
void remove_folder(const std::filesystem::path& folder) noexcept;

}  // namespace poet
