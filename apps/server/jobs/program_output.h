#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace poet::server {

/// What a file has, or nothing.
[[nodiscard]] std::string contents(const std::filesystem::path& file);

/// What a command of the program writes on its standard output, by way of a file in a folder. Throws
/// InputError with what it says where it fails.
[[nodiscard]] std::string program_output(const std::filesystem::path& program,
                                         const std::filesystem::path& folder,
                                         const std::vector<std::string>& arguments);

/// Text of a program with its files' names only: clients are not told where folders of the server are.
[[nodiscard]] std::string without_folders(std::string text,
                                          const std::vector<std::filesystem::path>& folders);

/// The last line of a program's messages, without its name.
[[nodiscard]] std::string last_words(std::string messages);

}  // namespace poet::server
