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

/// The last line of a program's messages, without its name and paths below a folder.
[[nodiscard]] std::string last_words(std::string messages, const std::filesystem::path& folder);

}  // namespace poet::server
