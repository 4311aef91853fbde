#pragma once

// A plan as text for a terminal: its subject and energy, a chart of RAM over time, the activity of engine and
// channel, and its deviations from the keep-all plan.

#include <string>

#include "poet/report/history.h"
#include "poet/report/picture.h"

namespace poet {

struct TextOptions {
  int width = 100;      // no line is longer, in characters; at least 40
  bool unicode = true;  // false: ASCII only, except for names from files
  bool all = false;     // every deviation instead of the largest ones
  Axis axis = Axis::time;
};

/// Returns lines that all end in a newline. Of an invalid plan the replayed part is shown. O(steps log steps
/// + edges).
[[nodiscard]] std::string picture_text(const Picture& picture, const TextOptions& options = {});

}  // namespace poet
