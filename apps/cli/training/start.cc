#include "apps/cli/training/start.h"

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/runtime/data/batches.h"

namespace poet::cli {

runtime::RunState chosen_state(const RunChoice& training) {
  if (!training.resume) {
    runtime::RunState state;
    state.seed = training.seed.value_or(0);
    return state;
  }
  const runtime::RunState state = runtime::read_run_state(*training.resume);
  if (training.seed && *training.seed != state.seed)
    throw InputError("--seed", fmt::format("is {}, that of {} is {}", *training.seed,
                                           training.resume->string(), state.seed));
  if (state.step >= training.steps)
    throw InputError("--steps", fmt::format("must be above {}, the steps that {} has done", state.step,
                                            training.resume->string()));
  return state;
}

std::unique_ptr<runtime::Dataset> chosen_data(const RunChoice& training, const Graph& graph,
                                              std::uint64_t seed) {
  auto data = training.data ? runtime::open_dataset(*training.data, graph)
                            : runtime::synthetic_dataset(graph, training.samples, seed);
  const runtime::Batches fits(graph, *data, seed);
  return data;
}

}  // namespace poet::cli
