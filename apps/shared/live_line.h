#pragma once

// A terminal line that is redrawn in place.

#include <cstdio>
#include <string>

namespace poet::cli {

/// Returns the leading words of `text` that fit into the columns; numbers stay with their units.
[[nodiscard]] std::string first_words(const std::string& text, int columns);

/// Returns the number of columns of a line that does not wrap.
[[nodiscard]] int live_columns(std::FILE* stream);

/// Redraws the current line, cut at a word to the terminal's width, as wrapped lines cannot be redrawn.
void draw_line(std::FILE* stream, const std::string& text);

/// Clears the line.
void remove_line(std::FILE* stream);

}  // namespace poet::cli
