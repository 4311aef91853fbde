#pragma once

// The RAM budget of a training step, persistent values included: as it is requested, read from text, and in
// bytes.

#include <string>
#include <variant>

#include "poet/base/units.h"

namespace poet {

struct Figures;   // pose.h
struct Workload;  // pose.h

/// A part of the way from the RAM floor (0) to the keep-all peak (1).
struct RamAboveFloor {
  double fraction = 0;
  bool operator==(const RamAboveFloor&) const = default;
};

/// A part of the keep-all peak before the graph is split, nothing paged.
struct RamOfKeepAll {
  double part = 0;
  bool operator==(const RamOfKeepAll&) const = default;
};

/// All of the device's RAM.
struct DeviceRam {
  bool operator==(const DeviceRam&) const = default;
};

/// The least for which a plan is found, which takes its place before posing (answer/least_budget.h).
struct LeastRam {
  bool operator==(const LeastRam&) const = default;
};

using RamBudget = std::variant<Bytes, RamAboveFloor, RamOfKeepAll, DeviceRam, LeastRam>;

/// Whose text is parsed. In the specification of a sweep there is no "least", and a percentage is that of
/// parse_fraction(), as keys of results stores hold it: 57% is 57 * 0.01, not 57 / 100.
enum class BudgetSource { argument, sweep };

/// Parses "300KiB" (base/parse_amounts.h), "50%" of the keep-all peak, or "least". `place`: the option or the
/// field, for messages. Throws InputError.
[[nodiscard]] RamBudget parse_ram_budget(const std::string& place, const std::string& text,
                                         BudgetSource source = BudgetSource::argument);

/// Returns the budget in bytes; relative ones are rounded down, a part of the keep-all peak to one byte at
/// least. `figures`: of the graph in its parts; null: before it is split, when the budget is 0 bytes if it
/// depends on the parts. Throws InputError for LeastRam and, without a device, DeviceRam.
[[nodiscard]] Bytes resolve_ram_budget(const RamBudget& budget, const Workload& workload,
                                       const Figures* figures);

/// Returns one sentence on how the budget of `bytes` was determined, which names library fields; empty if
/// bytes were requested. `keep_all`: the keep-all peak before the graph is split.
[[nodiscard]] std::string note_of(const RamBudget& asked, Bytes keep_all, Bytes bytes);

}  // namespace poet
