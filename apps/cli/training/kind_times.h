#pragma once

// Where the time of a step goes, by kind of operator.

#include <string>
#include <vector>

#include "apps/cli/training/session.h"

namespace poet::cli {

struct KindTime {
  std::string kind;
  int runs = 0;         // in one step
  int again = 0;        // of them, recomputations
  double planned = 0;   // seconds, all runs
  double measured = 0;  // seconds, all runs
};

/// The slowest first.
[[nodiscard]] std::vector<KindTime> times_by_kind(const Session& session);

}  // namespace poet::cli
