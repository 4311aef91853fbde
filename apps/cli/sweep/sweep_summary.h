#pragma once

// What a sweep says at its end.

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
  std::vector<std::optional<SweepResult>> results;  // one per point; nothing where it has not been run
  std::size_t there_before = 0;                     // points with a result before this run, not run again
  std::size_t run = 0;
  bool interrupted = false;
};

/// The results there are, in the order of the points.
[[nodiscard]] std::vector<SweepResult> results_of(const SweepOutcome& outcome);

/// Points without a result.
[[nodiscard]] std::size_t points_left(const SweepOutcome& outcome);

/// A table with one line per network and platform, why points failed, and where the results are.
[[nodiscard]] std::string sweep_text(const SweepOutcome& outcome);

/// The same and every result, as docs/formats.md describes it.
[[nodiscard]] nlohmann::ordered_json sweep_json(const SweepOutcome& outcome);

}  // namespace poet::cli
