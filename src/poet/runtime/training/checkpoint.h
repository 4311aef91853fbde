#pragma once

// A training run on file: everything that the next step depends on.

#include <filesystem>
#include <string>
#include <vector>

#include "poet/runtime/executor/persistent.h"
#include "poet/runtime/training/run_state.h"

namespace poet::runtime {

/// The "format" in the metadata of a checkpoint of `graph`: kCheckpointInMemory or kCheckpointAsInFile.
[[nodiscard]] const char* checkpoint_format(const Graph& graph);

/// Parameters and optimiser state of `graph`, by name, as safetensors, in the layout that files have
/// (Value::in_file); the state as metadata. The earlier file stays whole until this one is. Throws as
/// write_safetensors().
void write_checkpoint(const std::filesystem::path& file, const Graph& graph,
                      const PersistentValues& persistent, const RunState& state);

/// The state of a checkpoint, from its header. Throws InputError naming the file when it is none.
[[nodiscard]] RunState read_run_state(const std::filesystem::path& file);

/// Throws InputError naming the file when it is without a persistent value of `graph` or holds one of another
/// type or shape, and as check_update(). Reads the header alone.
void check_checkpoint(const std::filesystem::path& file, const Graph& graph);

/// Reads every persistent value of `graph` back. Throws InputError as the two above.
[[nodiscard]] RunState read_checkpoint(const std::filesystem::path& file, const Graph& graph,
                                       PersistentValues& persistent);

/// Throws InputError where a checkpoint in `state` at `file` has the sums of an update under way, which the
/// updates of `graph` would complete with another number of gradients.
void check_update(const std::filesystem::path& file, const RunState& state, const Graph& graph);

/// After check_update(): that the first update of `graph` misses gradients, as `state` is of a run that
/// updated after other steps. Empty: it misses none.
[[nodiscard]] std::string short_update(const RunState& state, const Graph& graph);

/// "adam_update beta1=0.9 beta2=0.999 eps=1e-08 learning_rate=0.001" of the graph's first update.
[[nodiscard]] std::string describe_optimizer(const Graph& graph);

/// The persistent values that have a storage of their own, in order.
[[nodiscard]] std::vector<ValueId> persistent_values(const Graph& graph);

}  // namespace poet::runtime
