#include "poet/runtime/training/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <string_view>

#include "poet/base/error.h"
#include "poet/graph/parts.h"
#include "poet/runtime/training/hyperparameters.h"
#include "poet/runtime/weights/safetensors.h"

namespace poet::runtime {
namespace {

/// Whether tensors are in files as they are in memory.
bool is_in_memory_layout(const Graph& graph) {
  return std::none_of(graph.values.begin(), graph.values.end(),
                      [](const Value& value) { return value.in_file && value.in_file->transposed; });
}

/// A checkpoint with transposed matrices cannot belong to a graph that knows of none.
void check_layouts(const std::filesystem::path& file, const SafetensorsFile& opened, const Graph& graph) {
  if (opened.is_as_in_memory() || !is_in_memory_layout(graph)) return;
  throw InputError(file.string(),
                   "has matrices as the ONNX file has them, of which the plan knows none: it is of another "
                   "network, or an older version made it; solve again");
}

template <class Number>
Number number_in(const std::filesystem::path& file, const std::map<std::string, std::string>& metadata,
                 const char* key) {
  const auto found = metadata.find(key);
  Number number{};
  if (found != metadata.end()) {
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  throw InputError(file.string(), fmt::format("its metadata must have \"{}\", a number", key));
}

RunState state_of(const SafetensorsFile& opened, const std::filesystem::path& file) {
  const auto format = opened.metadata().find("format");
  if (format == opened.metadata().end() ||
      (format->second != kCheckpointInMemory && format->second != kCheckpointAsInFile))
    throw InputError(file.string(), fmt::format("is not a poet checkpoint (metadata \"format\": \"{}\" or "
                                                "\"{}\")",
                                                kCheckpointInMemory, kCheckpointAsInFile));
  RunState state;
  state.step = number_in<std::int64_t>(file, opened.metadata(), "step");
  state.seed = number_in<std::uint64_t>(file, opened.metadata(), "seed");
  state.loss = number_in<float>(file, opened.metadata(), "loss");
  if (opened.metadata().contains("best validation step")) {
    state.best_step = number_in<std::int64_t>(file, opened.metadata(), "best validation step");
    state.best_loss = number_in<double>(file, opened.metadata(), "best validation loss");
  }
  state.circumstances = opened.metadata();
  for (const char* known : {"format", "step", "seed", "loss", "best validation step", "best validation loss"})
    state.circumstances.erase(known);
  if (state.step < 0) throw InputError(file.string(), "its metadata's \"step\" must be >= 0");
  return state;
}

/// As describe_optimizer() has told it.
std::int64_t steps_per_update_of(const RunState& state) {
  const auto optimizer = state.circumstances.find("optimizer");
  if (optimizer == state.circumstances.end()) return 1;
  const std::string& text = optimizer->second;
  constexpr std::string_view kKey = " every=";
  const std::size_t at = text.find(kKey);
  std::int64_t steps = 0;
  if (at != std::string::npos)
    std::from_chars(text.data() + at + kKey.size(), text.data() + text.size(), steps);
  return std::max<std::int64_t>(steps, 1);
}

}  // namespace

std::vector<ValueId> persistent_values(const Graph& graph) {
  std::vector<ValueId> found;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (is_persistent(value.persistence) && !value.alias_of.valid() && stands_for_home(value))
      found.push_back(v);
  }
  return found;
}

std::string describe_optimizer(const Graph& graph) {
  for (const Op& op : graph.ops) {
    if (op.pass != Pass::update || op.kind == "batch_norm_stats") continue;
    std::string text = op.kind;
    for (const auto& [name, value] : op.attributes) {
      if (const auto* number = std::get_if<double>(&value)) text += fmt::format(" {}={}", name, *number);
      if (const auto* whole = std::get_if<std::int64_t>(&value)) text += fmt::format(" {}={}", name, *whole);
    }
    return text;
  }
  return "none";
}

const char* checkpoint_format(const Graph& graph) {
  return is_in_memory_layout(graph) ? kCheckpointInMemory : kCheckpointAsInFile;
}

void write_checkpoint(const std::filesystem::path& file, const Graph& graph,
                      const PersistentValues& persistent, const RunState& state) {
  std::vector<TensorEntry> tensors;
  std::deque<Value> homes;
  for (const Tensor& tensor : persistent_tensors(graph)) {
    TensorEntry& entry = tensors.emplace_back(TensorEntry{tensor.name, tensor.dtype, tensor.shape_in_file});
    for (const ValueId v : tensor.values) {
      homes.push_back(at_home(graph.values[v]));
      entry.parts.push_back({&homes.back(), persistent.contents(v)});
    }
  }
  std::map<std::string, std::string> metadata = {{"format", checkpoint_format(graph)},
                                                 {"step", fmt::format("{}", state.step)},
                                                 {"seed", fmt::format("{}", state.seed)},
                                                 {"loss", fmt::format("{}", state.loss)}};
  if (state.best_step >= 0) {
    metadata["best validation step"] = fmt::format("{}", state.best_step);
    metadata["best validation loss"] = fmt::format("{}", state.best_loss);
  }
  metadata.insert(state.circumstances.begin(), state.circumstances.end());
  write_safetensors(file, tensors, metadata);
}

RunState read_run_state(const std::filesystem::path& file) { return state_of(SafetensorsFile(file), file); }

void check_update(const std::filesystem::path& file, const RunState& state, const Graph& graph) {
  const std::int64_t all = steps_per_update_of(state);
  const std::int64_t done = state.step % all;
  if (done == 0 || all == steps_per_update(graph)) return;
  throw InputError(file.string(),
                   fmt::format("is in the middle of an update of {} micro-batches ({} of {} done); resume "
                               "with `accumulate` {}",
                               all, done, all, all));
}

std::string short_update(const RunState& state, const Graph& graph) {
  const std::int64_t all = steps_per_update(graph);
  const std::int64_t missing = state.step % all;
  if (missing == 0 || all == steps_per_update_of(state)) return "";
  return fmt::format(
      "the first update is by {} of {} gradients: the checkpoint's {} steps are no multiple of {}",
      all - missing, all, state.step, all);
}

void check_checkpoint(const std::filesystem::path& file, const Graph& graph) {
  const SafetensorsFile opened(file);
  check_update(file, state_of(opened, file), graph);
  check_layouts(file, opened, graph);
  for (const ValueId v : persistent_values(graph)) opened.check(at_home(graph.values[v]));
}

RunState read_checkpoint(const std::filesystem::path& file, const Graph& graph,
                         PersistentValues& persistent) {
  const SafetensorsFile opened(file);
  RunState state = state_of(opened, file);
  check_update(file, state, graph);
  check_layouts(file, opened, graph);
  for (const ValueId v : persistent_values(graph))
    persistent.set(v, [&](std::byte* to) { opened.read(at_home(graph.values[v]), to); });
  return state;
}

}  // namespace poet::runtime
