#include "apps/cli/reproduce/claims.h"

#include <fmt/format.h>

#include <algorithm>

namespace poet::cli {
namespace {

/// What becomes of a claim if trials that are undecided come out as `open`.
Finding finding_if(const Claim& claim, Finding open) {
  const auto all_are = [&](Finding finding) {
    return std::all_of(claim.trials.begin(), claim.trials.end(), [&](const Trial& trial) {
      return (trial.finding == Finding::undecided ? open : trial.finding) == finding;
    });
  };
  for (const Finding finding : {Finding::beyond, Finding::holds, Finding::fails})
    if (all_are(finding)) return finding;
  return Finding::partly;
}

}  // namespace

Finding finding_of(const Claim& claim) {
  const Finding at_best = finding_if(claim, Finding::holds);
  return at_best == finding_if(claim, Finding::fails) ? at_best : Finding::undecided;
}

Finding finding_of_up_to(double amount, const Range& figures, Budgets budgets) {
  constexpr double kDirection = 0.01;  // less is none
  if (figures.count > 0 && figures.most >= amount) return Finding::holds;
  if (budgets == Budgets::few) return Finding::undecided;
  return figures.count > 0 && figures.most > kDirection ? Finding::partly : Finding::fails;
}

void count_claim(const Claim& claim, ClaimCounts& counts) {
  switch (finding_of(claim)) {
    case Finding::holds:
      ++counts.holds;
      break;
    case Finding::partly:
      ++counts.partly;
      break;
    case Finding::fails:
      ++counts.fails;
      break;
    case Finding::undecided:
      ++counts.undecided;
      break;
    case Finding::beyond:
      break;
  }
}

std::string counts_text(const ClaimCounts& counts) {
  const std::string open =
      counts.undecided == 0
          ? ""
          : fmt::format(" {} undecided, with so few budgets.",
                        counts.undecided == 1 ? "One is" : fmt::format("{} are", counts.undecided));
  return fmt::format("Of the paper's {} claims {}, {} in part, and {}.{}", counts.all(),
                     counts.holds == 1 ? "1 holds" : fmt::format("{} hold", counts.holds), counts.partly,
                     counts.fails == 1 ? "1 does not" : fmt::format("{} do not", counts.fails), open);
}

const char* finding_words(Finding finding) {
  switch (finding) {
    case Finding::holds:
      return "holds";
    case Finding::partly:
      return "in part";
    case Finding::fails:
      return "not here";
    case Finding::undecided:
      return "undecided";
    case Finding::beyond:
      return "beyond the paper";
  }
  return "";
}

}  // namespace poet::cli
