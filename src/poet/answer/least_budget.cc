#include "poet/answer/least_budget.h"

#include <fmt/format.h>

#include "poet/base/amounts.h"

namespace poet {

RamBudget hardly_any_ram() {
  RamBudget ram;
  ram.bytes = Bytes(1);
  return ram;
}

LeastBudget least_budget(const Answer& none, const std::function<Bytes()>& keep_all) {
  LeastBudget least;
  const std::optional<Bytes> known =
      has_plan(none) ? none.request.limits.ram_budget : none.result.outcome.explanation.least_ram;
  if (known) {
    least.ram.bytes = *known;
    least.has_plan = true;
    least.part = none.workload.part;
  } else {
    least.ram.bytes = keep_all();
    if (none.workload.device && least.ram.bytes > none.workload.device->ram)
      least.ram = RamBudget{.of_device = true};
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
