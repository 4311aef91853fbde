#pragma once

#include "apps/cli/training/options.h"
#include "poet/graph/graph.h"

namespace poet::cli {

/// Whether hyperparameters, data, weights, checkpoint and a --storage that was typed fit the training graph
/// and this machine: what a run would find wrong only after its plan was solved for. Reads headers and
/// labels, not tensors. Throws InputError as the run would.
void check_run(const Graph& graph, const RunChoice& training, const MachineChoice& machine);

}  // namespace poet::cli
