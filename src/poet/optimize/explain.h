#pragma once

// Why there is no answer, and the nearest limits at which there is one.

#include <functional>

#include "poet/optimize/outcome.h"
#include "poet/optimize/search/search.h"

namespace poet {

/// The largest working set of one op, and which op it is.
[[nodiscard]] Explanation ram_floor(const Problem& problem);

/// Whether a combinatorial argument alone shows that no schedule exists (an op's working set exceeds the
/// budget, the deadline is shorter than computing everything once); fills explanation.reason.
bool explain_impossible(const Problem& problem, Explanation& explanation);

/// What a search without a schedule leaves of its time for the reason.
[[nodiscard]] double seconds_for_reason(const SolveOptions& options);

/// For a search that ended without a schedule (one that turns up now becomes its incumbent): the least RAM at
/// the given deadline and the least deadline at the given RAM for which a schedule is found within
/// seconds_for_reason(), or a moment where time is up, and the reason. True when no plan exists: by a
/// combinatorial argument, whose reason is there already, or by prove_least_ram(). `improve` searches and
/// bounds until done: it looks for the deadline.
bool explain_no_answer(Search& search, Explanation& why, const std::function<void(Search&)>& improve);

/// The least RAM budget (persistent bytes included) for which a schedule within the other limits is known; at
/// most `time_limit_seconds` are spent. Absent when none was found.
[[nodiscard]] std::optional<Bytes> least_ram(const SolveRequest& request, const SolveOptions& options);

}  // namespace poet
