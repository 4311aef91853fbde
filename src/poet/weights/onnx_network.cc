#include "poet/weights/onnx_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "poet/autodiff/forward_part.h"
#include "poet/base/error.h"
#include "poet/frontend/onnx/export.h"
#include "poet/graph/parts.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/split/indexed.h"

namespace poet {
namespace {

/// Shapes of parameters by name.
std::map<std::string, Shape> parameters_of(const Graph& graph) {
  std::map<std::string, Shape> shapes;
  for (const Value& stored : graph.values) {
    if (stored.persistence != Persistence::parameter || stored.alias_of.valid()) continue;
    const Value value = at_home(stored);
    shapes.emplace(tensor_name(value), tensor_shape(value));
  }
  return shapes;
}

}  // namespace

ImportedModel import_at_batch(const std::filesystem::path& file, ImportOptions options,
                              std::int64_t batch_size) {
  options.batch_size = batch_size;
  try {
    return import_onnx(file, options);
  } catch (const InputError&) {
    options.batch_size.reset();
    return import_onnx(file, options);
  }
}

std::set<std::string> parameter_names(const Graph& training) {
  std::set<std::string> names;
  for (const auto& [name, shape] : parameters_of(training)) names.insert(name);
  return names;
}

ImportedModel import_for_weights(const std::filesystem::path& file, std::int64_t batch_size,
                                 const std::set<std::string>& parameters) {
  ImportOptions options;
  options.trained = parameters;
  options.loss = Loss::mean_squared_error;  // fits any output
  return import_at_batch(file, options, batch_size);
}

bool read_weight(const OnnxWeights& weights, const Value& value, std::vector<std::byte>& contents) {
  contents.resize(static_cast<std::size_t>(value.bytes.value()));
  return weights.read(value, contents.data());
}

void check_any(const OnnxWeights& weights, const Graph& training, const std::filesystem::path& file) {
  std::vector<std::byte> contents;
  for (const ValueId v : runtime::persistent_values(training))
    if (read_weight(weights, at_home(training.values[v]), contents)) return;
  throw InputError(file.string(), "holds no tensor with the name of one of the network's parameters");
}

std::string other_parameter(const Graph& imported, const Graph& training) {
  const std::map<std::string, Shape> ours = parameters_of(training);
  const std::map<std::string, Shape> theirs = parameters_of(imported);
  for (const auto& [name, shape] : ours)
    if (const auto found = theirs.find(name); found == theirs.end() || found->second != shape)
      return fmt::format("is not the file that the plan was made for: the plan has a parameter '{}'", name);
  for (const auto& [name, shape] : theirs)
    if (!ours.contains(name))
      return fmt::format("is not the file that the plan was made for: only the file has a parameter '{}'",
                         name);
  return "";
}

void check_exportable(const Graph& training, const std::optional<OnnxNetwork>& network) {
  const WeightLookup zeros = [](const Value& value, std::byte* to) {
    std::fill_n(to, value.bytes.value(), std::byte{0});
    return true;
  };
  if (network)
    static_cast<void>(onnx_model_with_weights(network->file, network->import(), zeros));
  else
    static_cast<void>(onnx_model_of(forward_part(without_indexed(training)), zeros));
}

void write_trained_onnx(const runtime::Trainer& trainer, const std::optional<OnnxNetwork>& network,
                        const std::filesystem::path& file) {
  const Graph& training = trainer.file().instance.graph;
  std::map<std::string, Tensor> trained;
  for (Tensor& tensor : persistent_tensors(training)) trained[tensor.name] = std::move(tensor);
  const WeightLookup lookup = [&](const Value& value, std::byte* to) {
    const auto found = trained.find(value.name);
    if (found == trained.end()) return false;
    const std::int64_t size = size_of(value.dtype).value();
    for (const ValueId v : found->second.values) {
      for_each_run_of_part(at_home(training.values[v]),
                           [&](std::int64_t first, std::int64_t at, std::int64_t count) {
                             std::copy_n(trainer.persistent(v) + at * size, count * size, to + first * size);
                           });
    }
    return true;
  };
  if (network)
    write_onnx_with_weights(network->file, network->import(), file, lookup);
  else
    write_onnx(file, forward_part(without_indexed(training)), lookup);
}

}  // namespace poet
