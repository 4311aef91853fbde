#pragma once

// Progress reports of a solve.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "poet/base/units.h"

namespace poet {

/// The state of a solve at one moment. Energies include everything that the semantics charges.
struct Progress {
  std::string phase;
  std::optional<double> incumbent_joules;     // the incumbent's energy; its addresses may not fit
  std::optional<double> bound_joules;         // lower bound on every plan
  std::optional<double> staged_bound_joules;  // lower bound on staged schedules
  double elapsed_seconds = 0;
  /// compile(): the energy of the cheapest plan so far whose addresses fit.
  std::optional<double> plan_joules = std::nullopt;
};

/// Called from the solving thread.
using OnProgress = std::function<void(const Progress&)>;

/// Wraps a progress callback so that `change` edits each report. An empty callback stays empty.
[[nodiscard]] inline OnProgress map_progress(OnProgress on_progress, std::function<void(Progress&)> change) {
  if (!on_progress) return on_progress;
  return [on_progress = std::move(on_progress), change = std::move(change)](Progress progress) {
    change(progress);
    on_progress(progress);
  };
}

}  // namespace poet
