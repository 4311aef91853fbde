#pragma once

// Progress of a sweep on stderr.

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

namespace poet::cli {

struct SweepCount {
  std::size_t done = 0;    // points with a result, including those of earlier runs
  std::size_t total = 0;   // points of the sweep
  std::size_t run = 0;     // by this run
  std::size_t failed = 0;  // of the points that this run ran
};

/// "12 of 96 points, 2 failed, 3.2 min left". The time left is that of this run's points so far, each, for
/// those to come; without any it is left out.
[[nodiscard]] std::string describe(const SweepCount& count, double elapsed_seconds);

/// One live line on a terminal; elsewhere plain lines: the first point, the last one, and one every ten
/// seconds at most.
class SweepProgress {
 public:
  /// Shows nothing if `stream` is null.
  explicit SweepProgress(std::FILE* stream);
  ~SweepProgress();
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;
  SweepProgress(SweepProgress&&) = delete;
  SweepProgress& operator=(SweepProgress&&) = delete;

  /// A sentence of its own.
  void say(const std::string& text);

  /// Call it after every point, and at least ten times a second to update the time.
  void show(const SweepCount& count);

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* stream_;
  bool live_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_at_{};
  std::size_t shown_run_ = 0;
};

}  // namespace poet::cli
