// The paper's remark on DTR: up to 35% more energy on ResNet-18.

#include <fmt/format.h>

#include "apps/cli/reproduce/section.h"

namespace poet::cli {
namespace {

/// "Up to 35%": of energy that POET saves.
Finding finding_of_dtr(const Range& above) {
  if (above.count == 0) return Finding::fails;
  return above.most >= 0.35 ? Finding::holds : above.most > 0.01 ? Finding::partly : Finding::fails;
}

}  // namespace

Section dtr_comparison(const std::vector<Study>& studies) {
  Section section;
  section.title = "DTR on ResNet-18";
  section.text =
      "DTR evicts by a heuristic while the step runs and recomputes on demand; it neither pages nor looks "
      "ahead. The points are those of Figures 3 and 5.";
  for (const auto& [suffix, where] :
       {std::pair{"published", "published instances"}, std::pair{"corrected", "corrected networks"}}) {
    std::vector<SweepResult> results = results_of(studies, fmt::format("figure3_{}", suffix));
    const std::vector<SweepResult> more = results_of(studies, fmt::format("figure5_{}", suffix));
    results.insert(results.end(), more.begin(), more.end());
    const auto on_resnet = [](const SweepResult& result) { return result.network.starts_with("resnet18"); };
    for (const auto& [method, name] :
         {std::pair{"dtr", "h_DTR"}, std::pair{"dtr-eq", "h_DTR-eq"}, std::pair{"dtr-local", "h_local"}}) {
      const Range above = energy_above(results, method, "poet", on_resnet);
      section.claims.push_back(
          {fmt::format("energy of {} above POET's, {}", name, where), "up to 35%", describe(above),
           "Where little RAM is missing DTR is close: on the published costs the cheapest values are few and "
           "plain. Where much is missing it recomputes again and again.",
           finding_of_dtr(above)});
    }
  }
  return section;
}

}  // namespace poet::cli
