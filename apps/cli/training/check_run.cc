#include "apps/cli/training/check_run.h"

#include "apps/cli/training/safetensors_weights.h"
#include "apps/cli/training/start.h"
#include "apps/cli/training/weights.h"
#include "poet/runtime/weights/initial_weights.h"

namespace poet::cli {
namespace {

/// Every persistent value has a beginning.
void check_weights(const Graph& graph, bool has_weights, const RunChoice& training) {
  if (training.resume) return runtime::check_checkpoint(*training.resume, graph);
  if (!training.weights && has_weights) return;
  if (training.weights && training.weights->extension() == ".onnx")
    return check_onnx_weights(graph, *training.weights);
  const SafetensorsWeights weights(graph, training.weights);
  for (const ValueId v : runtime::persistent_values(graph))
    if (!weights.has(v)) runtime::check_initialisable(graph, v);
}

}  // namespace

void check_run(const Graph& graph, bool has_weights, const RunChoice& training,
               const MachineChoice& machine) {
  Graph changed = graph;
  runtime::set_hyperparameters(changed, training.hyperparameters);
  const runtime::RunState state = chosen_state(training);
  check_weights(graph, has_weights, training);
  static_cast<void>(chosen_data(training, graph, state.seed));
  if (machine.storage_named || machine.storage.encrypt) const runtime::PageFile opened(machine.storage, {});
}

}  // namespace poet::cli
