#pragma once

// Runs points into a results store, by worker processes or MPI ranks; shared by sweep and reproduce.

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
  bool retry = false;               // rerun failed points
  bool quiet = false;
  std::optional<std::string> progress_out = {};  // a line of JSON per point
  std::optional<std::int64_t> op_limit = {};     // points with larger training steps fail
  bool keep_plans = false;                       // with the results of points
  bool need_plans = false;                       // rerun points whose plan was not kept
  bool here = false;  // by worker processes even with mpirun, whose ranks have ended after an earlier sweep
};

/// Throws InputError for unknown names and sizes out of range, which would otherwise fail point by point,
/// hours later.
void check_spec(const SweepSpec& spec);

/// Runs the points that the store lacks; Ctrl-C stops it. `points` is called once, with mpirun only in the
/// first rank; the other ranks work for it and return nullopt. Call it while single-threaded. Throws
/// InputError.
[[nodiscard]] std::optional<SweepOutcome> run_sweep(const SweepSettings& settings,
                                                    const std::function<std::vector<SweepPoint>()>& points);

}  // namespace poet::cli
