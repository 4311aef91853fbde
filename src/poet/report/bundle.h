#pragma once

#include <filesystem>
#include <string>

namespace poet {

/// Returns a module of a web page and its imports as one script, for self-contained pages: each module in its
/// own scope, after those that it imports. Supports the syntax used by the modules in data/: imports of {
/// names } from "./file.js" at the beginning of a line, without cycles, and exports of declarations. Throws
/// InputError if a file cannot be read. O(size of the modules).
[[nodiscard]] std::string bundle(const std::filesystem::path& module);

/// Returns the text of a file. Throws InputError.
[[nodiscard]] std::string page_text(const std::filesystem::path& file);

}  // namespace poet
