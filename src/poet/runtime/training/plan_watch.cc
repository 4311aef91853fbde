#include "poet/runtime/training/plan_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/runtime/sensors/memory_pressure.h"
#include "poet/runtime/training/control_file.h"

namespace poet::runtime {
namespace {

enum Source : std::size_t { kSignals, kControl, kGroups, kPressure };

/// The first of those that falls within `ram`; past the last one where none does.
std::size_t first_within(const std::vector<Bytes>& needs, Bytes ram) {
  return static_cast<std::size_t>(
      std::find_if(needs.begin(), needs.end(), [ram](Bytes need) { return need <= ram; }) - needs.begin());
}

/// What the file says: nothing where it is not there, and `before` where it is about to be written.
std::vector<ControlLine> lines_of(const std::filesystem::path& file, const std::vector<ControlLine>& before) {
  const std::optional<std::string> text = control_text(file);
  if (!text) return {};
  return parse_control(*text, file.string()).value_or(before);
}

}  // namespace

PlanWatch::PlanWatch(std::vector<Bytes> budgets, std::vector<Bytes> memory, PlanWatchOptions options,
                     PlanWatchHooks hooks)
    : budgets_(std::move(budgets)),
      memory_(std::move(memory)),
      options_(std::move(options)),
      hooks_(std::move(hooks)) {
  ensure(!budgets_.empty() && budgets_.size() == memory_.size(), "a watch has plans to choose from");
  if (options_.control) control_ = lines_of(*options_.control, {});
}

std::optional<PlanRequest> PlanWatch::choose(std::int64_t step, std::size_t present) {
  read_control(step);
  take_signals(present);
  const Seconds now = hooks_.now();
  if (!polled_ || now - *polled_ >= options_.poll) {
    polled_ = now;
    look_at_groups(now);
    look_at_pressure(now, present);
  }
  const auto most = std::max_element(levels_.begin(), levels_.end(),
                                     [](const Level& a, const Level& b) { return a.plan < b.plan; });
  const std::size_t before = decides_;
  decides_ = static_cast<std::size_t>(most - levels_.begin());
  const std::size_t wanted = most->plan;
  if (wanted == present) return std::nullopt;
  if (declined_at_ && wanted == asked_ && now - *declined_at_ < options_.calm) return std::nullopt;
  declined_at_.reset();
  asked_ = wanted;
  // Where there is more room, what had asked for less says why.
  const std::string& reason = levels_[wanted > present ? decides_ : before].reason;
  return PlanRequest{wanted, reason.empty() ? "there is memory" : reason};
}

void PlanWatch::declined() { declined_at_ = hooks_.now(); }

void PlanWatch::read_control(std::int64_t step) {
  if (!options_.control) return;
  const std::string name = options_.control->string();
  try {
    control_ = lines_of(*options_.control, control_);
  } catch (const InputError& error) {
    return notice_once(control_notice_, fmt::format("{}; what it said before holds", error.what()));
  }
  const std::optional<Bytes> ram = ram_at(control_, step);
  Level& level = levels_[kControl];
  level.plan = ram ? first_within(budgets_, *ram) : 0;
  level.reason = ram ? fmt::format("{}: {}", name, format_bytes(*ram)) : name + ": all";
  if (level.plan < budgets_.size()) return;
  level.plan = budgets_.size() - 1;
  notice_once(control_notice_, fmt::format("{} says {}: no plan is for less than {}", name,
                                           format_bytes(*ram), format_bytes(budgets_.back())));
}

void PlanWatch::take_signals(std::size_t present) {
  const int smaller = hooks_.signals ? hooks_.signals() : 0;
  if (smaller == 0) return;
  const std::int64_t last = static_cast<std::int64_t>(budgets_.size()) - 1;
  const std::int64_t plan = std::clamp<std::int64_t>(static_cast<std::int64_t>(present) + smaller, 0, last);
  levels_[kSignals] = {static_cast<std::size_t>(plan), smaller > 0 ? "SIGUSR1" : "SIGUSR2"};
}

void PlanWatch::look_at_groups(Seconds now) {
  std::optional<Bytes> limit;
  for (const std::filesystem::path& folder : options_.groups)
    if (const std::optional<Bytes> one = group_limit(folder)) limit = std::min(limit.value_or(*one), *one);
  Level& level = levels_[kGroups];
  std::size_t plan = 0;
  std::string reason = "the control group has no limit any more";
  if (limit) {
    const Bytes outside = hooks_.outside ? hooks_.outside() : Bytes(0);
    plan = first_within(memory_, *limit - outside);
    reason = fmt::format("limit of the control group: {}, {} of it for the program itself",
                         format_bytes(*limit), format_bytes(outside));
  }
  if (plan == memory_.size()) {
    --plan;
    notice_once(group_notice_, fmt::format("the control group's limit of {} is too little for any plan",
                                           format_bytes(*limit)));
  }
  if (plan >= level.plan) {
    room_since_.reset();
    if (plan > level.plan) level = {plan, reason};
    return;
  }
  room_for_ = room_since_ ? std::max(room_for_, plan) : plan;
  if (!room_since_) room_since_ = now;
  if (now - *room_since_ < options_.calm) return;
  level = {room_for_, reason};
  room_since_.reset();
}

void PlanWatch::look_at_pressure(Seconds now, std::size_t present) {
  std::optional<double> percent;
  for (const std::filesystem::path& file : options_.pressure)
    if (const std::optional<double> one = memory_pressure(file))
      percent = std::max(percent.value_or(0), *one);
  Level& level = levels_[kPressure];
  if (!percent) {
    // Without figures there is no reason to stay at a smaller plan for ever.
    if (level.plan == 0) return;
    notice_once(pressure_notice_, "memory pressure cannot be read any more; it counts as none");
  } else {
    pressure_notice_.clear();
  }
  const bool is_high = percent && *percent >= options_.high;
  const bool is_low = !percent || *percent < options_.low;
  if (!is_low) calm_since_.reset();
  if (is_high) {
    if (stepped_down_ && now - *stepped_down_ < options_.settle) return;
    stepped_down_ = now;
    level.plan = std::min(std::max(level.plan, present) + 1, budgets_.size() - 1);
    level.reason = fmt::format("memory pressure: {:g}% of the last 10 s", *percent);
  } else if (is_low) {
    if (!calm_since_) calm_since_ = now;
    if (level.plan == 0 || now - *calm_since_ < options_.calm) return;
    calm_since_ = now;
    --level.plan;
    level.reason = fmt::format("no memory pressure for {}", format_seconds(options_.calm, 3));
  }
}

void PlanWatch::notice_once(std::string& last, const std::string& notice) const {
  if (notice == last) return;
  last = notice;
  if (hooks_.notice && !notice.empty()) hooks_.notice(notice);
}

}  // namespace poet::runtime
