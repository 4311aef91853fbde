#pragma once

// The command line as typed, for outputs that record how they were made.

#include <initializer_list>
#include <string>
#include <string_view>

namespace poet::cli {

/// Stores the words of the command line. Call it once, at the start.
void remember_command(int argc, const char* const* argv);

/// "poet solve --model linear ...", its words quoted for a shell where they have to be, without the options
/// `except` and their values; "--json" is a flag, "--csv=" takes a value. Empty if no command line was
/// stored. `bare_names`: existing files are named without their folders.
[[nodiscard]] std::string command_text(std::initializer_list<std::string_view> except = {},
                                       bool bare_names = false);

}  // namespace poet::cli
