#pragma once

#include <string>

namespace poet::cli {

/// At the program's beginning, with argv[0]: commands that it tells the user to type are to work where the
/// user is. The script ./poet says in POET_CALLED_AS how it was called itself.
void set_called_as(const char* program);

/// "./poet", "poet": what the user calls the program by, quoted for a shell where it must be; "poet" unless
/// it was set.
[[nodiscard]] std::string called_as();

/// For a shell: a file of any name.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace poet::cli
