#pragma once

// What a person sees on stderr while a network trains.

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

/// One live line on a terminal; elsewhere plain lines: the first step, the last one, and one every ten
/// seconds at most.
class TrainingProgress {
 public:
  /// Shows nothing where `stream` is null. `first` is the number of the run's first step, `last` of its last.
  TrainingProgress(std::FILE* stream, std::int64_t first, std::int64_t last);
  ~TrainingProgress();
  TrainingProgress(const TrainingProgress&) = delete;
  TrainingProgress& operator=(const TrainingProgress&) = delete;
  TrainingProgress(TrainingProgress&&) = delete;
  TrainingProgress& operator=(TrainingProgress&&) = delete;

  void show(const runtime::StepFigures& done);
  /// A line that stays.
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
