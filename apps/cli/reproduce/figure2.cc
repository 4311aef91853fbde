// Figure 2 of the paper: on a network of eight layers, four forward and four backward, recomputation and
// paging together cost less than either alone.

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/reproduce/section.h"
#include "poet/base/amounts.h"
#include "poet/baselines/method.h"

namespace poet::cli {
namespace {

/// The result of a method at a budget; null without a plan.
const SweepResult* result_at(const std::vector<SweepResult>& results, const std::string& ram,
                             const std::string& method) {
  for (const SweepResult& result : results)
    if (result.ram == ram && result.method == method) return holds(result) ? &result : nullptr;
  return nullptr;
}

std::string cell(const SweepResult* result) {
  if (result == nullptr) return "no plan";
  return fmt::format("{} ({} recomputed, {} paged)", format_joules(Joules(*result->energy_joules), 4),
                     *result->recomputations, *result->page_ins);
}

/// Both in one plan, for less energy than either alone.
bool is_complementary(const SweepResult* both, const SweepResult* recomputing, const SweepResult* paging) {
  constexpr double kLess = 1 - 1e-9;
  if (both == nullptr || *both->recomputations == 0 || *both->page_ins == 0) return false;
  const auto less = [&](const SweepResult* other) {
    return other == nullptr || *both->energy_joules < kLess * *other->energy_joules;
  };
  return less(recomputing) && less(paging);
}

}  // namespace

Section figure2(const std::vector<Study>& studies) {
  const std::vector<SweepResult> results = results_of(studies, "figure2");
  Section section;
  section.title = "Figure 2: recomputation and paging complement each other";
  section.text =
      "A chain of eight layers of equal size: 1 to 4 forward, of which 2 is quick to compute and 1 takes "
      "long; "
      "5 to 8 backward, each of which reads the gradient so far and what its layer made. The paper draws "
      "this "
      "graph without figures; the costs are ours (data/reproduction/eight_layers.json), "
      "so what is judged is that one plan recomputes a layer, pages another, and costs less than "
      "with either alone.";
  NamedTable table{"Energy of a step of eight layers",
                   {"RAM", "recomputation only", "paging only", "both", "less than either alone"},
                   {}};
  std::string found;
  std::vector<std::string> budgets;
  for (const SweepResult& result : results)
    if (std::find(budgets.begin(), budgets.end(), result.ram) == budgets.end()) budgets.push_back(result.ram);
  for (const std::string& ram : budgets) {
    const SweepResult* recomputing = result_at(results, ram, "poet-no-paging");
    const SweepResult* paging = result_at(results, ram, "poet-no-remat");
    const SweepResult* both = result_at(results, ram, "poet");
    const bool less = is_complementary(both, recomputing, paging);
    table.rows.push_back({ram, cell(recomputing), cell(paging), cell(both), less ? "yes" : "-"});
    if (less && found.empty())
      found = fmt::format("in {}: {}; recomputation only {}, paging only {}", ram, cell(both),
                          cell(recomputing), cell(paging));
  }
  section.claims.push_back(
      {"one plan that recomputes one layer and pages another",
       "costs less than either alone",
       {{"eight layers, costs of ours", found.empty() ? "at no budget" : found,
         found.empty() ? Finding::fails : Finding::holds}},
       "Recomputing costs what the op costs, paging what the bytes cost: which is cheaper "
       "differs from layer to layer."});
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace poet::cli
