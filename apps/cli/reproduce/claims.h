#pragma once

// What the paper states, and what came of it. A statement is one claim and counts once, in however many
// settings it was tried.

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/reproduce/studies.h"

namespace poet::cli {

/// What became of a statement of the paper.
enum class Finding {
  holds,      // as the paper has it, or more so
  partly,     // in direction, or in one of its parts or settings
  fails,      // not with these graphs and costs
  undecided,  // the budgets that were tried are too few to say
  beyond,     // the paper says nothing
};

/// A statement as it was tried in one setting.
struct Trial {
  std::string where, here;
  Finding finding = Finding::beyond;
};

/// A statement of the paper and what came of it here.
struct Claim {
  std::string what, paper;
  std::vector<Trial> trials;  // one at least
  std::string why;            // the figures differ, or are as they are
};

/// Returns what becomes of a statement: it holds, or fails, if it does in every setting. Undecided if it
/// depends on settings that are.
[[nodiscard]] Finding finding_of(const Claim& claim);

/// The RAM budgets of a study: all, or with --quick a few.
enum class Budgets { all, few };

/// Judges "up to `amount`", which says something about the best of all budgets: a few suffice only if one of
/// them reaches the amount. `figures`: how much it was, at budgets that both methods meet.
[[nodiscard]] Finding finding_of_up_to(double amount, const Range& figures, Budgets budgets);

/// Claims of the paper by what became of them.
struct ClaimCounts {
  std::int64_t holds = 0, partly = 0, fails = 0, undecided = 0;

  [[nodiscard]] std::int64_t all() const { return holds + partly + fails + undecided; }
};
void count_claim(const Claim& claim, ClaimCounts& counts);

/// "Of the paper's 9 claims 3 hold, 2 in part, and 4 do not."
[[nodiscard]] std::string counts_text(const ClaimCounts& counts);

/// "holds", "in part", "not here", "undecided", "beyond the paper".
[[nodiscard]] const char* finding_words(Finding finding);

}  // namespace poet::cli
