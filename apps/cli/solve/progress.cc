#include "apps/cli/solve/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/shared/live_line.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"

namespace poet::cli {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Everything but the time.
std::string describe_state(const Progress& progress, Joules baseline) {
  std::string text = progress.phase;
  const auto add = [&text](const std::string& part) {
    text += text.empty() || text.ends_with(": ") ? part : ", " + part;
  };
  if (!text.empty()) text += ": ";
  if (progress.incumbent_joules) add("best " + format_joules(Joules(*progress.incumbent_joules), 6));
  if (progress.bound_joules) add("bound " + format_joules(Joules(*progress.bound_joules), 6));
  if (progress.incumbent_joules && progress.bound_joules) {
    const double missing = *progress.incumbent_joules - *progress.bound_joules;
    const double overhead = *progress.incumbent_joules - baseline.value();
    if (overhead > 0) add("gap " + format_percent(std::max(0.0, missing) / overhead, 2));
  }
  return text;
}

}  // namespace

std::string describe(const Progress& progress, Joules baseline) {
  std::string text = describe_state(progress, baseline);
  const std::string elapsed = progress.elapsed_seconds < 120
                                  ? fmt::format("{:.1f} s", progress.elapsed_seconds)
                                  : format_seconds(Seconds(progress.elapsed_seconds), 3);
  return text + (text.empty() || text.ends_with(": ") ? "" : ", ") + elapsed;
}

bool PlainFilter::worth_printing(const Progress& progress, Joules baseline) {
  std::string text = describe_state(progress, baseline);
  if (printed_) {
    const bool new_phase = printed_->phase != progress.phase;
    const bool soon = progress.elapsed_seconds < printed_->elapsed_seconds + 1;
    if (text == printed_text_ || (soon && !new_phase)) return false;
  }
  printed_ = progress;
  printed_text_ = std::move(text);
  return true;
}

ProgressDisplay::ProgressDisplay(std::FILE* stream, Joules baseline, std::optional<double> time_limit)
    : stream_(stream), baseline_(baseline), time_limit_(time_limit), began_(now()), live_(is_live(stream)) {
  if (live_) painter_ = std::thread([this] { redraw_until_done(); });
}

ProgressDisplay::~ProgressDisplay() {
  if (!live_) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  done_changed_.notify_all();
  painter_.join();
  remove_line(stream_);
}

void ProgressDisplay::show(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  latest_ = progress;
  latest_at_ = now();
  if (!live_ && filter_.worth_printing(progress, baseline_)) {
    // Not fmt::print, which throws when nobody reads stderr any more: progress is no reason to stop.
    std::fputs(fmt::format("poet: {}\n", describe(progress, baseline_)).c_str(), stream_);
    std::fflush(stream_);
  }
}

void ProgressDisplay::redraw_until_done() {
  std::unique_lock lock(mutex_);
  while (!done_changed_.wait_for(lock, std::chrono::milliseconds(250), [this] { return done_; })) {
    try {
      if (latest_) redraw();
    } catch (const std::bad_alloc&) {  // next time, then: progress is no reason to stop
    }
  }
}

void ProgressDisplay::redraw() const {
  Progress shown = *latest_;
  shown.elapsed_seconds += now() - latest_at_;
  if (time_limit_) {
    // First, as a narrow terminal cuts the line; by this clock, as each search counts from its own
    // beginning.
    const double left = std::max(0.0, *time_limit_ - (now() - began_));
    const std::string phase = shown.phase.empty() ? "searching" : shown.phase;
    shown.phase = left > 0 ? fmt::format("{}, {:.0f} s left", phase, std::ceil(left)) : phase + ", finishing";
    draw_line(stream_, describe_state(shown, baseline_));
  } else {
    draw_line(stream_, describe(shown, baseline_));
  }
}

void ProgressLines::write(const Progress& progress) {
  const std::scoped_lock lock(mutex_);
  if (!filter_.worth_printing(progress, baseline_)) return;
  const auto number = [](const std::optional<double>& joules) {
    return joules ? nlohmann::ordered_json(*joules) : nlohmann::ordered_json(nullptr);
  };
  file_.write({{"phase", progress.phase},
               {"schedule_joules", number(progress.incumbent_joules)},
               {"bound_joules", number(progress.bound_joules)},
               {"elapsed_seconds", progress.elapsed_seconds}});
}

}  // namespace poet::cli
