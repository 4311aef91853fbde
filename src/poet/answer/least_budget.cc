#include "poet/answer/least_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/base/stop.h"
#include "poet/base/time_shares.h"

namespace poet {
namespace {

constexpr Bytes kLeastPart{64};

std::optional<Bytes> known_ram(const Answer& answer) {
  return has_plan(answer) ? answer.request.limits.ram_budget : answer.result.outcome.explanation.least_ram;
}

Bytes keep_all_ram(const Answer& answer) {
  return std::max(answer.workload.whole_keep_all, answer.figures.keep_all.peak_ram);
}

/// Of one that has a plan.
Bytes bytes_of(const SettledRam& least) { return std::get<Bytes>(least.ram); }

/// Returns the keep-all RAM, or all of the device's RAM if that is less.
RamBudget enough_ram(const Answer& answer) {
  const std::optional<DeviceProfile>& device = answer.workload.device;
  const Bytes ram = keep_all_ram(answer);
  if (device && ram > device->ram) return DeviceRam{};
  return ram;
}

/// Returns a quarter of the part size, or of the largest op's RAM if the graph is not split; nullopt if parts
/// would be too small.
std::optional<Bytes> finer_part(const Answer& answer, std::optional<Bytes> part) {
  const Bytes whole = part.value_or(answer.result.outcome.explanation.floor_ram.value_or(Bytes(0)));
  if (whole < kLeastPart * 4) return std::nullopt;
  Bytes finer = kLeastPart;
  while (finer * 8 <= whole) finer = finer * 2;
  return finer;
}

/// Searches with ever finer parts, each with the least budget known for it.
class LeastSearch {
 public:
  LeastSearch(const Policy& policy, double seconds, const AnswerTo& answer_to)
      : policy_(policy), answer_to_(answer_to), seconds_(seconds), clock_(seconds) {}

  SettledRam run() {
    look_in_ever_finer_parts();
    SettledRam least = interrupted_ ? first_to_try() : made_sure();
    if (!interrupted_ && has_other_limits()) bisect(least);
    if (!least.has_plan) least.ram = enough_;
    least.interrupted = interrupted_;
    least.note = note_of(least);
    return least;
  }

 private:
  void look_in_ever_finer_parts() {
    constexpr int kPatience = 2;
    constexpr double kMoreWork = 4;  // with parts of a quarter
    SettledRam hardly_any;
    hardly_any.ram = Bytes(1);
    hardly_any.has_plan = true;  // so that parts are as it says
    int no_better = 0;           // in a row
    for (bool last = false; !last;) {
      const double begin = clock_.elapsed();
      const Answer answer = ask(hardly_any, time_limit_within(clock_, kShares.least_look));
      if (!hardly_any.part) learn_limits(answer);
      tried_.push_back({hardly_any.part, answer.figures.floor.bytes()});
      no_better = is_better(answer) ? 0 : no_better + 1;
      const std::optional<Bytes> finer = finer_part(answer, hardly_any.part);
      const double end = clock_.elapsed();
      last = !policy_.split.automatic || interrupted_ || !finer || no_better == kPatience;
      if (!last && end + kMoreWork * (end - begin) > kShares.least_look * seconds_) last = timed_out_ = true;
      hardly_any.part = finer;
    }
  }

  Answer ask(const SettledRam& budget, double seconds) {
    Answer answer = answer_to_(budget, seconds);
    interrupted_ = answer.interrupted;
    timed_out_ = timed_out_ || answer.result.outcome.timed_out;
    return answer;
  }

  void learn_limits(const Answer& whole) {
    enough_ = enough_ram(whole);
    most_ = keep_all_ram(whole);
    if (policy_.within_device && whole.workload.device) most_ = std::min(most_, whole.workload.device->ram);
  }

  /// Returns whether a budget is smaller by enough to justify more ops.
  bool is_better(const Answer& answer) {
    constexpr double kWorthwhile = 0.95;
    const std::optional<Bytes> known = known_ram(answer);
    if (!known) return false;
    const bool better =
        !known_ || static_cast<double>(known->value()) < kWorthwhile * static_cast<double>(known_->value());
    if (!better) return false;
    known_ = known;
    SettledRam& least = known_of_parts_.emplace_back();
    least.ram = *known;
    least.part = answer.workload.cut.part;
    return true;
  }

  /// Returns the least allowed budget; among equals, that of coarser parts, for which a search is faster.
  [[nodiscard]] SettledRam first_to_try() const {
    const auto least =
        std::ranges::min_element(known_of_parts_, {}, [](const SettledRam& of) { return bytes_of(of); });
    if (least == known_of_parts_.end() || bytes_of(*least) > most_) return {};
    SettledRam first = *least;
    first.has_plan = true;
    return first;
  }

  [[nodiscard]] std::string note_of(const SettledRam& least) const {
    if (!least.has_plan)
      return fmt::format(
          "the quick search for the least RAM budget {}; this is about {}{}",
          interrupted_ ? "was interrupted before it found a plan" : "found no plan",
          std::holds_alternative<DeviceRam>(least.ram) ? "the device's RAM" : "what keeping everything takes",
          timed_out_ && !interrupted_ ? ", and with a longer `time_limit_seconds` it may find one" : "");
    std::string note = (interrupted_ ? "the search for the least RAM budget was interrupted at "
                                     : "the least RAM budget with a plan that a quick search knows is ") +
                       format_bytes(bytes_of(least));
    if (policy_.split.automatic)
      note += fmt::format(", with `split` {}", least.part ? std::to_string(least.part->value()) : "off");
    return note;
  }

  [[nodiscard]] bool has_other_limits() const {
    const StepDeadline& deadline = policy_.deadline;
    return deadline.factor || deadline.time || policy_.max_bytes_written;
  }

  /// Least budgets are known from quick searches near the RAM floor. Under a deadline, or a limit on bytes
  /// written, plans so tight rarely exist, and the known budget is one that keeps nearly everything: what
  /// lies between is bisected with every size of parts that was looked at.
  void bisect(SettledRam& least) {
    constexpr double kNear = 1.02;
    const Stop end = clock_.at_least(kShares.least_after_limit * seconds_);
    const auto floor = std::ranges::min(tried_, {}, &TriedPart::floor).floor;
    auto low = static_cast<double>(std::max(floor, Bytes(1)).value());
    auto high = static_cast<double>((least.has_plan ? bytes_of(least) : most_).value());
    double step =
        0.9;  // a plan is found in a moment, that there is none takes long: downwards in growing steps
    while (high > kNear * low && !end.expired() && !interrupted_) {
      const Bytes middle(static_cast<std::int64_t>(std::max(step * high, std::sqrt(low * high))));
      const std::optional<SettledRam> found = with_plan_at(middle, end);
      if (found) {
        least = *found;
        step *= step;
      }
      (found ? high : low) = static_cast<double>(middle.value());
    }
  }

  /// Tries the sizes of parts, the one that had a plan last first.
  std::optional<SettledRam> with_plan_at(Bytes ram, const Stop& end) {
    for (std::size_t i = 0; i < tried_.size() && !end.expired() && !interrupted_; ++i) {
      if (tried_[i].floor > ram) continue;
      SettledRam budget;
      budget.ram = ram;
      budget.has_plan = true;  // so that parts are as it says
      budget.part = tried_[i].part;
      const Answer answer = ask(budget, time_limit_within(end, kShares.least_parts));
      if (!poet::has_plan(answer)) continue;
      std::rotate(tried_.begin(), tried_.begin() + static_cast<std::ptrdiff_t>(i),
                  tried_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return budget;
    }
    return std::nullopt;
  }

  /// The explanation's least RAM is that of a schedule; its plan may need more.
  SettledRam made_sure() {
    const Stop end = clock_.at_least(kShares.least_after_limit * seconds_);
    for (;;) {
      SettledRam least = first_to_try();
      if (!least.has_plan) return least;
      const Answer answer = ask(least, time_limit_within(end, kShares.least_sure));
      if (poet::has_plan(answer) || interrupted_) return least;
      if (end.expired()) return {};
      const Bytes ram = bytes_of(least);
      for (SettledRam& of : known_of_parts_)
        if (of.part == least.part)
          of.ram = std::max(known_ram(answer).value_or(Bytes(0)), Bytes(ram.value() + ram.value() / 4 + 1));
    }
  }

  const Policy& policy_;
  const AnswerTo& answer_to_;
  const double seconds_;
  const Stop clock_;
  RamBudget enough_;  // the answer if no smaller budget has a plan
  Bytes most_{};      // the largest budget to try: keep-all RAM, within the device's RAM
  std::optional<Bytes> known_;
  std::vector<SettledRam> known_of_parts_;  // ever finer ones
  /// A size of parts that was looked at, and the RAM floor with it.
  struct TriedPart {
    std::optional<Bytes> part;
    Bytes floor;
  };
  std::vector<TriedPart> tried_;
  bool interrupted_ = false;
  bool timed_out_ = false;
};

}  // namespace

void look_quickly(CompileRequest& request, double seconds) {
  request.options.time_limit_seconds = seconds;
  request.options.gap = 1e9;
  request.options.on_progress = nullptr;
  request.best_order = false;
}

SettledRam least_budget(const Policy& policy, double seconds, const AnswerTo& answer_to) {
  return LeastSearch(policy, seconds, answer_to).run();
}

Policy with_ram(Policy policy, const SettledRam& settled) {
  policy.ram = settled.ram;
  if (!settled.has_plan || !policy.split.automatic) return policy;
  policy.split.automatic = false;
  policy.split.part = settled.part;
  return policy;
}

}  // namespace poet
