#pragma once

// A plan for a terminal: what it is, its energy, RAM over time as a chart, what the engine and the channel
// do, and how it deviates from keeping everything.

#include <string>

#include "poet/report/history.h"
#include "poet/report/picture.h"

namespace poet {

struct TextOptions {
  int width = 100;      // no line is longer, in characters; at least 40
  bool unicode = true;  // false: ASCII only, but for the names that files give
  bool all = false;     // every deviation instead of the weightiest
  Axis axis = Axis::time;
};

/// Every line ends in a newline. An invalid plan is shown as far as the replay came. O(steps log steps +
/// edges).
[[nodiscard]] std::string picture_text(const Picture& picture, const TextOptions& options = {});

}  // namespace poet
