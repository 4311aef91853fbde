// Figure 4 of the paper: what recomputing and paging give together, over deadlines.

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/reproduce/curves.h"
#include "apps/cli/reproduce/section.h"
#include "poet/base/amounts.h"

namespace poet::cli {
namespace {

struct Ablation {
  Range saved;                 // by the integrated schedule, in parts of the ablation's energy
  Range saved_overhead;        // the same of what is above the step without limits
  std::size_t impossible = 0;  // deadlines that only the integrated schedule meets
  std::size_t above = 0;       // points at which the integrated schedule needs more
  double most_above = 0;       // how much more, in parts of the ablation's energy
};

Ablation compared(const std::vector<SweepResult>& results, const std::string& method) {
  constexpr double kSame = 1 + 1e-9;
  Ablation ablation;
  for (const SweepResult& full : results) {
    if (full.method != "poet" || !holds(full)) continue;
    const SweepResult* other = beside(results, full, method);
    if (other == nullptr) {
      ++ablation.impossible;
      continue;
    }
    const double energy = *full.energy_joules;
    const double saved = 1 - energy / *other->energy_joules;
    ablation.saved.add(saved);
    const double overhead = *other->energy_joules - *other->baseline_joules;
    if (overhead > 1e-9 * *other->baseline_joules)
      ablation.saved_overhead.add(1 - (energy - *full.baseline_joules) / overhead);
    if (energy > kSame * *other->energy_joules) {
      ++ablation.above;
      ablation.most_above = std::max(ablation.most_above, -saved);
    }
  }
  return ablation;
}

constexpr double kLessEnergy = 0.40;

/// "Up to 40% less energy" than either alone: of all that the step takes. In part where it is of what
/// schedules differ in, or where an ablation is below POET somewhere.
Finding finding_of_figure4(const std::vector<Ablation>& ablations, Budgets budgets) {
  Range saved;
  Range saved_overhead;
  std::size_t above = 0;
  for (const Ablation& ablation : ablations) {
    if (ablation.saved.count > 0) saved.add(ablation.saved.most);
    if (ablation.saved_overhead.count > 0) saved_overhead.add(ablation.saved_overhead.most);
    above += ablation.above;
  }
  const Finding finding = finding_of_up_to(kLessEnergy, saved, budgets);
  if (finding == Finding::holds && above > 0) return Finding::partly;
  const bool of_overhead = saved_overhead.count > 0 && saved_overhead.most >= kLessEnergy;
  return finding == Finding::fails && of_overhead ? Finding::partly : finding;
}

std::string next_to(const Ablation& ablation, const std::string& title) {
  return fmt::format(
      "next to {} up to {} less energy, up to {} less overhead; that misses {} of the {} deadlines that POET "
      "meets; POET needs more energy at {}",
      title, format_percent(std::max(0.0, ablation.saved.most), 3),
      format_percent(std::max(0.0, ablation.saved_overhead.most), 3), ablation.impossible,
      ablation.impossible + ablation.saved.count,
      ablation.above == 0
          ? "no point"
          : fmt::format("{}, by at most {}", counted(static_cast<std::int64_t>(ablation.above), "point"),
                        format_percent(ablation.most_above, 3)));
}

Trial trial_of(const std::vector<SweepResult>& results, const std::string& where, Budgets budgets) {
  const Ablation recomputing = compared(results, "poet-no-paging");
  const Ablation paging = compared(results, "poet-no-remat");
  return {where, next_to(recomputing, "recomputation only") + "; " + next_to(paging, "paging only"),
          finding_of_figure4({recomputing, paging}, budgets)};
}

}  // namespace

Section figure4(const std::vector<Study>& studies, Budgets budgets) {
  const std::vector<SweepResult> published = results_of(studies, "figure4_published");
  const std::vector<SweepResult> corrected = results_of(studies, "figure4_corrected");
  Section section;
  section.title = "Figure 4: recomputation and paging together, over deadlines";
  section.text =
      "RAM is a fifth of the way from the largest working set to keeping everything. By the paper's rules "
      "page-ins take no time, so deadlines limit recomputation only; on the devices' timeline they limit "
      "both.";
  section.claims.push_back(
      {"POET next to recomputation only and to paging only",
       "up to 40% less energy",
       {trial_of(published, "published instances", budgets),
        trial_of(corrected, "corrected networks", budgets)},
       "The overhead is what schedules differ in. The rest, computing everything once, no "
       "schedule saves, and it is most of the energy."});
  section.figures.push_back(
      {"figure4_published", "Published instances: energy overhead against the deadline",
       overhead_against_deadline(published, "Published instances, 20% of the RAM range")});
  section.figures.push_back(
      {"figure4_corrected", "Corrected networks: energy overhead against the deadline",
       overhead_against_deadline(corrected, "Corrected networks and devices, 20% of the RAM range")});
  return section;
}

}  // namespace poet::cli
