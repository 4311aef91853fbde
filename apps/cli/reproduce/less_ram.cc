// Beyond the paper: energy over RAM from 1% of what keeping everything takes, parameters included, with all
// of them in RAM and with those at home on storage that are better there; and what then travels.

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/reproduce/ram_pairs.h"
#include "apps/cli/reproduce/section.h"
#include "poet/report/palette.h"

namespace poet::cli {
namespace {

Curve curve_of(const RamPair& pair, const std::vector<const SweepResult*>& results, std::size_t style) {
  Curve curve{style, {}};
  for (const SweepResult* result : results)
    if (const SweepResult* best = best_within(results, ram_of(*result)))
      curve.points.push_back({100 * ram_of(*result) / pair.keep_all, *best->energy_joules / pair.joules});
  return curve;
}

/// Only where the plan is this budget's own: a bound says nothing of other parts.
Curve bounds_of(const RamPair& pair, std::size_t style) {
  Curve curve{style, {}};
  for (const SweepResult* result : pair.paged)
    if (holds(*result) && result->bound_joules)
      curve.points.push_back({100 * ram_of(*result) / pair.keep_all, *result->bound_joules / pair.joules});
  return curve;
}

std::vector<std::string> platforms_of(const std::vector<RamPair>& pairs) {
  std::vector<std::string> platforms;
  for (const RamPair& pair : pairs)
    if (std::find(platforms.begin(), platforms.end(), pair.platform) == platforms.end())
      platforms.push_back(pair.platform);
  return platforms;
}

CurvePanels panels_of(const std::vector<RamPair>& pairs, const std::string& platform) {
  CurvePanels panels;
  panels.title = fmt::format("{}: energy over RAM, from 1% of what keeping everything takes", platform);
  panels.x_name = "RAM (% of keep-all)";
  panels.y_name = "energy (without limits: 1)";
  panels.log_x = panels.log_y = true;
  panels.y_floor = 1;
  panels.columns = 5;
  panels.styles = {{"parameters in RAM", kBlue, 5, 2, false},
                   {"parameters in RAM or on storage", kVermilion, 7, 2, false},
                   {"no plan is below, same parts", kGrey, 0, 1.2, true}};
  for (const RamPair& pair : pairs)
    if (pair.platform == platform)
      panels.panels.push_back(
          {pair.network,
           {bounds_of(pair, 2), curve_of(pair, pair.paged, 1), curve_of(pair, pair.resident, 0)},
           "no plan holds"});
  return panels;
}

}  // namespace

Section less_ram(const std::vector<Study>& studies) {
  const std::vector<SweepResult> resident = results_of(studies, "less_ram_resident");
  const std::vector<SweepResult> paged = results_of(studies, "less_ram_auto");
  const std::vector<RamPair> pairs = ram_pairs(resident, paged);
  Section section;
  section.title = "Beyond the paper: RAM from 1% of what keeping everything takes";
  section.text =
      "Everything counts: parameters, gradients, activations, workspace. With parameters in RAM no plan is "
      "below their size. Or each is in RAM or at home on storage, whichever costs less; operators come in "
      "parts in both cases where RAM is short (split auto). RAM is in parts of what the network needs whole "
      "with everything kept, energy in units of what it then takes. A plan for less RAM counts at more RAM, "
      "too.\n\n"
      "The bounds on bytes are on what parameters and optimiser state must move in every plan within the "
      "RAM, of this graph in these parts (docs/bounds.md): activations come on top, since they could "
      "be recomputed. Steps: the bytes that the storage endures, over those written in a step.";
  section.claims = ram_claims(pairs);
  section.tables.push_back(least_ram_table(pairs));
  section.tables.push_back(transfer_table(pairs));
  for (const std::string& platform : platforms_of(pairs))
    section.figures.push_back(
        {"less_ram_" + platform,
         fmt::format("Energy over RAM on {}, parameters in RAM or on storage", platform),
         panels_of(pairs, platform)});
  return section;
}

}  // namespace poet::cli
