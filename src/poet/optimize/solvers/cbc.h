#pragma once

// COIN-OR Clp and Cbc behind two functions. The only file pair that knows them.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "poet/optimize/model.h"

namespace poet {

struct LpResult {
  enum class Status { optimal, infeasible, stopped } status = Status::stopped;
  double objective = 0;  // cost constant included
  std::vector<double> x;
  std::vector<double> reduced_costs;
};

struct MipResult {
  enum class Status { optimal, feasible, infeasible, unknown } status = Status::unknown;
  double objective = 0;       // of x; cost constant included
  double bound = -kInfinity;  // no point of the model costs less
  std::vector<double> x;
  long nodes = 0;
};

struct MipOptions {
  double time_limit_seconds = 60;
  long node_limit = -1;     // negative: none
  double relative_gap = 0;  // stop when objective - bound <= this * |objective|
  double absolute_gap = 0;
  double cutoff = kInfinity;  // only solutions below this are wanted
  int threads = 1;
  std::vector<std::pair<int, double>>
      start;  // (column, value): a known solution's integer columns; may be empty
  std::function<bool(double objective, double bound)> keep_going;  // polled; false stops
};

/// The linear relaxation. Deterministic. `stop` is polled; true gives Status::stopped.
[[nodiscard]] LpResult solve_lp(const Model& model, double time_limit_seconds,
                                const std::function<bool()>& stop = {});

/// Cbc with its cuts and heuristics. Deterministic unless the time limit strikes. Never
/// reports a time-limited incumbent as optimal, nor a time-out as infeasible.
[[nodiscard]] MipResult solve_mip(const Model& model, const MipOptions& options);

/// "CBC 2.10.8".
[[nodiscard]] std::string cbc_version();

}  // namespace poet
