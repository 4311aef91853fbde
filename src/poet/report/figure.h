#pragma once

// A plan as a static figure, one column wide, drawn by gnuplot: (a) the values by the op that computes them
// over time, as in Figure 2 of the POET paper, (b) RAM against the budget, (c) addresses. Colours are Okabe
// and Ito's, which are safe for colour-blind readers.

#include <filesystem>
#include <string>

#include "poet/report/drawing.h"
#include "poet/report/history.h"
#include "poet/report/picture.h"

namespace poet {

/// Returns the gnuplot script, with inline data, that draws the figure into `output`. Deterministic. Of an
/// invalid plan the replayed part is drawn. O(steps + edges).
[[nodiscard]] std::string figure_script(const Picture& picture, Axis axis, FigureFormat format,
                                        const std::string& output);

/// Writes the figure, or for .gp the script. Throws InputError if gnuplot is missing or fails, or the file
/// cannot be written.
void write_figure(const Picture& picture, Axis axis, const std::filesystem::path& file);

}  // namespace poet
