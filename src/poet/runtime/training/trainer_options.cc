#include "poet/runtime/training/trainer_options.h"

#include <fmt/format.h>

#include <vector>

#include "poet/base/error.h"
#include "poet/graph/parts.h"
#include "poet/runtime/storage/left_run.h"
#include "poet/runtime/storage/page_file.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/training/finite_values.h"
#include "poet/runtime/training/resume_pages.h"
#include "poet/runtime/training/start.h"
#include "poet/runtime/weights/safetensors_weights.h"

namespace poet::runtime {
namespace {

/// Every persistent value has a beginning.
void check_weights(const Graph& graph, const TrainerOptions& options) {
  if (goes_on_from_pages(options)) return;
  if (options.resume) return check_checkpoint(*options.resume, graph);
  const SafetensorsWeights file(graph, options.weights_file);
  const InitialWeights seeds(graph);
  const FiniteValues finite(graph);
  std::vector<std::byte> contents;
  for (const ValueId v : persistent_values(graph)) {
    contents.resize(static_cast<std::size_t>(at_home(graph.values[v]).bytes.value()));
    const bool is_given = options.weights && options.weights(v, contents.data());
    const bool is_of_file = file.read(v, contents.data());
    if (is_of_file || is_given)
      finite.check(v, contents.data(), is_of_file ? options.weights_file : options.weights_origin);
    else
      seeds.check(v);
  }
}

}  // namespace

RunState first_state(const TrainerOptions& options) {
  if (!options.resume) {
    RunState state;
    state.seed = options.seed.value_or(0);
    return state;
  }
  RunState state = goes_on_from_pages(options) ? state_of(look_at_left_run(*options.resume).record())
                                               : read_run_state(*options.resume);
  if (options.seed && *options.seed != state.seed)
    throw InputError(Field{"seed"}, fmt::format("is {}, that of {} is {}", *options.seed,
                                                options.resume->string(), state.seed));
  return state;
}

bool goes_on_from_pages(const TrainerOptions& options) {
  return options.resume && is_page_file(*options.resume);
}

PageFileOptions storage_of(const TrainerOptions& options) {
  PageFileOptions storage = options.storage;
  if (!goes_on_from_pages(options)) return storage;
  std::error_code ignored;
  if (!storage.where.empty() && !std::filesystem::equivalent(storage.where, *options.resume, ignored))
    throw InputError(Field{"storage"},
                     fmt::format("must be {} or not be given: the run goes on in the page file "
                                 "that it resumes from",
                                 options.resume->string()));
  if (storage.encrypt)
    throw InputError(Field{"encrypt"},
                     fmt::format("is not possible: the pages of {} are not encrypted, or their "
                                 "key is gone",
                                 options.resume->string()));
  storage.where = *options.resume;
  return storage;
}

void check_early_stop(bool goes_on_from_pages, bool keeps_best) {
  if (!keeps_best && goes_on_from_pages)
    throw InputError(
        Field{"stop_after"},
        "of a run that goes on from a page file needs `best`, which says what the lowest loss was");
}

std::map<std::string, std::string> circumstances_of(const Graph& training, const Dataset& data,
                                                    const TrainerOptions& options) {
  return {{"data", describe_data(data, options)},
          {"kernels", kernels_description(options.kernels)},
          {"optimizer", describe_optimizer(training)},
          {"schedule", describe_schedule(options.schedule)}};
}

std::string describe_data(const Dataset& data, const TrainerOptions& options) {
  return data.description() + (options.shuffle ? "" : ", not shuffled");
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
  check_schedule(options.schedule);
  const RunState state = first_state(options);
  const PageFileOptions storage = storage_of(options);
  check_weights(training, options);
  const ChosenData data = choose_data(training, options, state.seed);
  static_cast<void>(choose_validation(training, options));
  if (!goes_on_from_pages(options)) return check_storage(storage);
  const LeftRun left = look_at_left_run(storage.where);
  check_same_network(left.record(), training, storage.where);
  check_same_circumstances(left.record(), circumstances_of(changed, *data.data, options), storage.where);
}

void check_storage(const PageFileOptions& storage) {
  if (!storage.where.empty() || storage.encrypt) const PageFile opened(storage, {});
}

}  // namespace poet::runtime
