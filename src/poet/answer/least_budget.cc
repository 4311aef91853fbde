#include "poet/answer/least_budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/amounts.h"
#include "poet/base/stop.h"

namespace poet {
namespace {

constexpr Bytes kLeastPart{64};

std::optional<Bytes> known_ram(const Answer& answer) {
  return has_plan(answer) ? answer.request.limits.ram_budget : answer.result.outcome.explanation.least_ram;
}

Bytes keep_all_ram(const Answer& answer) {
  return std::max(answer.workload.whole_keep_all, answer.figures.keep_all.peak_ram);
}

/// What keeps everything, or all the RAM there is where that is less.
RamBudget enough_ram(const Answer& answer) {
  const std::optional<DeviceProfile>& device = answer.workload.device;
  RamBudget ram;
  ram.bytes = keep_all_ram(answer);
  if (device && ram.bytes > device->ram) ram = RamBudget{.of_device = true};
  return ram;
}

/// A quarter; of the whole graph, of what its largest op needs. None where parts would be too small.
std::optional<Bytes> finer_part(const Answer& answer, std::optional<Bytes> part) {
  const Bytes whole = part.value_or(answer.result.outcome.explanation.floor_ram.value_or(Bytes(0)));
  if (whole < kLeastPart * 4) return std::nullopt;
  Bytes finer = kLeastPart;
  while (finer * 8 <= whole) finer = finer * 2;
  return finer;
}

class LeastSearch {
 public:
  LeastSearch(const Policy& policy, double seconds, const AnswerTo& answer_to)
      : policy_(policy), answer_to_(answer_to), seconds_(seconds), clock_(seconds) {}

  LeastBudget run() {
    look_in_ever_finer_parts();
    make_sure();
    return least_;
  }

 private:
  [[nodiscard]] bool may_be(Bytes ram, const Answer& answer) const {
    const std::optional<DeviceProfile>& device = answer.workload.device;
    return !policy_.ram.within_device || !device || ram <= device->ram;
  }

  void look_in_ever_finer_parts() {
    constexpr int kPatience = 2;
    constexpr double kMoreWork = 4;  // with parts of a quarter
    LeastBudget hardly_any;
    hardly_any.ram.bytes = Bytes(1);
    hardly_any.has_plan = true;  // so that parts are as it says
    int no_better = 0;           // in a row
    for (bool last = false; !last;) {
      const double begin = clock_.elapsed();
      const Answer answer = answer_to_(hardly_any, std::max(clock_.remaining() / 2, 1e-3));
      if (!hardly_any.part) enough_ = enough_ram(answer);
      no_better = is_better(answer) ? 0 : no_better + 1;
      least_.interrupted = answer.interrupted;
      const std::optional<Bytes> finer = finer_part(answer, hardly_any.part);
      const double end = clock_.elapsed();
      last = !policy_.split.automatic || least_.interrupted || !finer || no_better == kPatience ||
             end + kMoreWork * (end - begin) > seconds_ / 2;
      hardly_any.part = finer;
    }
  }

  /// Less than is known so far, be it more than there is.
  bool is_better(const Answer& answer) {
    const std::optional<Bytes> known = known_ram(answer);
    if (!known || (known_ && *known >= *known_)) return false;
    known_ = known;
    least_.ram.bytes = *known;
    least_.part = answer.workload.part;
    least_.has_plan = may_be(*known, answer);
    return true;
  }

  /// What an explanation knows are schedules, whose plans may need more.
  void make_sure() {
    const Stop end = clock_.at_least(seconds_ / 4);
    while (least_.has_plan && !least_.interrupted) {
      const Answer answer = answer_to_(least_, std::max(end.remaining() / 2, 1e-3));
      least_.interrupted = answer.interrupted;
      if (poet::has_plan(answer)) return;
      Bytes& ram = least_.ram.bytes;
      ram = std::max(known_ram(answer).value_or(Bytes(0)), Bytes(ram.value() + ram.value() / 4 + 1));
      least_.has_plan = may_be(ram, answer) && ram < keep_all_ram(answer) && !end.expired();
    }
    if (!least_.has_plan) least_.ram = enough_;
  }

  const Policy& policy_;
  const AnswerTo& answer_to_;
  const double seconds_;
  const Stop clock_;
  RamBudget enough_;
  std::optional<Bytes> known_;
  LeastBudget least_;
};

}  // namespace

void look_quickly(CompileRequest& request, double seconds) {
  request.options.time_limit_seconds = seconds;
  request.options.gap = 1e9;
  request.options.aim = Aim::plan;
  request.options.on_progress = nullptr;
  request.best_order = false;
}

LeastBudget least_budget(const Policy& policy, double seconds, const AnswerTo& answer_to) {
  return LeastSearch(policy, seconds, answer_to).run();
}

std::string note_of(const LeastBudget& least, bool splits) {
  if (!least.has_plan)
    return fmt::format("the quick search for the least RAM budget {}; this is about {}{}",
                       least.interrupted ? "was interrupted before it found a plan" : "found no plan",
                       least.ram.of_device ? "the device's RAM" : "what keeping everything takes",
                       least.interrupted ? "" : ", and with a longer `time_limit_seconds` it may find one");
  std::string note = (least.interrupted ? "the search for the least RAM budget was interrupted at "
                                        : "the least RAM budget with a plan that a quick search knows is ") +
                     format_bytes(least.ram.bytes);
  if (splits)
    note += fmt::format(", with `split` {}", least.part ? std::to_string(least.part->value()) : "off");
  return note;
}

Policy with_least_budget(Policy policy, const LeastBudget& least) {
  const bool within_device = policy.ram.within_device;
  policy.ram = least.ram;
  policy.ram.within_device = within_device;
  if (!least.has_plan || !policy.split.automatic) return policy;
  policy.split.automatic = false;
  policy.split.part = least.part;
  return policy;
}

}  // namespace poet
