#pragma once

// The origin of a plan, for display only: nothing is computed from it, and the verifier does not read it. It
// has no date: the same call writes the same bytes.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "poet/base/amounts.h"
#include "poet/base/units.h"
#include "poet/cost/json_reader.h"

namespace poet {

struct Made {
  std::string by;                    // "poet 0.1.0"
  std::string command;               // without output options; empty: not made by a command
  std::string status;                // "optimal" or "feasible", as the search ended
  std::optional<Joules> bound = {};  // proven lower bound on any plan's energy within these limits
  bool paging = true;                // whether the plan was allowed to
  bool rematerialization = true;
  std::optional<bool> binary_units = {};  // whether the command printed bytes in KiB and MiB

  bool operator==(const Made&) const = default;
};

/// Returns the units in which the command printed bytes; those of the RAM budget where it is not recorded.
[[nodiscard]] ByteUnits units_of(const std::optional<Made>& made, Bytes ram_budget);

[[nodiscard]] nlohmann::ordered_json to_json(const Made& made);
/// Reads it. Throws InputError.
[[nodiscard]] Made read_made(const JsonField& json);

}  // namespace poet
