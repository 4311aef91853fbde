#pragma once

// What a point of a window relaxation decides, and schedules that take these decisions.

#include <vector>

#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/relaxation/windows.h"

namespace poet {

/// What a point of the model decides, in windows.
struct WindowDecisions {
  std::vector<std::vector<int>> recompute;  // window -> ops, increasing
  std::vector<std::vector<int>> page_in;    // window -> values, increasing
};
[[nodiscard]] WindowDecisions window_decisions(const WindowModel& model, const std::vector<double>& x);

/// As decisions per stage, each taken once in its window, where it is first needed. Costs what the relaxation
/// says, and may overflow inside the windows.
[[nodiscard]] Decisions taken_once(const Problem& problem, const StageWindows& windows,
                                   const WindowDecisions& decided);

/// As a mode per gap: recomputed or paged again for each use. Overflows less, costs more.
[[nodiscard]] std::vector<GapMode> taken_for_each_use(const Problem& problem, const StageWindows& windows,
                                                      const WindowDecisions& decided, const Gaps& gaps);

}  // namespace poet
