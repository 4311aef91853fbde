#pragma once

// "least" as a RAM budget: the smallest for which a quick search knows a plan within the other limits.

#include <functional>
#include <optional>
#include <string>

#include "poet/answer/answer.h"
#include "poet/pipeline/spec.h"

namespace poet {

struct LeastBudget {
  RamBudget
      ram;  // in bytes; where no plan was found, what keeps everything, or all of a smaller device's RAM
  bool has_plan = false;
  std::optional<Bytes> part =
      {};  // the graph of that plan is split into parts of so many bytes; none: it is not
};

/// Answers to a problem with so little RAM that they say with how much there would be a plan.
using AnswerTo = std::function<Answer(const LeastBudget& tried, double seconds)>;

/// The least known from answers for the whole graph and, with `splits`, for ever finer parts of it: until
/// these need no less, or the next would probably end after half of `seconds`.
[[nodiscard]] LeastBudget least_budget(bool splits, double seconds, const AnswerTo& answer_to);

/// What is to be said of it, with fields of the library's. `splits`: the problem leaves the parts to that
/// plan.
[[nodiscard]] std::string note_of(const LeastBudget& least, bool splits);

/// The policy with that budget. Where it says that the graph is split as the budget wants it, it is split as
/// that plan has it.
[[nodiscard]] Policy with_least_budget(Policy policy, const LeastBudget& least);

}  // namespace poet
