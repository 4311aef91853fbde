#pragma once

// Where a run starts: its data and its first weights.

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

/// What the options say to train on; it fills at least one batch. Throws InputError as open_dataset() and
/// Batches::select().
[[nodiscard]] ChosenData choose_data(const Graph& graph, const TrainerOptions& options, std::uint64_t seed);

/// What they say to measure the network on; nothing where they say nothing. Throws InputError as
/// open_dataset().
[[nodiscard]] ChosenData choose_validation(const Graph& graph, const TrainerOptions& options);

/// Gives every persistent value its first contents, from `state.seed` or a checkpoint, and sets `state` to
/// what they belong to. What is to be known of it becomes notices. How many parameters began with seeded
/// numbers. Throws InputError as the files do, and where they begin with what is not finite.
std::int64_t start_weights(const Graph& graph, PersistentValues& persistent, const TrainerOptions& options,
                           RunState& state, std::vector<std::string>& notices);

}  // namespace poet::runtime
