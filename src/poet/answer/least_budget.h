#pragma once

// "least" as a RAM budget: the smallest for which a quick search knows a plan within the other limits.

#include <functional>
#include <optional>
#include <string>

#include "poet/answer/answer.h"
#include "poet/pipeline/spec.h"

namespace poet {

/// What is posed in its place first; the answer says with how much RAM there would be a plan.
[[nodiscard]] RamBudget hardly_any_ram();

struct LeastBudget {
  RamBudget
      ram;  // in bytes; where no plan was found, what keeps everything, or all of a smaller device's RAM
  bool has_plan = false;
  std::optional<Bytes> part =
      {};  // the graph of that plan is split into parts of so many bytes; none: it is not
};

/// From the answer to hardly_any_ram(). `keep_all` says what keeping everything takes before the graph is
/// split; it is asked for only where no plan was found.
[[nodiscard]] LeastBudget least_budget(const Answer& none, const std::function<Bytes()>& keep_all);

/// What is to be said of it, with fields of the library's. `splits`: the problem leaves the parts to that
/// plan.
[[nodiscard]] std::string note_of(const LeastBudget& least, bool splits);

/// The policy with that budget. Where it says that the graph is split as the budget wants it, it is split as
/// that plan has it.
[[nodiscard]] Policy with_least_budget(Policy policy, const LeastBudget& least);

}  // namespace poet
