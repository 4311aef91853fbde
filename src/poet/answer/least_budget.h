#pragma once

// "least" as a RAM budget: the smallest for which a quick search knows a plan within the other limits.

#include <functional>
#include <optional>
#include <string>

#include "poet/answer/answer.h"
#include "poet/pipeline/spec.h"

namespace poet {

struct LeastBudget {
  /// In bytes; without a plan what keeps everything, or all of a smaller device's RAM.
  RamBudget ram;
  bool has_plan = false;
  bool interrupted = false;  // before it was sure
  /// The graph of that plan is split into parts of so many bytes; none: it is not.
  std::optional<Bytes> part = {};
};

/// The answer with such a budget, with look_quickly().
using AnswerTo = std::function<Answer(const LeastBudget& budget, double seconds)>;

/// Options of a quick search: any plan will do, no progress is reported, the order of ops is the network's.
void look_quickly(CompileRequest& request, double seconds);

/// Solves with a budget of one byte, whose explanation names the least RAM of a known schedule: for the whole
/// graph first and, where the policy splits automatically, for ever finer parts, until two in a row need no
/// 5% less or the next would probably end after half of `seconds`. Then makes a plan with the least of these;
/// where there is none a quarter is added to it, and the next is the least of all again. Where the policy
/// stays within the device's RAM, so does this.
[[nodiscard]] LeastBudget least_budget(const Policy& policy, double seconds, const AnswerTo& answer_to);

/// What is to be said of it, with fields of the library's. `splits`: the problem leaves the parts to that
/// plan.
[[nodiscard]] std::string note_of(const LeastBudget& least, bool splits);

/// The policy with that budget. Where it says that the graph is split as the budget wants it, it is split as
/// that plan has it.
[[nodiscard]] Policy with_least_budget(Policy policy, const LeastBudget& least);

}  // namespace poet
