#pragma once

// Charts of characters: RAM over time, and lanes of what is busy when.

#include <string>
#include <vector>

#include "poet/report/history.h"
#include "poet/report/picture.h"

namespace poet {

struct ChartOptions {
  int margin = 14;      // columns for what stands left of the chart
  int columns = 86;     // of the chart itself
  bool unicode = true;  // false: ASCII
  Axis axis = Axis::time;
};

/// RAM, each column the most of its stretch of time, in eighths of a line where Unicode has them. The budget
/// is a line of its own between two others; if it is far above all use, a remark instead. Then the axis of
/// time and the place of the peak. Every line ends in a newline. Needs at least one replayed step.
[[nodiscard]] std::string memory_chart(const Picture& picture, const History& history,
                                       const ChartOptions& options);

/// One letter per column: what took most of it. Compute: F, B, U the first computations of the passes, R
/// recomputed, r where recomputing took less than the most, w waiting for storage. Storage: o page-out, i
/// page-in, x both; shown however short they are.
[[nodiscard]] std::string lanes(const Picture& picture, const History& history, const ChartOptions& options);

}  // namespace poet
