// Figure 3 of the paper: energy against RAM, models x devices, all methods.

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/reproduce/curves.h"
#include "apps/cli/reproduce/section.h"
#include "poet/base/amounts.h"
#include "poet/baselines/method.h"

namespace poet::cli {
namespace {

/// How often each method finds a plan, and what it costs more than POET's at the same limits.
NamedTable against_poet(const std::vector<SweepResult>& results, const std::string& caption) {
  NamedTable table{caption,
                   {"method", "plans within the limits", "not defined", "energy above POET's: median", "most",
                    "budgets that POET meets and it misses"},
                   {}};
  for (const Method& method : methods()) {
    std::size_t points = 0;
    std::size_t held = 0;
    std::size_t undefined = 0;
    std::size_t missed = 0;
    std::vector<double> above;
    for (const SweepResult& result : results) {
      if (result.method != method.name) continue;
      ++points;
      const SweepResult* poets = beside(results, result, "poet");
      held += holds(result) ? 1 : 0;
      undefined += result.verdict == to_string(Verdict::not_applicable) ? 1 : 0;
      missed += !holds(result) && poets != nullptr ? 1 : 0;
      if (holds(result) && poets != nullptr)
        above.push_back(*result.energy_joules / *poets->energy_joules - 1);
    }
    if (points == 0) continue;
    std::sort(above.begin(), above.end());
    const bool any = !above.empty();
    table.rows.push_back({std::string(method.title), fmt::format("{} of {}", held, points),
                          undefined == 0 ? "" : fmt::format("{}", undefined),
                          any ? format_percent(above[above.size() / 2], 2) : "-",
                          any ? format_percent(above.back(), 2) : "-", fmt::format("{}", missed)});
  }
  return table;
}

/// What is open of POET's points.
std::string proof(const std::vector<SweepResult>& results) {
  std::size_t points = 0;
  std::size_t proven = 0;
  double most = 0;
  for (const SweepResult& result : results) {
    if (result.method != "poet" || !holds(result)) continue;
    ++points;
    proven += result.gap && *result.gap <= result.gap_wanted ? 1 : 0;
    if (result.bound_joules)
      most = std::max(most, (*result.energy_joules - *result.bound_joules) / *result.energy_joules);
  }
  return fmt::format(
      "Of POET's {} points {} are proven to 1% of their overhead; no schedule of the same kind can save more "
      "than {} of the energy at any of them.",
      points, proven, format_percent(most, 2));
}

}  // namespace

Section figure3(const std::vector<Study>& studies) {
  const std::vector<SweepResult> published = results_of(studies, "figure3_published");
  const std::vector<SweepResult> corrected = results_of(studies, "figure3_corrected");
  Section section;
  section.title = "Figure 3: energy against RAM, all methods";
  section.text = fmt::format(
      "Every point is a plan within the RAM budget, which the verifier has replayed; "
      "where a method has none, its curve has a gap. 0% is drawn at the lower edge. "
      "Published: the reference implementation's graphs and costs, "
      "the paper's rules (a page-in takes no time). "
      "Corrected: real training graphs and device profiles, transfers on a timeline, idle power; "
      "parameters live elsewhere in both, as the paper has it. No deadline.\n\n"
      "Published instances. {}\n\nCorrected networks. {}",
      proof(published), proof(corrected));
  section.tables.push_back(against_poet(published, "Published instances: each method next to POET"));
  section.tables.push_back(against_poet(corrected, "Corrected networks: each method next to POET"));
  section.figures.push_back({"figure3_published", "Published instances: energy overhead against RAM",
                             overhead_against_ram(published, "Published instances, the paper's rules")});
  section.figures.push_back({"figure3_published_linear", "The same with energy on a linear axis",
                             energy_against_ram(published, "Published instances, the paper's rules")});
  section.figures.push_back(
      {"figure3_corrected", "Corrected networks and devices: energy overhead against RAM",
       overhead_against_ram(corrected, "Corrected networks and devices, transfers on a timeline")});
  section.figures.back().panels.columns = 4;
  section.figures.push_back(
      {"figure3_corrected_linear", "The same with energy on a linear axis",
       energy_against_ram(corrected, "Corrected networks and devices, transfers on a timeline")});
  section.figures.back().panels.columns = 4;
  return section;
}

}  // namespace poet::cli
