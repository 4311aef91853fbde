#pragma once

// The command line as it was typed, for what is written to say how it was made.

#include <initializer_list>
#include <string>
#include <string_view>

namespace poet::cli {

/// Keeps the words of the command line, once, when the program begins.
void remember_command(int argc, const char* const* argv);

/// "poet solve --model linear ...", its words quoted for a shell where they have to be, without the options
/// `except` and their values; "--json" is a flag, "--csv=" takes a value. Empty where no command was
/// remembered. `bare_names`: files that are there are named without their folders.
[[nodiscard]] std::string command_text(std::initializer_list<std::string_view> except = {},
                                       bool bare_names = false);

}  // namespace poet::cli
