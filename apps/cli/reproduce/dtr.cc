// The paper's remark on DTR: up to 35% more energy on ResNet-18.

#include <fmt/format.h>

#include "apps/cli/reproduce/section.h"

namespace poet::cli {
Section dtr_comparison(const std::vector<Study>& studies, Budgets budgets) {
  constexpr double kMoreEnergy = 0.35;
  Section section;
  section.title = "DTR on ResNet-18";
  section.text =
      "DTR evicts by a heuristic while the step runs and recomputes on demand; it neither pages nor looks "
      "ahead. The points are those of Figures 3 and 5. Of its heuristics h_DTR, its own, is judged; h_DTR-eq "
      "and h_local are variants of its authors.";
  Claim claim{"energy of DTR above POET's",
              "up to 35%",
              {},
              "Where little RAM is missing DTR is close: on the published costs the cheapest values are few "
              "and plain. Where much is missing it recomputes again and again."};
  for (const auto& [suffix, where] :
       {std::pair{"published", "published instances"}, std::pair{"corrected", "corrected networks"}}) {
    std::vector<SweepResult> results = results_of(studies, fmt::format("figure3_{}", suffix));
    const std::vector<SweepResult> more = results_of(studies, fmt::format("figure5_{}", suffix));
    results.insert(results.end(), more.begin(), more.end());
    const auto on_resnet = [](const SweepResult& result) { return result.network.starts_with("resnet18"); };
    const auto above = [&](const char* method) { return energy_above(results, method, "poet", on_resnet); };
    claim.trials.push_back({where,
                            fmt::format("h_DTR {}; h_DTR-eq {}; h_local {}", describe(above("dtr")),
                                        describe(above("dtr-eq")), describe(above("dtr-local"))),
                            finding_of_up_to(kMoreEnergy, above("dtr"), budgets)});
  }
  section.claims.push_back(std::move(claim));
  return section;
}

}  // namespace poet::cli
