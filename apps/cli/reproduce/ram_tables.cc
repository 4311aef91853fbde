#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/cli/reproduce/ram_pairs.h"
#include "poet/base/amounts.h"

namespace poet::cli {
namespace {

constexpr std::array kShownBudgets = {"1%", "5%", "20%", "40%"};  // of the table of transfers

const SweepResult* least_ram(const std::vector<const SweepResult*>& results) {
  const SweepResult* least = nullptr;
  for (const SweepResult* result : results)
    if (holds(*result) && (least == nullptr || *result->peak_ram_bytes < *least->peak_ram_bytes))
      least = result;
  return least;
}

std::string ram_cell(const RamPair& pair, const SweepResult* result) {
  if (result == nullptr) return "-";
  const auto peak = static_cast<double>(*result->peak_ram_bytes);
  return fmt::format("{} ({})", format_bytes(Bytes(*result->peak_ram_bytes)),
                     format_percent(peak / pair.keep_all, 2));
}

struct NextToResident {
  Range energy;       // of the one above the other, in parts of the latter
  std::string above;  // budgets at which it is above by more than the gap asked for
  std::size_t both = 0;
};

NextToResident next_to_resident(const RamPair& pair) {
  NextToResident found;
  for (const SweepResult* resident : pair.resident) {
    if (!holds(*resident)) continue;
    const bool asked = std::any_of(pair.paged.begin(), pair.paged.end(),
                                   [&](const SweepResult* paged) { return paged->ram == resident->ram; });
    if (!asked) continue;
    ++found.both;
    const SweepResult* paged = best_within(pair.paged, ram_of(*resident));
    const double most = *resident->energy_joules +
                        resident->gap_wanted * std::max(0.0, *resident->energy_joules - pair.joules);
    if (paged == nullptr || *paged->energy_joules > most + 1e-9 * pair.joules)
      found.above += (found.above.empty() ? "" : ", ") + resident->ram;
    if (paged != nullptr) found.energy.add(*paged->energy_joules / *resident->energy_joules - 1);
  }
  return found;
}

}  // namespace

NamedTable least_ram_table(const std::vector<RamPair>& pairs) {
  NamedTable table{
      "Least RAM of a plan here, and energy at equal RAM",
      {"network", "keep-all RAM", "least RAM, parameters in RAM", "least RAM, or on storage",
       "its energy (without limits: 1)", "energy next to parameters in RAM", "above by more than the gap"},
      {}};
  for (const RamPair& pair : pairs) {
    const SweepResult* least = least_ram(pair.paged);
    const NextToResident next = next_to_resident(pair);
    table.rows.push_back({pair.title, format_bytes(Bytes(std::llround(pair.keep_all))),
                          ram_cell(pair, least_ram(pair.resident)), ram_cell(pair, least),
                          least == nullptr ? "-" : format_number(*least->energy_joules / pair.joules, 3),
                          describe(next.energy, 2),
                          next.both == 0       ? "-"
                          : next.above.empty() ? "never"
                                               : next.above});
  }
  return table;
}

NamedTable transfer_table(const std::vector<RamPair>& pairs) {
  NamedTable table{"Bytes between RAM and storage per step, and what parameters alone must move",
                   {"network", "RAM", "parts of", "read", "written", "in all", "bound, read",
                    "bound, written", "bound, in all", "in all / bound", "steps that the storage endures"},
                   {}};
  for (const RamPair& pair : pairs)
    for (const SweepResult* result : pair.paged) {
      if (!holds(*result) || !result->bytes_read || !result->least_bytes_moved) continue;
      if (std::find(kShownBudgets.begin(), kShownBudgets.end(), result->ram) == kShownBudgets.end()) continue;
      const std::int64_t moved = *result->bytes_read + *result->bytes_written;
      const std::int64_t least = *result->least_bytes_moved;
      const auto bytes = [](std::int64_t count) { return format_bytes(Bytes(count)); };
      table.rows.push_back(
          {pair.title, fmt::format("{} ({})", bytes(*result->ram_budget_bytes), result->ram),
           result->part_bytes ? bytes(*result->part_bytes) : "whole", bytes(*result->bytes_read),
           bytes(*result->bytes_written), bytes(moved), bytes(*result->least_bytes_read),
           bytes(*result->least_bytes_written), bytes(least),
           least == 0 ? "-" : format_number(static_cast<double>(moved) / static_cast<double>(least), 3),
           result->endurance_steps ? format_short(std::floor(*result->endurance_steps)) : "any number"});
    }
  return table;
}

std::vector<Claim> ram_claims(const std::vector<RamPair>& pairs) {
  std::vector<Claim> claims;
  Range least;
  Range energy;
  Range moved;
  std::size_t both = 0;
  std::string above;
  for (const RamPair& pair : pairs) {
    if (const SweepResult* result = least_ram(pair.paged))
      least.add(static_cast<double>(*result->peak_ram_bytes) / pair.keep_all);
    const NextToResident next = next_to_resident(pair);
    both += next.both;
    if (next.energy.count > 0) {
      energy.add(next.energy.least);
      energy.add(next.energy.most);
    }
    if (!next.above.empty())
      above += fmt::format("{}{} ({})", above.empty() ? "" : "; ", pair.title, next.above);
    for (const SweepResult* result : pair.paged)
      if (holds(*result) && result->least_bytes_moved.value_or(0) > 0)
        moved.add(static_cast<double>(*result->bytes_read + *result->bytes_written) /
                  static_cast<double>(*result->least_bytes_moved));
  }
  const std::string where = "corrected networks";
  claims.push_back({"least RAM with a plan, in parts of keep-all RAM",
                    "not below all parameters",
                    {{where, describe(least, 2), Finding::beyond}},
                    "Parameters live on storage, operators come in parts."});
  claims.push_back({fmt::format("energy next to all parameters in RAM, {} budgets that both meet", both),
                    "-",
                    {{where, describe(energy, 2), Finding::beyond}},
                    above.empty() ? "Nowhere above it by more than the gap asked for."
                                  : "Above by more than the gap asked for: " + above + "."});
  const std::string units = moved.count == 0 ? "-" : fmt::format("{:.3g} to {:.3g}", moved.least, moved.most);
  claims.push_back({"bytes moved, in units of what parameters alone must move",
                    "-",
                    {{where, units, Finding::beyond}},
                    "The rest are activations, which could be recomputed, and parameters read again."});
  return claims;
}

}  // namespace poet::cli
