#pragma once

// The answer of `poet pack` as text, JSON and picture.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "poet/packing/buffer_table.h"
#include "poet/report/memory_map.h"

namespace poet::cli {

[[nodiscard]] inline bool is_packed(PackVerdict verdict) {
  return verdict == PackVerdict::optimal || verdict == PackVerdict::feasible;
}

/// Lines with a label each: status, what it takes, what is proven.
[[nodiscard]] std::string pack_text(const PackProblem& problem, const PackSolution& solution, double seconds);

/// As docs/packing.md describes it.
[[nodiscard]] nlohmann::ordered_json pack_json(const PackProblem& problem, const PackSolution& solution,
                                               double seconds);

/// Of a solution with a packing: a panel per bank.
[[nodiscard]] MemoryMap pack_map(const PackProblem& problem, const PackSolution& solution);

}  // namespace poet::cli
