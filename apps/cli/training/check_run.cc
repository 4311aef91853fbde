#include "apps/cli/training/check_run.h"

#include "apps/cli/training/safetensors_weights.h"
#include "apps/cli/training/start.h"
#include "poet/frontend/onnx/import.h"

namespace poet::cli {

void check_run(const Graph& graph, const RunChoice& training, const MachineChoice& machine) {
  Graph changed = graph;
  runtime::set_hyperparameters(changed, training.hyperparameters);
  const runtime::RunState state = chosen_state(training);
  if (training.resume) runtime::check_checkpoint(*training.resume, graph);
  if (training.weights && training.weights->extension() == ".onnx")
    static_cast<void>(import_onnx(*training.weights));
  else
    const SafetensorsWeights opened(graph, training.weights);
  static_cast<void>(chosen_data(training, graph, state.seed));
  if (machine.storage_named) const runtime::PageFile opened(machine.storage, {});
}

}  // namespace poet::cli
