// The paper's remark on batch sizes: the savings hold from 1 to 32.

#include <fmt/format.h>

#include <set>

#include "apps/cli/reproduce/section.h"
#include "poet/base/amounts.h"
#include "poet/baselines/method.h"

namespace poet::cli {

Section batch_sizes(const std::vector<Study>& studies) {
  const std::vector<SweepResult> results = results_of(studies, "batch");
  Section section;
  section.title = "Batch sizes 1 to 32";
  section.text =
      "resnet18_cifar on a72, corrected. RAM budgets are parts of the way from the largest working set to "
      "keeping everything, so they grow with the batch. Figures are energy overheads; a dash: no plan within "
      "the limits.";
  std::vector<std::int64_t> sizes;
  std::vector<std::string> budgets;
  for (const SweepResult& result : results) {
    const std::int64_t size = result.batch_size.value_or(1);
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
    if (std::find(budgets.begin(), budgets.end(), result.ram) == budgets.end()) budgets.push_back(result.ram);
  }
  for (const std::string& budget : budgets) {
    NamedTable table{fmt::format("Energy overhead at {} of the RAM range", format_percent(std::stod(budget))),
                     {"method"},
                     {}};
    for (const std::int64_t size : sizes) table.heading.push_back(fmt::format("batch {}", size));
    for (const Method& method : methods()) {
      std::vector<std::string> row = {std::string(method.title)};
      bool any = false;
      for (const std::int64_t size : sizes) {
        std::string cell = "-";
        for (const SweepResult& result : results) {
          if (result.method != method.name || result.ram != budget || result.batch_size.value_or(1) != size)
            continue;
          any = true;
          if (holds(result)) cell = format_percent(*result.overhead, 3);
        }
        row.push_back(std::move(cell));
      }
      if (any) table.rows.push_back(std::move(row));
    }
    section.tables.push_back(std::move(table));
  }
  Range poets;
  for (const SweepResult& result : results)
    if (result.method == "poet" && holds(result)) poets.add(*result.overhead);
  section.claims.push_back(
      {"POET's overhead over batch sizes",
       "savings hold from 1 to 32 (a remark)",
       // Some percent of energy, at every size alike.
       {{"corrected network", describe(poets),
         poets.count > 0 && poets.most < 0.05 ? Finding::holds : Finding::fails}},
       "Activations and compute grow alike with the batch; transfers keep their ratio to "
       "both, but for latency."});
  return section;
}

}  // namespace poet::cli
