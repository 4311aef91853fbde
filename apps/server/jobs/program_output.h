#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace poet::server {

/// Returns a file's contents, empty if it cannot be read.
[[nodiscard]] std::string contents(const std::filesystem::path& file);

/// Returns the standard output of a command of the program, by way of a file in a folder. Throws InputError
/// with its message if it fails.
[[nodiscard]] std::string program_output(const std::filesystem::path& program,
                                         const std::filesystem::path& folder,
                                         const std::vector<std::string>& arguments);

/// Returns a program's text with file names in place of paths, which are private to the server.
[[nodiscard]] std::string without_folders(std::string text,
                                          const std::vector<std::filesystem::path>& folders);

/// Returns the last line of a program's messages, without the program's name.
[[nodiscard]] std::string last_words(std::string messages);

}  // namespace poet::server
