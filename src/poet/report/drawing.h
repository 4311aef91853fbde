#pragma once

// Writes the figures that gnuplot scripts draw.

#include <filesystem>
#include <functional>
#include <string>

namespace poet {

enum class FigureFormat { svg, png, pdf };

/// Returns whether the name ends in .svg, .png, .pdf or .gp.
[[nodiscard]] bool is_figure(const std::filesystem::path& file);

/// Returns the script that draws in `format` into the file `output`.
using ScriptOf = std::function<std::string(FigureFormat format, const std::string& output)>;

/// Writes the figure, or for .gp the script. Throws InputError if gnuplot is missing or fails, or the file
/// cannot be written.
void write_drawing(const std::filesystem::path& file, const ScriptOf& script_of);

}  // namespace poet
