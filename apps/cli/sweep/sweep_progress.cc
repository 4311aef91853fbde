#include "apps/cli/sweep/sweep_progress.h"

#include <fmt/format.h>

#include "apps/shared/live_line.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"

namespace poet::cli {
namespace {

constexpr double kPlainSeconds = 10;
constexpr double kLiveSeconds = 0.25;

}  // namespace

std::string describe(const SweepCount& count, double elapsed_seconds) {
  std::string text = fmt::format("{} of {}", format_count(static_cast<std::int64_t>(count.done)),
                                 counted(static_cast<std::int64_t>(count.total), "point"));
  if (count.failed > 0) text += fmt::format(", {} failed", count.failed);
  if (count.run > 0 && count.done < count.total) {
    const double each = elapsed_seconds / static_cast<double>(count.run);
    const double left = each * static_cast<double>(count.total - count.done);
    text += fmt::format(", {} left", format_seconds(Seconds(left), 2));
  }
  return text;
}

SweepProgress::SweepProgress(std::FILE* stream)
    : stream_(stream), live_(stream != nullptr && is_live(stream)) {}

SweepProgress::~SweepProgress() {
  if (live_) remove_line(stream_);
}

void SweepProgress::say(const std::string& text) {
  if (stream_ == nullptr) return;
  if (live_) remove_line(stream_);
  std::fputs(fmt::format("poet: {}\n", text).c_str(), stream_);
  std::fflush(stream_);
}

void SweepProgress::show(const SweepCount& count) {
  if (stream_ == nullptr) return;
  const Clock::time_point now = Clock::now();
  const auto since = [now](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  const std::string text = describe(count, since(start_));
  if (live_) {
    if (since(shown_at_) < kLiveSeconds) return;
    draw_line(stream_, text);
  } else {
    const bool ends = count.run <= 1 || count.done == count.total;
    if (count.run == shown_run_ || !(ends || since(shown_at_) >= kPlainSeconds)) return;
    say(text);
  }
  shown_at_ = now;
  shown_run_ = count.run;
}

}  // namespace poet::cli
