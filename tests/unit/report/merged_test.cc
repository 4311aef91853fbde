// Boxes and curves of large figures.

#include "poet/report/merged.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

namespace poet {

namespace {

using Boxes = std::vector<Box>;
using Points = std::vector<std::pair<double, double>>;

bool covers(const Boxes& boxes, double x, double y) {
  return std::any_of(boxes.begin(), boxes.end(),
                     [&](const Box& box) { return box.x0 <= x && x < box.x1 && box.y0 <= y && y < box.y1; });
}

TEST(Merged, JoinsBoxesThatTouch) {
  const Boxes side_by_side = {{0, 1, 0, 1}, {1, 3, 0, 1}, {0, 3, 1, 2}};
  EXPECT_EQ(merged(side_by_side, {0.5, 0.5}), (Boxes{{0, 3, 0, 2}}));
  const Boxes apart = {{0, 1, 0, 1}, {2, 3, 0, 1}};
  EXPECT_EQ(merged(apart, {0.5, 0.5}), apart);
  EXPECT_TRUE(merged(Boxes{}, {1, 1}).empty());
}

TEST(Merged, KeepsWhatIsThinnerThanAGrain) {
  EXPECT_EQ(merged(Boxes{{4.1, 4.2, -3, 3}}, {1, 1}), (Boxes{{4, 5, -3, 3}}));
  EXPECT_EQ(merged(Boxes{{0, 10, 2.01, 2.02}}, {1, 1}), (Boxes{{0, 10, 2, 3}}));
}

// On whole grains not a point is gained or lost, and none is covered twice.
TEST(Merged, CoversTheSameArea) {
  Boxes boxes;
  unsigned random = 1;
  const auto next = [&random](unsigned below) {
    random = random * 1'664'525U + 1'013'904'223U;
    return static_cast<double>((random >> 16U) % below);
  };
  for (int i = 0; i < 200; ++i) {
    const double x = next(40), y = next(40);
    boxes.push_back({x, x + 1 + next(5), y, y + 1 + next(5)});
  }
  const Boxes fewer = merged(boxes, {1, 1});
  double area = 0;
  for (const Box& box : fewer) area += (box.x1 - box.x0) * (box.y1 - box.y0);
  int covered = 0;
  for (int x = 0; x < 50; ++x) {
    for (int y = 0; y < 50; ++y) {
      EXPECT_EQ(covers(boxes, x + 0.5, y + 0.5), covers(fewer, x + 0.5, y + 0.5)) << x << " " << y;
      covered += covers(boxes, x + 0.5, y + 0.5) ? 1 : 0;
    }
  }
  EXPECT_EQ(area, covered);
}

TEST(Merged, CurvesKeepTheirExtremes) {
  Points points;
  for (int i = 0; i < 1000; ++i) points.emplace_back(0.01 * i, i == 555 ? 9 : i == 666 ? -9 : i % 2);
  const Points fewer = merged(points, 1);
  EXPECT_LE(fewer.size(), 40U);
  EXPECT_TRUE(std::is_sorted(fewer.begin(), fewer.end()));
  for (const std::size_t i : {0U, 555U, 666U, 999U})
    EXPECT_NE(std::find(fewer.begin(), fewer.end(), points[i]), fewer.end()) << i;
  EXPECT_EQ(merged(points, 0.01).size(), points.size());
}

}  // namespace
}  // namespace poet
