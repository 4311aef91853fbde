#pragma once

// A line of a terminal that is drawn again and again.

#include <cstdio>
#include <string>

namespace poet::cli {

/// Draws over the current line, cut to the terminal's width: a longer one would wrap for good.
void draw_line(std::FILE* stream, const std::string& text);

/// Leaves it empty.
void remove_line(std::FILE* stream);

}  // namespace poet::cli
