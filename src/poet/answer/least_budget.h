#pragma once

// The RAM budget "least": the smallest for which a quick search finds a plan within the other limits.

#include <functional>
#include <optional>
#include <string>

#include "poet/answer/answer.h"
#include "poet/pipeline/spec.h"

namespace poet {

/// A RAM budget as it is solved for: in bytes, or all of the device's RAM.
struct SettledRam {
  RamBudget ram = {};
  std::string note = {};  // how it was determined, for the user; names library fields; empty: as requested
  // Of a search for the least:
  bool has_plan = false;           // without one, the budget keeps everything or is the device's RAM
  std::optional<Bytes> part = {};  // the part size of that plan's graph; absent: it is not split
  bool interrupted = false;        // the search was cut short
};

/// Solves with such a budget, with look_quickly().
using AnswerTo = std::function<Answer(const SettledRam& budget, double seconds)>;

/// Sets the options of a quick search: any plan, no progress reports, the network's order of ops.
void look_quickly(CompileRequest& request, double seconds);

/// Finds the least budget. Solves with a budget of one byte, whose explanation has the least RAM of a known
/// schedule: for the whole graph first and, if the policy splits automatically, for ever finer parts, until
/// two in a row save less than 5% or the next would probably exceed half of `seconds`. Then solves with the
/// least of these budgets; while that has no plan, adds a quarter to it and takes the least again. With a
/// deadline or a limit on bytes written, bisects the budgets between the RAM floor and that one, with each of
/// these sizes of parts, in what is left of `seconds`. Stays within the device's RAM if the policy does.
[[nodiscard]] SettledRam least_budget(const Policy& policy, double seconds, const AnswerTo& answer_to);

/// Returns the policy with that budget. Automatic splitting is replaced by the part size of a plan that was
/// found.
[[nodiscard]] Policy with_ram(Policy policy, const SettledRam& settled);

}  // namespace poet
