// Table 3 of the paper: POFO and POET on a Jetson TX2.

#include <fmt/format.h>

#include "apps/cli/reproduce/curves.h"
#include "apps/cli/reproduce/section.h"
#include "poet/base/amounts.h"

namespace poet::cli {
namespace {

std::string signed_percent(double fraction) {
  return (fraction > 0 ? "+" : "") + format_percent(fraction, 3);
}

std::string signed_range(const Range& range) {
  if (range.count == 0) return "-";
  return fmt::format("{} to {}", signed_percent(range.least), signed_percent(range.most));
}

/// POET's plan of least RAM that takes no longer than `time`.
const SweepResult* least_ram(const std::vector<SweepResult>& results, double time) {
  const SweepResult* least = nullptr;
  for (const SweepResult& result : results) {
    if (result.method != "poet" || !holds(result) || *result.runtime_seconds > time) continue;
    if (least == nullptr || *result.peak_ram_bytes < *least->peak_ram_bytes) least = &result;
  }
  return least;
}

/// "RAM -8.3%, throughput +13%".
Finding finding_of_table3(const Range& throughput, const Range& ram) {
  const bool faster = throughput.count > 0 && throughput.most >= 0.13;
  const bool smaller = ram.count > 0 && ram.least <= -0.083;
  if (faster && smaller) return Finding::holds;
  return faster || smaller ? Finding::partly : Finding::fails;
}

void add_method(const std::vector<SweepResult>& results, const std::string& method, const std::string& title,
                Section& section) {
  Range throughput;
  Range ram;
  NamedTable table{fmt::format("{} and POET at the same RAM budget", title),
                   {"budget", fmt::format("{}: RAM", title), "time", "energy", "POET: RAM", "time", "energy",
                    "POET's throughput", "POET's least RAM at that time"},
                   {}};
  for (const SweepResult& result : results) {
    if (result.method != method || !holds(result)) continue;
    const SweepResult* poets = beside(results, result, "poet");
    if (poets == nullptr) continue;
    const double faster = *result.runtime_seconds / *poets->runtime_seconds - 1;
    throughput.add(faster);
    const SweepResult* smaller = least_ram(results, *result.runtime_seconds);
    std::string saved = "-";
    if (smaller != nullptr) {
      const auto theirs = static_cast<double>(*result.peak_ram_bytes);
      const double change = static_cast<double>(*smaller->peak_ram_bytes) / theirs - 1;
      ram.add(change);
      saved = fmt::format("{} ({})", format_bytes(Bytes(*smaller->peak_ram_bytes)), signed_percent(change));
    }
    table.rows.push_back(
        {format_bytes(Bytes(*result.ram_budget_bytes)), format_bytes(Bytes(*result.peak_ram_bytes)),
         format_seconds(Seconds(*result.runtime_seconds)), format_joules(Joules(*result.energy_joules)),
         format_bytes(Bytes(*poets->peak_ram_bytes)), format_seconds(Seconds(*poets->runtime_seconds)),
         format_joules(Joules(*poets->energy_joules)), signed_percent(faster), saved});
  }
  section.claims.push_back(
      {fmt::format("POET next to {}", title), "RAM -8.3%, throughput +13%",
       fmt::format("throughput {} at equal RAM budgets; RAM {} at no more time, where a plan of POET's is as "
                   "quick: {} of {} points",
                   signed_range(throughput), signed_range(ram), ram.count, throughput.count),
       "No TX2 instance was published: this is the corrected network with a profile from the reference's "
       "figures, and POFO on the chain of residual blocks, since it takes chains only.",
       finding_of_table3(throughput, ram)});
  section.tables.push_back(std::move(table));
}

}  // namespace

Section table3(const std::vector<Study>& studies) {
  const std::vector<SweepResult> results = results_of(studies, "table3");
  Section section;
  section.title = "Table 3: POFO and POET on a Jetson TX2";
  section.text = "ResNet-18 for 224 x 224 images, batch 1, corrected network and profile, no deadline.";
  add_method(results, "pofo", "POFO", section);
  add_method(results, "pofo-blocking", "POFO, blocking transfers", section);
  section.figures.push_back(
      {"table3", "Energy overhead against RAM", overhead_against_ram(results, "ResNet-18 on a Jetson TX2")});
  return section;
}

}  // namespace poet::cli
