#pragma once

// Properties of the terminal: width, redrawing of lines, colour.

#include <cstdio>
#include <optional>
#include <string>

#include "poet/report/table.h"

namespace poet::cli {

/// Returns the columns of the terminal behind `stream`: COLUMNS if set to a number of at least 20, else the
/// terminal's width; nullopt if `stream` is not a terminal.
[[nodiscard]] std::optional<int> terminal_width(std::FILE* stream);

/// Returns the width of prose on stdout: the terminal's, at most 110 columns.
[[nodiscard]] int prose_width();

/// Returns the text fitted to the terminal behind stdout, unchanged without one.
[[nodiscard]] std::string terminal_table(const Table& table, int indent = 0);

/// Wraps lines that are longer than stdout's terminal is wide; continuation lines are indented by two more
/// columns.
[[nodiscard]] std::string fitted_lines(const std::string& text);

/// Returns a one-line message with its line break, wrapped if `stream` is a terminal.
[[nodiscard]] std::string message_text(const std::string& message, std::FILE* stream);

/// Whether `stream` is a terminal that can redraw a line.
[[nodiscard]] bool is_live(std::FILE* stream);

enum class Colour { automatic, always, never };

/// Values of --color. Automatic: on terminals, unless NO_COLOR is set (no-color.org).
void use_colour(Colour colour);

enum class Style { label, good, fair, bad };

/// Returns the text in that style if `stream` shows colours.
[[nodiscard]] std::string styled(Style style, const std::string& text, std::FILE* stream = stdout);

}  // namespace poet::cli
