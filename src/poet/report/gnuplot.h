#pragma once

#include <string>

namespace poet {

/// Returns whether gnuplot is installed.
[[nodiscard]] bool has_gnuplot();

/// Runs gnuplot on the script without a shell or the user's settings and returns the file "figure" that the
/// script writes into the current folder, which is temporary. Throws InputError if gnuplot is missing or
/// fails.
[[nodiscard]] std::string run_gnuplot(const std::string& script);

/// Returns `text` as a double-quoted gnuplot string without expansion of backquotes, macros or escapes. A
/// space is inserted into "]]>", which would end a CDATA section of an svg.
[[nodiscard]] std::string gnuplot_string(const std::string& text);

}  // namespace poet
