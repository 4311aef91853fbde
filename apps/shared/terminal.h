#pragma once

// What the terminal can show: how wide it is, whether lines can be drawn over, whether there is colour.

#include <cstdio>
#include <optional>
#include <string>

#include "poet/report/table.h"

namespace poet::cli {

/// Columns of the terminal behind `stream`: what COLUMNS says if it is set to a number, at least 20; else
/// what the terminal says. Nothing where `stream` is no terminal.
[[nodiscard]] std::optional<int> terminal_width(std::FILE* stream);

/// For sentences on stdout: as wide as the terminal and no wider than reads well, 110 columns.
[[nodiscard]] int prose_width();

/// Fitted into the terminal behind stdout, whole where there is none.
[[nodiscard]] std::string terminal_table(const Table& table, int indent = 0);

/// The lines that are longer than the terminal behind stdout is wide, broken at spaces; what is moved down is
/// indented as the line was, and two columns more.
[[nodiscard]] std::string fitted_lines(const std::string& text);

/// A message of one line, with its line break; where `stream` is a terminal, as many lines as fit into it.
[[nodiscard]] std::string message_text(const std::string& message, std::FILE* stream);

/// Whether `stream` is a terminal that can draw over a line.
[[nodiscard]] bool is_live(std::FILE* stream);

enum class Colour { automatic, always, never };

/// What --color says. Automatic: on terminals, unless the variable NO_COLOR is set (no-color.org).
void use_colour(Colour colour);

enum class Style { label, good, fair, bad };

/// The text in that style, where `stream` takes colours.
[[nodiscard]] std::string styled(Style style, const std::string& text, std::FILE* stream = stdout);

}  // namespace poet::cli
