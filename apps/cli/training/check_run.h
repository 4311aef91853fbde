#pragma once

#include "apps/cli/training/options.h"
#include "poet/graph/graph.h"

namespace poet::cli {

/// Whether hyperparameters, data, weights, checkpoint and a --storage that was typed fit the training graph
/// and this machine: what a run would find wrong only after its plan was solved for. `has_weights`: the
/// network came with its own. Reads headers and labels, of ONNX files everything. Throws InputError as the
/// run would.
void check_run(const Graph& graph, bool has_weights, const RunChoice& training, const MachineChoice& machine);

}  // namespace poet::cli
