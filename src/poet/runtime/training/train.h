#pragma once

// The training loop: batches in, losses out, and what it took.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "poet/runtime/data/dataset.h"
#include "poet/runtime/executor/executor.h"
#include "poet/runtime/training/checkpoint.h"

namespace poet::runtime {

struct TrainOptions {
  std::int64_t steps = 1;  // to have been done at the end, those before a resumed checkpoint included
  RunState from;           // where to start: step 0 of a new run, or a checkpoint's
  std::optional<std::filesystem::path> checkpoint;  // written at the end, and every so many steps
  std::int64_t checkpoint_every = 0;                // 0: only at the end
  /// After every step; may be empty.
  std::function<void(const RunState& done, Seconds makespan)> on_step;
  /// Whether to stop after the step under way; may be empty.
  std::function<bool()> interrupted;
};

enum class TrainEnd {
  done,
  interrupted,
  not_finite,  // the last loss or a parameter is infinite or not a number; the checkpoint before it stays
};

/// Medians, means and extremes are over all steps but the first, which touches memory for the first time
/// (unless it is the only one).
struct Measured {
  std::int64_t steps = 0;  // measured
  Seconds step{};          // median, without fetching the data
  Seconds fastest{};
  Seconds slowest{};
  Seconds stalled{};            // median
  Seconds fetching{};           // median, of the data set
  std::vector<double> seconds;  // mean of each of the plan's steps
  TransferTotals transferred;   // in one step
  Bytes high_water{};           // of the arena, as found by what is no longer untouched
};

struct TrainResult {
  TrainEnd end = TrainEnd::done;
  bool saved = false;         // a checkpoint was written
  RunState state;             // after the last step
  std::vector<float> losses;  // of the steps of this run
  Measured measured;
};

/// Throws InputError as executor, data set and checkpoint do.
[[nodiscard]] TrainResult train(const PlanFile& file, const Program& program, Executor& executor,
                                const Dataset& data, const TrainOptions& options);

}  // namespace poet::runtime
