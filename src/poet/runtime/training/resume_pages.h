#pragma once

// Whether a run may go on from the page file that another has left: only the very same run may, as only its
// bits would be those of one that was never interrupted. For anything else there are checkpoints.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/storage/step_record.h"
#include "poet/runtime/training/run_state.h"

namespace poet::runtime {

[[nodiscard]] RunState state_of(const StepRecord& record);

// Throw InputError naming the file.

/// Another network, or the same in other parts or another order of ops.
void check_same_network(const StepRecord& left, const Graph& training, const std::filesystem::path& file);
/// Which of the plans of these digests (plan_digest.h) it was; another one.
[[nodiscard]] std::size_t same_plan(const StepRecord& left, const std::vector<std::uint64_t>& plans,
                                    const std::filesystem::path& file);
/// Those in `now`.
void check_same_circumstances(const StepRecord& left, const std::map<std::string, std::string>& now,
                              const std::filesystem::path& file);

}  // namespace poet::runtime
