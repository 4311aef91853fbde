#pragma once

#include <filesystem>
#include <string>

namespace poet::cli {

/// Call it first, with argv[0], so that suggested commands work when typed. The script ./poet passes its own
/// name in POET_CALLED_AS. `file` starts the program again.
void set_called_as(const char* program, const std::filesystem::path& file = "/proc/self/exe");

/// Returns the program's name as the user typed it ("./poet"), quoted for a shell if necessary; "poet" unless
/// set.
[[nodiscard]] std::string called_as();

/// Returns the file that starts this program again. Throws std::filesystem::filesystem_error where it is not
/// there.
[[nodiscard]] std::filesystem::path program_file();

/// Quotes a file's name for a shell.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace poet::cli
