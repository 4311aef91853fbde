#pragma once

// Lists and removes folders so that running out of memory is an exception: libstdc++'s directory iterators
// terminate the program (GCC 12: their constructor is noexcept).

#include <filesystem>
#include <system_error>
#include <vector>

namespace poet {

/// Returns the entries of a folder, sorted by name. Sets `error` if it cannot be read to its end.
[[nodiscard]] std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder,
                                                            std::error_code& error);

/// The same, without errors: as many entries as could be read.
[[nodiscard]] std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Returns the regular files of the folder and its subfolders. Throws std::filesystem::filesystem_error.
[[nodiscard]] std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// Removes a file, or a folder with its content, without following links. Ignores errors.
void remove_folder(const std::filesystem::path& folder) noexcept;

}  // namespace poet
