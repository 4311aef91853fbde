#pragma once

// Where a run starts: the state it goes on from and the data it trains on.

#include <memory>

#include "apps/cli/training/options.h"
#include "poet/graph/graph.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/training/checkpoint.h"

namespace poet::cli {

/// Step 0 with the seed chosen, or what the header of --resume says. Throws InputError for a --seed other
/// than the checkpoint's, and where --steps are done already.
[[nodiscard]] runtime::RunState chosen_state(const RunChoice& training);

/// --data, else the synthetic set; it fills at least one batch. Throws InputError.
[[nodiscard]] std::unique_ptr<runtime::Dataset> chosen_data(const RunChoice& training, const Graph& graph,
                                                            std::uint64_t seed);

}  // namespace poet::cli
