#include "poet/runtime/training/trainer_options.h"

#include <fmt/format.h>

#include <vector>

#include "poet/base/error.h"
#include "poet/runtime/storage/page_file.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/training/start.h"
#include "poet/runtime/weights/safetensors_weights.h"

namespace poet::runtime {
namespace {

/// Every persistent value has a beginning.
void check_weights(const Graph& graph, const TrainerOptions& options) {
  if (options.resume) return check_checkpoint(*options.resume, graph);
  const SafetensorsWeights file(graph, options.weights_file);
  const InitialWeights seeds(graph);
  std::vector<std::byte> contents;
  for (const ValueId v : persistent_values(graph)) {
    contents.resize(static_cast<std::size_t>(graph.values[v].bytes.value()));
    if (options.weights && options.weights(v, contents.data())) continue;
    if (!file.has(v)) seeds.check(v);
  }
}

}  // namespace

RunState first_state(const TrainerOptions& options) {
  if (!options.resume) {
    RunState state;
    state.seed = options.seed.value_or(0);
    return state;
  }
  RunState state = read_run_state(*options.resume);
  if (options.seed && *options.seed != state.seed)
    throw InputError(Field{"seed"}, fmt::format("is {}, that of {} is {}", *options.seed,
                                                options.resume->string(), state.seed));
  return state;
}

void check_rules(Semantics semantics) {
  if (semantics == Semantics::device) return;
  throw InputError("the plan",
                   fmt::format("is by the {} rules, whose transfers take no time; what runs is a plan by a "
                               "device's (`semantics` device)",
                               to_string(semantics)));
}

void check_trainable(const Graph& training, const TrainerOptions& options) {
  Graph changed = training;
  set_hyperparameters(changed, options.hyperparameters);
  const RunState state = first_state(options);
  check_weights(training, options);
  static_cast<void>(choose_data(training, options, state.seed));
  check_storage(options.storage);
}

void check_storage(const PageFileOptions& storage) {
  if (!storage.where.empty() || storage.encrypt) const PageFile opened(storage, {});
}

}  // namespace poet::runtime
