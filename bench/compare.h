#pragma once

// A run next to an older one.

#include <string>
#include <vector>

#include "bench/measurement.h"

namespace poet::bench {

struct Comparison {
  std::string text;
  int worse = 0;  // energies above the old one by more than the tolerance
  int lost = 0;   // cases answered then and not now

  [[nodiscard]] bool regressed() const { return worse > 0 || lost > 0; }
};

/// Matches cases and configurations. Says how the time to gap changed, set by set, which energies and which
/// statuses did, and what could not be compared (another RAM budget or deadline). `tolerance` is a share of
/// the old overhead.
[[nodiscard]] Comparison compare(const std::vector<Measurement>& now, const std::vector<Measurement>& before,
                                 double tolerance);

}  // namespace poet::bench
