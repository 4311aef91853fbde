#include "poet/runtime/training/start.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/graph/parts.h"
#include "poet/runtime/data/batches.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/training/finite_values.h"
#include "poet/runtime/weights/safetensors_weights.h"

namespace poet::runtime {
namespace {

/// Returns the first names, and the number of the others.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  const std::size_t shown = std::min(names.size(), kShown);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace

ChosenData choose_data(const Graph& graph, const TrainerOptions& options, std::uint64_t seed) {
  ChosenData chosen;
  if (options.dataset == nullptr)
    chosen.opened =
        options.data ? open_dataset(*options.data, graph) : synthetic_dataset(graph, options.samples, seed);
  chosen.data = options.dataset != nullptr ? options.dataset : chosen.opened.get();
  Batches(graph, *chosen.data, seed).select(1);  // it fits
  return chosen;
}

ChosenData choose_validation(const Graph& graph, const TrainerOptions& options) {
  ChosenData chosen;
  chosen.data = options.validation_set;
  if (chosen.data == nullptr && options.validation) {
    chosen.opened = open_dataset(*options.validation, graph, {"validate"});
    chosen.data = chosen.opened.get();
  }
  return chosen;
}

std::int64_t start_weights(const Graph& graph, PersistentValues& persistent, const TrainerOptions& options,
                           RunState& state, std::vector<std::string>& notices) {
  if (options.resume) {
    state = read_checkpoint(*options.resume, graph, persistent);
    return 0;
  }
  const FiniteValues finite(graph);
  const SafetensorsWeights file(graph, options.weights_file);
  for (std::string& note : file.notes()) notices.push_back(std::move(note));
  const InitialWeights seeds(graph);
  std::int64_t of_file = 0, given = 0;  // parameters
  std::vector<std::string> seeded;      // their names
  for (const ValueId v : persistent_values(graph)) {
    persistent.set(v, [&](std::byte* to) {
      const bool counts =
          graph.values[v].persistence == Persistence::parameter && begins_tensor(at_home(graph.values[v]));
      const bool is_given = options.weights && options.weights(v, to);  // which is asked for all, in order
      if (file.read(v, to)) {
        of_file += counts ? 1 : 0;
        return finite.check(v, to, options.weights_file);
      }
      if (is_given) {
        given += counts ? 1 : 0;
        return finite.check(v, to, options.weights_origin);
      }
      seeds.write(v, state.seed, to);
      if (counts) seeded.push_back(tensor_name(at_home(graph.values[v])));
    });
  }
  const auto count = std::ssize(seeded);
  if (options.weights_file && options.weights_origin && given + count > 0)
    notices.push_back(fmt::format("parameters: {} of {}, {} of {}, {} seeded{}", of_file,
                                  options.weights_file->string(), given, options.weights_origin->string(),
                                  count, seeded.empty() ? "" : " (" + some_of(seeded) + ")"));
  else if (const auto& source = options.weights_file ? options.weights_file : options.weights_origin;
           source && count > 0)
    notices.push_back(
        fmt::format("{} of {} parameters are not in {} and begin with values by the seed {}: {}", count,
                    of_file + given + count, source->string(), state.seed, some_of(seeded)));
  return count;
}

}  // namespace poet::runtime
