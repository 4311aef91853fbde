#pragma once

// Checkpoints: everything that the next step of a run depends on.

#include <filesystem>
#include <string>
#include <vector>

#include "poet/runtime/executor/persistent.h"
#include "poet/runtime/training/run_state.h"

namespace poet::runtime {

/// Returns the "format" in the metadata of a checkpoint of `graph`: kCheckpointInMemory or
/// kCheckpointAsInFile.
[[nodiscard]] const char* checkpoint_format(const Graph& graph);

/// Writes parameters and optimiser state of `graph`, by name, as safetensors, in the layout that files have
/// (Value::in_file), with the state as metadata; atomically. Throws as write_safetensors().
void write_checkpoint(const std::filesystem::path& file, const Graph& graph,
                      const PersistentValues& persistent, const RunState& state);

/// Reads the state of a checkpoint from its header. Throws InputError naming the file if it is no checkpoint.
[[nodiscard]] RunState read_run_state(const std::filesystem::path& file);

/// Throws InputError naming the file if a persistent value of `graph` is missing or has another type or
/// shape, and as check_update(). Reads only the header.
void check_checkpoint(const std::filesystem::path& file, const Graph& graph);

/// Reads every persistent value of `graph`. Throws InputError as the two above.
[[nodiscard]] RunState read_checkpoint(const std::filesystem::path& file, const Graph& graph,
                                       PersistentValues& persistent);

/// Throws InputError if the checkpoint at `file`, in `state`, was written in the middle of gradient
/// accumulation and `graph` accumulates another number of gradients.
void check_update(const std::filesystem::path& file, const RunState& state, const Graph& graph);

/// After check_update(): returns a notice if the first update of `graph` lacks gradients, as the run of
/// `state` updated after other steps; else empty.
[[nodiscard]] std::string short_update(const RunState& state, const Graph& graph);

/// Describes the graph's first update: "adam_update beta1=0.9 beta2=0.999 eps=1e-08 learning_rate=0.001".
[[nodiscard]] std::string describe_optimizer(const Graph& graph);

/// Returns the persistent values with their own storage, in order.
[[nodiscard]] std::vector<ValueId> persistent_values(const Graph& graph);

}  // namespace poet::runtime
