#pragma once

#include <string>

namespace poet::cli {

/// Call it first, with argv[0], so that suggested commands work when typed. The script ./poet passes its own
/// name in POET_CALLED_AS.
void set_called_as(const char* program);

/// Returns the program's name as the user typed it ("./poet"), quoted for a shell if necessary; "poet" unless
/// set.
[[nodiscard]] std::string called_as();

/// Quotes a file's name for a shell.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace poet::cli
