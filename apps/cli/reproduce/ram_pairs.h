#pragma once

// Two results at every RAM size of a network on a device: with all parameters in RAM, and with those on
// storage that are better there.

#include <string>
#include <vector>

#include "apps/cli/reproduce/section.h"
#include "apps/cli/reproduce/studies.h"

namespace poet::cli {

struct RamPair {
  std::string network, platform;
  std::string title;                                // "linear on m4"
  std::vector<const SweepResult*> resident, paged;  // increasing in RAM; paged: where that is better
  double joules = 0;    // of the step without limits, of the graph that is not split
  double keep_all = 0;  // bytes of RAM, likewise
};

/// RAM of every result in parts of keep-all RAM ("10%"). Points to the results.
[[nodiscard]] std::vector<RamPair> ram_pairs(const std::vector<SweepResult>& resident,
                                             const std::vector<SweepResult>& paged);

/// The RAM budget in bytes.
[[nodiscard]] double ram_of(const SweepResult& result);

/// The cheapest plan within so much RAM: one for less RAM is one, too. Null without any.
[[nodiscard]] const SweepResult* best_within(const std::vector<const SweepResult*>& results, double ram);

/// Keep-all RAM, the least RAM of a plan in either way, energy of one next to the other.
[[nodiscard]] NamedTable least_ram_table(const std::vector<RamPair>& pairs);

/// Bytes read and written at a few RAM sizes, their lower bounds, and for how many steps the storage endures.
[[nodiscard]] NamedTable transfer_table(const std::vector<RamPair>& pairs);

/// What the two tables come to.
[[nodiscard]] std::vector<Claim> ram_claims(const std::vector<RamPair>& pairs);

}  // namespace poet::cli
