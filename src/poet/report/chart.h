#pragma once

// Charts of characters: RAM over time, and lanes of compute and storage.

#include <string>
#include <vector>

#include "poet/report/history.h"
#include "poet/report/picture.h"

namespace poet {

struct ChartOptions {
  int margin = 14;      // columns left of the chart
  int columns = 86;     // of the chart itself
  bool unicode = true;  // false: ASCII
  Axis axis = Axis::time;
};

/// Returns a chart of RAM: each column shows the maximum of its interval, with Unicode in eighths of a line.
/// The budget is a separate line between two others, or a remark if it is far above the peak. The time axis
/// and the position of the peak follow. Every line ends in a newline. There must be a replayed step.
[[nodiscard]] std::string memory_chart(const Picture& picture, const History& history,
                                       const ChartOptions& options);

/// Returns lanes with a letter per column, for the action that took most of it. Compute: F, B, U the first
/// computations of the passes, R recomputed, r recomputed for less than that, w waiting for storage. Storage:
/// o page-out, i page-in, x both; shown however short they are.
[[nodiscard]] std::string lanes(const Picture& picture, const History& history, const ChartOptions& options);

}  // namespace poet
