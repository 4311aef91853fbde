#pragma once

#include <string>

namespace poet {

/// Whether there is a gnuplot to run.
[[nodiscard]] bool has_gnuplot();

/// Runs gnuplot on the script, in a process of its own and without a shell, the user's settings left aside,
/// and returns the bytes of the file that the script is to write as "figure" into the current folder, which
/// is a temporary one. Throws InputError when there is no gnuplot or it fails.
[[nodiscard]] std::string run_gnuplot(const std::string& script);

/// `text` as a string of gnuplot's in double quotes, in which nothing is expanded: neither commands in
/// backquotes nor macros nor escapes. In an svg it is text: "]]>" gets a space.
[[nodiscard]] std::string gnuplot_string(const std::string& text);

}  // namespace poet
