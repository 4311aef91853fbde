#pragma once

// The data and initial weights of a run.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "poet/runtime/executor/persistent.h"
#include "poet/runtime/training/trainer_options.h"

namespace poet::runtime {

struct ChosenData {
  std::unique_ptr<Dataset> opened;  // null: the caller's own, or none
  const Dataset* data = nullptr;    // null: none
};

/// Opens the training data, which must have at least one batch. Throws InputError as open_dataset() and
/// Batches::select().
[[nodiscard]] ChosenData choose_data(const Graph& graph, const TrainerOptions& options, std::uint64_t seed);

/// Opens the validation data, if the options have any. Throws InputError as open_dataset().
[[nodiscard]] ChosenData choose_validation(const Graph& graph, const TrainerOptions& options);

/// Initialises every persistent value from `state.seed` or a checkpoint, sets `state` accordingly, and adds
/// notices. Returns the number of parameters with seeded values. Throws InputError as the files do, and for
/// initial values that are not finite.
std::int64_t start_weights(const Graph& graph, PersistentValues& persistent, const TrainerOptions& options,
                           RunState& state, std::vector<std::string>& notices);

}  // namespace poet::runtime
