#pragma once

// What a run is of, in 64 bits: for telling whether a page file that another process has left is of the same.

#include <cstdint>
#include <vector>

#include "poet/plan/file/plan_file.h"

namespace poet::runtime {

/// Of what is trained and how it is cut into parts, whatever the plan and the hyperparameters: names, shapes,
/// kinds, edges. O(ops + values + edges).
[[nodiscard]] std::uint64_t network_digest(const Graph& graph);

/// Of the steps, the addresses and which values are at home on storage. O(steps + allocations + values).
[[nodiscard]] std::uint64_t plan_digest(const PlanFile& file);

/// Of each plan of a family, by which another family's plans are told apart as well, from plan_digest() of
/// each. Of one plan that itself.
[[nodiscard]] std::vector<std::uint64_t> family_digests(const std::vector<std::uint64_t>& plans);

}  // namespace poet::runtime
