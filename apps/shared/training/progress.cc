#include "apps/shared/training/progress.h"

#include <fmt/format.h>

#include "apps/shared/live_line.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"

namespace poet::cli {
namespace {

constexpr double kPlainSeconds = 10;
constexpr double kLiveSeconds = 0.25;

}  // namespace

std::string describe(const runtime::StepFigures& done, std::int64_t steps, double seconds_per_step) {
  std::string text =
      fmt::format("step {} of {}, loss {:.4g}, {} a step", format_count(done.number), format_count(steps),
                  done.loss, format_seconds(Seconds(seconds_per_step), 3));
  const auto left = static_cast<double>(steps - done.number);
  if (left > 0) text += fmt::format(", {} left", format_seconds(Seconds(left * seconds_per_step), 2));
  return text;
}

std::string describe(const runtime::ValidationFigures& found) {
  std::string text =
      fmt::format("validation after step {}: loss {:.4g}", format_count(found.step), found.loss);
  if (found.accuracy) text += fmt::format(", {:.4g}% right", 100 * *found.accuracy);
  return text;
}

TrainingProgress::TrainingProgress(std::FILE* stream, std::int64_t first, std::int64_t last)
    : stream_(stream), live_(stream != nullptr && is_live(stream)), first_(first), last_(last) {}

TrainingProgress::~TrainingProgress() {
  if (live_) remove_line(stream_);
}

void TrainingProgress::show(const runtime::StepFigures& done) {
  if (stream_ == nullptr) return;
  const Clock::time_point now = Clock::now();
  const double since_shown = std::chrono::duration<double>(now - shown_at_).count();
  const bool ends = done.number == first_ || done.number == last_;
  if (live_ ? since_shown < kLiveSeconds : !ends && since_shown < kPlainSeconds) return;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const std::string text = describe(done, last_, elapsed / static_cast<double>(done.number - first_ + 1));
  if (live_) {
    draw_line(stream_, text);
  } else {
    std::fputs(("poet: " + text + "\n").c_str(), stream_);
    std::fflush(stream_);
  }
  shown_at_ = now;
}

void TrainingProgress::show(const runtime::ValidationFigures& found) {
  if (stream_ == nullptr) return;
  if (live_) remove_line(stream_);
  std::fputs(("poet: " + describe(found) + "\n").c_str(), stream_);
  std::fflush(stream_);
}

}  // namespace poet::cli
