#pragma once

// poet explain TENSOR: the decisions on one tensor, whole or in parts.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// The values that a name stands for, increasing: of a value; of a tensor, all its parts; of a slice of one
/// ("w[64:128, 0:64]", "w[:, 0:64]"), the parts that have any of it. Views stand for their storage. Empty for
/// a name that the graph does not have. O(values).
[[nodiscard]] std::vector<ValueId> values_named(const Graph& graph, const std::string& name);

/// Throws InputError for unknown names, listing some known ones.
void check_names(const Graph& graph, const std::vector<std::string>& names);

/// Of parameters and optimiser state among `values`: which live on storage, what their transfers cost, and
/// why the others stay in RAM. At most `rows` of them one by one. Empty where none is among them.
[[nodiscard]] std::string residence_text(const Solved& solved, const std::string& name,
                                         const std::vector<ValueId>& values, std::size_t rows);

/// The same of every value that could live on storage, as JSON.
[[nodiscard]] nlohmann::ordered_json residence_json(const Solved& solved);

}  // namespace poet::cli
