#pragma once

// Progress of the solver on stderr: one live line on a terminal, plain lines elsewhere.

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "apps/shared/progress_file.h"
#include "poet/base/units.h"
#include "poet/optimize/outcome.h"

namespace poet::cli {

/// "root relaxation: best 7.902 J, schedule 7.895 J, bound 7.894 J, gap 4.1%, 12 s": the best plan so far;
/// what the search has found if that is better, whose addresses may yet turn out not to fit; the bound. The
/// gap is (best - bound) / (best - baseline), the measure that `--gap` limits. What is not known yet is left
/// out.
[[nodiscard]] std::string describe(const Progress& progress, Joules baseline);

/// "root relaxation, 12 s left: best ...", `time` being what is said of it. In fewer columns without what is
/// of less importance: what is found comes first, then the bound, then the time.
[[nodiscard]] std::string describe_within(int columns, const Progress& progress, Joules baseline,
                                          const std::string& time);

/// Decides which moments are worth a plain line: the first one, then only when incumbent or bound changed as
/// printed, at most one a second unless the phase changed, too; and new phases without new figures.
class PlainFilter {
 public:
  /// Of phases without new figures, at most one in `seconds_between_phases` is printed.
  explicit PlainFilter(double seconds_between_phases = 0) : seconds_between_phases_(seconds_between_phases) {}
  [[nodiscard]] bool worth_printing(const Progress& progress, Joules baseline);

 private:
  double seconds_between_phases_;
  std::optional<Progress> printed_;
  std::string printed_figures_;
};

/// Shows progress on `stream` while it lives, and the time since the program began: searches count from their
/// own beginnings. Thread-safe. On a terminal the line is redrawn four times a
/// second, so that the time goes on while the solver is silent, and removed at the end.
class ProgressDisplay {
 public:
  /// `time_limit`, in seconds, is that of the search, of which the live line says what is left.
  ProgressDisplay(std::FILE* stream, Joules baseline, std::optional<double> time_limit = {});
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;
  ProgressDisplay(ProgressDisplay&&) = delete;
  ProgressDisplay& operator=(ProgressDisplay&&) = delete;

  void show(const Progress& progress);

 private:
  void redraw_until_done();
  void redraw() const;

  std::FILE* stream_;
  Joules baseline_;
  std::optional<double> time_limit_;
  double began_;  // by this process's monotonic clock, in seconds
  bool live_;
  PlainFilter filter_{10};
  std::mutex mutex_;
  std::condition_variable done_changed_;
  bool done_ = false;
  std::optional<Progress> latest_;
  std::thread painter_;  // live only
};

/// The same moments as lines of JSON (docs/formats_result.md, "Progress"), for other programs. Thread-safe.
class ProgressLines {
 public:
  /// Throws InputError naming `--progress-out`.
  ProgressLines(const std::string& file, Joules baseline)
      : file_("--progress-out", file), baseline_(baseline) {}
  void write(const Progress& progress);

 private:
  ProgressFile file_;
  Joules baseline_;
  PlainFilter filter_;
  std::mutex mutex_;
};

}  // namespace poet::cli
