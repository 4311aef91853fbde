#pragma once

// A plan as a static figure, one column wide, drawn by gnuplot: (a) the values by the op that computes them
// over time, as in Figure 2 of the POET paper, (b) RAM against the budget, (c) addresses. Colours are Okabe
// and Ito's, which colour-blind people tell apart.

#include <filesystem>
#include <string>

#include "poet/report/drawing.h"
#include "poet/report/history.h"
#include "poet/report/picture.h"

namespace poet {

/// The whole gnuplot script, its data inline, that draws the figure into `output`. Same picture, same bytes.
/// An invalid plan is drawn as far as the replay came. O(steps + edges).
[[nodiscard]] std::string figure_script(const Picture& picture, Axis axis, FigureFormat format,
                                        const std::string& output);

/// The figure, or for .gp the script. Throws InputError when gnuplot is missing or fails, or the file cannot
/// be written.
void write_figure(const Picture& picture, Axis axis, const std::filesystem::path& file);

}  // namespace poet
