#include "apps/cli/training/check_run.h"

#include "apps/cli/training/safetensors_weights.h"
#include "apps/cli/training/start.h"
#include "poet/runtime/weights/initial_weights.h"

namespace poet::cli {
namespace {

/// Every persistent value has a beginning.
void check_weights(const Graph& graph, const std::optional<OnnxNetwork>& network, const RunChoice& training) {
  if (training.resume) return runtime::check_checkpoint(*training.resume, graph);
  if (const auto source = onnx_source(training.weights, network)) return check_onnx_weights(graph, *source);
  const SafetensorsWeights weights(graph, training.weights);
  for (const ValueId v : runtime::persistent_values(graph))
    if (!weights.has(v)) runtime::check_initialisable(graph, v);
}

}  // namespace

void check_run(const Graph& graph, const std::optional<OnnxNetwork>& network, const RunChoice& training,
               const MachineChoice& machine) {
  Graph changed = graph;
  runtime::set_hyperparameters(changed, training.hyperparameters);
  const runtime::RunState state = chosen_state(training);
  check_weights(graph, network, training);
  static_cast<void>(chosen_data(training, graph, state.seed));
  if (machine.storage_named || machine.storage.encrypt) const runtime::PageFile opened(machine.storage, {});
}

}  // namespace poet::cli
