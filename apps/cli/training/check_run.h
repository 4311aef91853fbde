#pragma once

#include <optional>

#include "apps/cli/training/options.h"
#include "apps/cli/training/weights.h"
#include "poet/graph/graph.h"

namespace poet::cli {

/// Whether hyperparameters, data, weights, checkpoint and a --storage that was typed fit the training graph
/// and this machine: what a run would find wrong only after its plan was solved for. `network`: the ONNX file
/// that the graph came from. Reads headers and labels, of ONNX files everything. Throws InputError as the run
/// would.
void check_run(const Graph& graph, const std::optional<OnnxNetwork>& network, const RunChoice& training,
               const MachineChoice& machine);

}  // namespace poet::cli
