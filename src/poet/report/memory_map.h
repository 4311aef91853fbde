#pragma once

// What lies where in memory over time, as a static figure: a panel per memory, drawn as the addresses of a
// plan's figure are.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poet/report/drawing.h"
#include "poet/report/merged.h"

namespace poet {

struct MemoryPanel {
  std::string name;
  std::optional<double> capacity;  // bytes; drawn as a line
  std::vector<Box> boxes;          // x: time, y: bytes
};

struct MemoryMap {
  std::string title;
  double length = 1;  // of the time axis, > 0
  std::vector<MemoryPanel> panels;
  double begin = 0;  // of the time axis
};

/// Returns the gnuplot script that draws the map into `output`. Deterministic. O(boxes log boxes).
[[nodiscard]] std::string memory_map_script(const MemoryMap& map, FigureFormat format,
                                            const std::string& output);

/// Writes the figure, or for .gp the script. Throws InputError if gnuplot is missing or fails, or the file
/// cannot be written.
void write_memory_map(const MemoryMap& map, const std::filesystem::path& file);

}  // namespace poet
