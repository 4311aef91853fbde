#pragma once

#include <filesystem>
#include <string>

namespace poet {

/// A module of a web page and all that it imports as one script, for pages that stand alone: each module in a
/// scope of its own, after those that it imports. Understands what the modules in data/ use: imports of
/// { names } from "./file.js", at the beginning of a line and not in a circle, and exports of declarations.
/// Throws InputError when a file cannot be read. O(size of the modules).
[[nodiscard]] std::string bundle(const std::filesystem::path& module);

/// The text of a file. Throws InputError.
[[nodiscard]] std::string page_text(const std::filesystem::path& file);

}  // namespace poet
