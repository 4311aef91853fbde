#pragma once

// Progress of training on stderr.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "poet/runtime/training/measured.h"
#include "poet/runtime/training/validation.h"

namespace poet::cli {

/// "step 120 of 200, loss 0.532, 8.3 ms a step, 0.66 s left".
[[nodiscard]] std::string describe(const runtime::StepFigures& done, std::int64_t steps,
                                   double seconds_per_step);

/// "validation after step 120: loss 0.61, 81.2% right".
[[nodiscard]] std::string describe(const runtime::ValidationFigures& found);

/// Shows one live line on a terminal; otherwise lines for the first step, the last one, and at most one every
/// ten seconds.
class TrainingProgress {
 public:
  /// Shows nothing if `stream` is null. `first`, `last`: numbers of the run's first and last step.
  TrainingProgress(std::FILE* stream, std::int64_t first, std::int64_t last);
  ~TrainingProgress();
  TrainingProgress(const TrainingProgress&) = delete;
  TrainingProgress& operator=(const TrainingProgress&) = delete;
  TrainingProgress(TrainingProgress&&) = delete;
  TrainingProgress& operator=(TrainingProgress&&) = delete;

  void show(const runtime::StepFigures& done);
  /// Prints a permanent line.
  void show(const runtime::ValidationFigures& found);

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* stream_;
  bool live_;
  std::int64_t first_;
  std::int64_t last_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_at_{};
};

}  // namespace poet::cli
