#pragma once

// Figures of large plans without what is too small to be seen, so that a figure's size is bounded by its
// area.

#include <utility>
#include <vector>

namespace poet {

struct Box {
  double x0, x1, y0, y1;

  bool operator==(const Box&) const = default;
};

/// Lengths that nobody can see, in the coordinates of the boxes or points.
struct Grain {
  double x, y;
};

/// Returns boxes that cover the same area, up to a grain at each edge: a box is at least one grain wide and
/// high. No two overlap. Deterministic. O(boxes * log boxes + grains covered).
[[nodiscard]] std::vector<Box> merged(const std::vector<Box>& boxes, Grain grain);

/// Returns a curve without the points that change nothing within a grain of x: of each grain the first, the
/// lowest, the highest and the last point stay. `points` increase in x. O(points).
[[nodiscard]] std::vector<std::pair<double, double>> merged(
    const std::vector<std::pair<double, double>>& points, double grain);

}  // namespace poet
