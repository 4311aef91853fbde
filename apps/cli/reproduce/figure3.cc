// Figure 3 of the paper: energy against RAM, models x devices, all methods.

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/reproduce/curves.h"
#include "apps/cli/reproduce/section.h"
#include "poet/base/amounts.h"
#include "poet/base/numbers.h"
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

/// POET next to the best of the other methods at each budget.
struct NextToBest {
  std::size_t budgets = 0;  // at which any method has a plan
  std::size_t lowest = 0;   // of them: nobody needs less energy than POET
  std::size_t within = 0;   // somebody does, by no more than the gap that was asked for
  std::string above;        // where by more, or where POET has no plan
  [[nodiscard]] std::size_t missed() const { return budgets - lowest - within; }
};

NextToBest next_to_best(const std::vector<SweepResult>& results) {
  constexpr double kSame = 1e-9;
  NextToBest found;
  for (const SweepResult& poets : results) {
    if (poets.method != "poet") continue;
    const SweepResult* best = nullptr;
    for (const Method& method : methods()) {
      const SweepResult* other =
          method.name == "poet" ? nullptr : beside(results, poets, std::string(method.name));
      if (other != nullptr && (best == nullptr || *other->energy_joules < *best->energy_joules)) best = other;
    }
    if (best == nullptr && !holds(poets)) continue;
    ++found.budgets;
    const double excess = !holds(poets)     ? kInfinity
                          : best == nullptr ? 0
                                            : *poets.energy_joules - *best->energy_joules;
    if (excess <= kSame * *poets.baseline_joules) {
      ++found.lowest;
    } else if (excess <= poets.gap_wanted * (*poets.energy_joules - *poets.baseline_joules)) {
      ++found.within;
    } else {
      found.above +=
          fmt::format("{}{} at {}", found.above.empty() ? "" : ", ", panel_title(poets), poets.ram);
    }
  }
  return found;
}

/// "Lowest everywhere": but for the gap at which the search may end.
Trial lowest_everywhere(const std::vector<SweepResult>& results, const std::string& where) {
  const NextToBest found = next_to_best(results);
  std::string here = fmt::format("lowest at {} of {} budgets", found.lowest, found.budgets);
  if (found.within > 0) here += fmt::format(", at {} within the gap that was asked for", found.within);
  if (!found.above.empty()) here += fmt::format("; another method needs less at {}", found.above);
  const Finding finding = found.budgets == 0 || found.missed() > found.lowest + found.within ? Finding::fails
                          : found.missed() > 0                                               ? Finding::partly
                                                                                             : Finding::holds;
  return {where, here, finding};
}

/// What "up to two times less memory" is here: RAM that another method's plan needs, over that of POET's
/// smallest plan of no more energy.
struct LessMemory {
  Range ratio;
  std::string where;  // of the most
};

LessMemory less_memory(const std::vector<SweepResult>& results) {
  constexpr double kSame = 1 + 1e-9;
  LessMemory found;
  for (const SweepResult& other : results) {
    if (other.method.starts_with("poet") || !holds(other)) continue;
    const SweepResult* least = nullptr;
    for (const SweepResult& poets : results)
      if (poets.method == "poet" && holds(poets) && poets.instance == other.instance &&
          *poets.energy_joules <= kSame * *other.energy_joules &&
          (least == nullptr || *poets.peak_ram_bytes < *least->peak_ram_bytes))
        least = &poets;
    if (least == nullptr) continue;
    const double ratio =
        static_cast<double>(*other.peak_ram_bytes) / static_cast<double>(*least->peak_ram_bytes);
    if (found.ratio.count == 0 || ratio > found.ratio.most)
      found.where = fmt::format("{}, {}", find_method(other.method).title, panel_title(other));
    found.ratio.add(ratio);
  }
  return found;
}

Trial up_to_two_times_less(const std::vector<SweepResult>& results, const std::string& where,
                           Budgets budgets) {
  const LessMemory found = less_memory(results);
  const auto [ratio, most] = found;
  Range saved;  // "two times less": 1
  if (ratio.count > 0) saved.add(ratio.most - 1);
  return {where, ratio.count == 0 ? "-" : fmt::format("up to {:.3g} times less ({})", ratio.most, most),
          finding_of_up_to(1, saved, budgets)};
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

Section figure3(const std::vector<Study>& studies, Budgets budgets) {
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
  section.claims.push_back(
      {"energy of POET next to every other method",
       "lowest at every budget",
       {lowest_everywhere(published, "published instances"),
        lowest_everywhere(corrected, "corrected networks")},
       "The search ends at a proven gap of 1% of the overhead, or after the time limit of the point."});
  section.claims.push_back(
      {"RAM of POET's plans next to other methods' of as much energy or more",
       "up to two times less memory",
       {up_to_two_times_less(published, "published instances", budgets),
        up_to_two_times_less(corrected, "corrected networks", budgets)},
       "Of POET only the plans at these budgets are taken; between two of them it may "
       "need less. The most is reached next to methods that neither page nor see sizes."});
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
