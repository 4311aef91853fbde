#include "poet/answer/least_budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/amounts.h"
#include "poet/base/stop.h"

namespace poet {

namespace {

constexpr Bytes kLeastPart{64};

/// Nothing fits.
RamBudget hardly_any_ram() {
  RamBudget ram;
  ram.bytes = Bytes(1);
  return ram;
}

std::optional<Bytes> known_ram(const Answer& answer) {
  return has_plan(answer) ? answer.request.limits.ram_budget : answer.result.outcome.explanation.least_ram;
}

/// What keeps everything, or all the RAM there is where that is less.
RamBudget enough_ram(const Answer& answer) {
  const std::optional<DeviceProfile>& device = answer.workload.device;
  RamBudget ram;
  ram.bytes = std::max(answer.workload.whole_keep_all, answer.figures.keep_all.peak_ram);
  if (device && ram.bytes > device->ram) ram = RamBudget{.of_device = true};
  return ram;
}

/// A quarter; of the whole graph, of what its largest op needs.
Bytes finer_part(const Answer& answer, std::optional<Bytes> part) {
  const Bytes whole = part.value_or(answer.result.outcome.explanation.floor_ram.value_or(Bytes(0)));
  Bytes finer = kLeastPart;
  while (finer * 8 <= whole) finer = finer * 2;
  return whole < kLeastPart * 4 ? Bytes(0) : finer;
}

}  // namespace

LeastBudget least_budget(bool splits, double seconds, const AnswerTo& answer_to) {
  constexpr int kPatience = 2;
  constexpr double kMoreWork = 4;  // with parts of a quarter
  const Stop clock(seconds);
  LeastBudget least, tried{hardly_any_ram(), true, {}};
  int no_better = 0;  // in a row
  for (bool last = false; !last;) {
    const double begin = clock.elapsed();
    const Answer none = answer_to(tried, std::max(clock.remaining(), 1e-3));
    const std::optional<Bytes> known = known_ram(none);
    const bool better = known && (!least.has_plan || *known < least.ram.bytes);
    if (better) {
      least = {{}, true, none.workload.part};
      least.ram.bytes = *known;
    } else if (!least.has_plan && !tried.part) {
      least.ram = enough_ram(none);
    }
    no_better = better ? 0 : no_better + 1;
    const Bytes finer = finer_part(none, tried.part);
    const double end = clock.elapsed();
    last = !splits || none.interrupted || finer < kLeastPart || no_better == kPatience ||
           end + kMoreWork * (end - begin) > seconds / 2;
    tried.part = finer;
  }
  return least;
}

std::string note_of(const LeastBudget& least, bool splits) {
  if (!least.has_plan)
    return fmt::format(
        "the quick search for the least RAM budget found no plan in its time; this is about {}, and a longer "
        "`time_limit_seconds` may find less",
        least.ram.of_device ? "the device's RAM" : "what keeping everything takes");
  std::string note = fmt::format("the least RAM budget with a plan that a quick search knows is {}",
                                 format_bytes(least.ram.bytes));
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
