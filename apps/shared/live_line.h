#pragma once

// A line of a terminal that is drawn again and again.

#include <cstdio>
#include <string>

namespace poet::cli {

/// The words of `text` that fit into so many columns, numbers with their units.
[[nodiscard]] std::string first_words(const std::string& text, int columns);

/// Columns for a line that does not wrap.
[[nodiscard]] int live_columns(std::FILE* stream);

/// Draws over the current line, cut after a word to the terminal's width: a longer one would wrap for good.
void draw_line(std::FILE* stream, const std::string& text);

/// Leaves it empty.
void remove_line(std::FILE* stream);

}  // namespace poet::cli
