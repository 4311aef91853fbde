#include "apps/cli/solve/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "apps/shared/live_line.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const double kBegan = now();  // as good as when the command was typed

/// What is known, by importance.
struct Parts {
  std::string best, schedule, bound, gap;  // empty: not known, or of no interest
};

Parts parts_of(const Progress& progress, Joules baseline) {
  Parts parts;
  const std::optional<double>& plan = progress.plan_joules;
  const std::optional<double>& schedule = progress.incumbent_joules;
  const auto said = [](const char* what, double joules) {
    return fmt::format("{} {}", what, format_joules(Joules(joules), 6));
  };
  if (plan) parts.best = said("best", *plan);
  if (schedule && !(plan && *plan <= *schedule)) parts.schedule = said("schedule", *schedule);
  if (progress.bound_joules) parts.bound = said("bound", *progress.bound_joules);
  const std::optional<double> least = plan ? plan : schedule;
  if (least && progress.bound_joules && *least > baseline.value())
    parts.gap = "gap " + format_percent(
                             std::max(0.0, *least - *progress.bound_joules) / (*least - baseline.value()), 2);
  return parts;
}

std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string with_phase(const std::string& phase, const std::string& rest) {
  return phase.empty() || rest.empty() ? phase + rest : phase + ": " + rest;
}

std::string figures_text(const Progress& progress, Joules baseline) {
  const Parts parts = parts_of(progress, baseline);
  return joined({parts.best, parts.schedule, parts.bound, parts.gap});
}

std::string elapsed_text(double seconds) {
  return seconds < 120 ? fmt::format("{:.1f} s", seconds) : format_seconds(Seconds(seconds), 3);
}

}  // namespace

std::string describe(const Progress& progress, Joules baseline) {
  const Parts parts = parts_of(progress, baseline);
  return with_phase(progress.phase, joined({parts.best, parts.schedule, parts.bound, parts.gap,
                                            elapsed_text(progress.elapsed_seconds)}));
}

std::string describe_within(int columns, const Progress& progress, Joules baseline, const std::string& time) {
  const auto [best, schedule, bound, gap] = parts_of(progress, baseline);
  const std::string& found = best.empty() ? schedule : best;
  const std::string all = with_phase(joined({progress.phase, time}), joined({best, schedule, bound, gap}));
  std::string text;
  for (const std::string& shorter :
       {all, with_phase(joined({progress.phase, time}), joined({found, bound, gap})),
        joined({found, bound, gap, time}), joined({found, bound, time}), joined({found, bound}),
        joined({found.substr(found.find(' ') + 1), bound}), found}) {
    if (!shorter.empty()) text = shorter;
    if (columns_of(text) <= static_cast<std::size_t>(columns)) break;
  }
  return text;
}

bool PlainFilter::worth_printing(const Progress& progress, Joules baseline) {
  std::string figures = figures_text(progress, baseline);
  if (printed_) {
    const bool new_phase = printed_->phase != progress.phase;
    const bool new_figures = figures != printed_figures_;
    const double since = progress.elapsed_seconds - printed_->elapsed_seconds;
    const bool due = new_phase ? new_figures || since >= seconds_between_phases_ : new_figures && since >= 1;
    if (!due) return false;
  }
  printed_ = progress;
  printed_figures_ = std::move(figures);
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
  latest_->elapsed_seconds = now() - kBegan;
  if (!live_ && filter_.worth_printing(*latest_, baseline_)) {
    // Not fmt::print, which throws when nobody reads stderr any more: progress is no reason to stop.
    std::fputs(fmt::format("poet: {}\n", describe(*latest_, baseline_)).c_str(), stream_);
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
  std::string time = elapsed_text(now() - kBegan);
  if (time_limit_) {
    const double left = std::max(0.0, *time_limit_ - (now() - began_));
    time = left > 0 ? fmt::format("{:.0f} s left", std::ceil(left)) : "finishing";
    if (shown.phase.empty()) shown.phase = "searching";
  }
  draw_line(stream_, describe_within(live_columns(stream_), shown, baseline_, time));
}

void ProgressLines::write(const Progress& told) {
  const std::scoped_lock lock(mutex_);
  Progress progress = told;
  progress.elapsed_seconds = now() - kBegan;
  if (!filter_.worth_printing(progress, baseline_)) return;
  const auto number = [](const std::optional<double>& joules) {
    return joules ? nlohmann::ordered_json(*joules) : nlohmann::ordered_json(nullptr);
  };
  file_.write({{"phase", progress.phase},
               {"plan_joules", number(progress.plan_joules)},
               {"schedule_joules", number(progress.incumbent_joules)},
               {"bound_joules", number(progress.bound_joules)},
               {"elapsed_seconds", progress.elapsed_seconds}});
}

}  // namespace poet::cli
