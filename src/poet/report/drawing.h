#pragma once

// Figures into files: what every gnuplot script of ours goes through.

#include <filesystem>
#include <functional>
#include <string>

namespace poet {

enum class FigureFormat { svg, png, pdf };

/// Whether the name ends in .svg, .png, .pdf or .gp.
[[nodiscard]] bool is_figure(const std::filesystem::path& file);

/// The script that draws in that format into a file of that name.
using ScriptOf = std::function<std::string(FigureFormat format, const std::string& output)>;

/// The figure, or for .gp the script. Throws InputError when gnuplot is missing or fails, or the file cannot
/// be written.
void write_drawing(const std::filesystem::path& file, const ScriptOf& script_of);

}  // namespace poet
