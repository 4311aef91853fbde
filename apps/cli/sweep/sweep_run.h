#pragma once

// Points into a results store, by worker processes or MPI ranks: what sweep and reproduce have in common.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/sweep/sweep_summary.h"
#include "poet/study/sweep_spec.h"

namespace poet::cli {

struct SweepSettings {
  std::string store;
  std::optional<std::string> jobs;  // --jobs as typed
  bool retry = false;               // run points again that failed
  bool quiet = false;
  std::optional<std::string> progress_out = {};  // a line of JSON per point
  std::optional<std::int64_t> op_limit = {};     // of a point's training step; with more it fails
  bool keep_plans = false;                       // beside the points that are run
  bool need_plans = false;                       // points that have a plan which was not kept are run again
};

/// Unknown names and sizes out of range, which would otherwise fail point by point, hours later. Throws
/// InputError.
void check_spec(const SweepSpec& spec);

/// Runs those of the points that the store does not have; Ctrl-C stops it. `points` is asked once, in this
/// process or, with mpirun, in the first of its ranks; the others work for it and return nothing. Call it
/// while there is a single thread. Throws InputError.
[[nodiscard]] std::optional<SweepOutcome> run_sweep(const SweepSettings& settings,
                                                    const std::function<std::vector<SweepPoint>()>& points);

}  // namespace poet::cli
