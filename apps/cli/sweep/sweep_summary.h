#pragma once

// The summary of a sweep.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "poet/study/pareto.h"
#include "poet/study/sweep_point.h"
#include "poet/study/sweep_result.h"

namespace poet::cli {

struct SweepOutcome {
  std::string spec, store;               // as named by the user
  std::optional<std::string> csv, page;  // likewise
  std::vector<SweepPoint> points;
  std::vector<std::optional<SweepResult>> results;  // one per point; nullopt if it has not been run
  std::size_t there_before = 0;                     // points with a result before this run
  std::size_t run = 0;
  bool interrupted = false;
};

/// Returns the available results, in the order of the points.
[[nodiscard]] std::vector<SweepResult> results_of(const SweepOutcome& outcome);

/// Returns the number of points without a result.
[[nodiscard]] std::size_t points_left(const SweepOutcome& outcome);

/// Returns a table with one line per network and platform, reasons of failures, and the results' files.
[[nodiscard]] std::string sweep_text(const SweepOutcome& outcome);

/// Returns summary and results as JSON (docs/formats_sweep.md).
[[nodiscard]] nlohmann::ordered_json sweep_json(const SweepOutcome& outcome);

}  // namespace poet::cli
