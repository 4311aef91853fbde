#pragma once

// The RAM budget "least": the smallest for which a quick search finds a plan within the other limits.

#include <functional>
#include <optional>
#include <string>

#include "poet/answer/answer.h"
#include "poet/pipeline/spec.h"

namespace poet {

struct LeastBudget {
  /// In bytes; without a plan, enough to keep everything, or all of a smaller device's RAM.
  RamBudget ram;
  bool has_plan = false;
  bool interrupted = false;  // the search was cut short
  bool timed_out = false;    // so it was by its time limit: with more time it may find less
  /// The part size of that plan's graph; absent: it is not split.
  std::optional<Bytes> part = {};
};

/// Solves with such a budget, with look_quickly().
using AnswerTo = std::function<Answer(const LeastBudget& budget, double seconds)>;

/// Sets the options of a quick search: any plan, no progress reports, the network's order of ops.
void look_quickly(CompileRequest& request, double seconds);

/// Finds the least budget. Solves with a budget of one byte, whose explanation has the least RAM of a known
/// schedule: for the whole graph first and, if the policy splits automatically, for ever finer parts, until
/// two in a row save less than 5% or the next would probably exceed half of `seconds`. Then solves with the
/// least of these budgets; while that has no plan, adds a quarter to it and takes the least again. With a
/// deadline or a limit on bytes written, bisects the budgets between the RAM floor and that one, with each of
/// these sizes of parts, in what is left of `seconds`. Stays within the device's RAM if the policy does.
[[nodiscard]] LeastBudget least_budget(const Policy& policy, double seconds, const AnswerTo& answer_to);

/// Returns a note for the user; names library fields. `splits`: the problem is split automatically.
[[nodiscard]] std::string note_of(const LeastBudget& least, bool splits);

/// Returns the policy with that budget. Automatic splitting is replaced by that plan's part size.
[[nodiscard]] Policy with_least_budget(Policy policy, const LeastBudget& least);

}  // namespace poet
