#pragma once

// Boxes on a figure's page, and the units of its axes.

#include <array>
#include <string>
#include <vector>

#include "poet/report/merged.h"
#include "poet/report/page.h"

namespace poet {

struct AxisUnit {
  double size;
  const char* name;
};

/// The largest of which `most` has at least one and a half, else the smallest.
template <std::size_t N>
AxisUnit unit_for(double most, const std::array<AxisUnit, N>& increasing) {
  AxisUnit best = increasing.front();
  for (const AxisUnit& unit : increasing) {
    if (most >= 1.5 * unit.size) best = unit;
  }
  return best;
}

/// As format_bytes() writes them.
[[nodiscard]] AxisUnit byte_unit_for(double most);

/// Boxes of one colour.
struct Series {
  const char* name;
  const char* colour;
  const char* outline;
  double outline_width;  // none: 0
  std::vector<Box> boxes = {};

  void add(double x0, double x1, double y0, double y1) { boxes.push_back({x0, x1, y0, y1}); }

  /// Whether lines in another colour part its boxes.
  [[nodiscard]] bool parted() const { return outline_width > 0 && outline != colour; }
};

/// Returns the boxes, merged if they are many.
[[nodiscard]] std::vector<Box> few(std::vector<Box> boxes, Grain grain);

/// Adds the boxes to the page's panel; `block` names their data. Those that no lines part are merged if many.
void plot_boxes(Page& page, const std::string& block, const Series& series, Grain grain);

}  // namespace poet
