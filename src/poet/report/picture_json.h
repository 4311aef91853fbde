#pragma once

#include <nlohmann/json_fwd.hpp>

#include "poet/report/picture.h"

namespace poet {

/// What the page draws: SI base units, bytes whole. Figures are the verifier's; "recompute" alone is summed
/// from the cost table over the computations that the trace has and that are not the first of their op, and
/// is part of "compute".
///
///   {"title", "network", "device", "source", "batch", "semantics",
///    "valid", "violation",
///    "byte_units": "decimal" or "binary" (KB or KiB), "ram_budget", "deadline": null|s, "max_bytes_written":
///    null|bytes, "persistent", "written": null|when the file was, "made": null|{"by", "command", "status",
///    "bound_joules", "paging", "rematerialization", "binary_units"}, as in the file, "figures": {"energy",
///    "compute", "recompute", "page_in", "page_out", "load", "home", "idle", "runtime",
///                "stalled", (load and home are part of page_in and page_out)
///                "peak_ram", "peak_op": null|op, "recomputations", "page_ins", "page_outs",
///                "bytes_written"},
///    "keep_all": {"energy", "runtime", "peak_ram",               everything in RAM: without a plan
///                 "end": [s...], "ram": [bytes...]},             op by op, but for those that take no time
///    "arena": {"valid", "violation", "bytes", "ram"},            as replay_layout() answers; zeros if not
///                                                                asked
///    "ops":    [[name, kind, pass, [values written], [values read]]...],
///    "values": [[name, bytes, persistence]...],                  transient storages, numbered by position;
///                                                                behind them, from number "transient" on,
///                                                                persistent values at home on storage
///    "reasons": [[decision, reason]...],                         of a valid plan; else empty, as is:
///    "decisions": [null|[number of the reason, joules spent,     of each value: decisions.h, residences.h
///                        null|joules to page, null|joules to recompute]...],
///                                                                where at home: to load and write home
///    "planned": number of steps in the plan,
///    "steps": {"kind": one of "oiwcf" per replayed step,         page_out, page_in, wait, compute, free
///              "id": [op or value...], "end": [s...], "ram": [bytes...]},  a step begins where the last
///                                                                          ended
///    "channel": [[step, begin, end]...],
///    "allocations": [[value or null, op or null, first step, last step, bytes, offset, takes_over]...]}
///
/// Ids out of range become null, text that is not UTF-8 is for the writer of the JSON to replace.
/// O(steps + edges).
[[nodiscard]] nlohmann::ordered_json picture_json(const Picture& picture);

}  // namespace poet
