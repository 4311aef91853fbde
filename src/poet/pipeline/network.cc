#include "poet/pipeline/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "poet/autodiff/mixed_precision.h"
#include "poet/base/error.h"
#include "poet/base/text.h"
#include "poet/cost/instance_json.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/operators/schema.h"

namespace poet {
namespace {

/// Throws InputError, listing the parameters' names, unless some name matches.
void check_trainable(const Graph& forward, const std::string& patterns) {
  std::vector<std::string> names;
  bool any = false;
  for (const Value& value : forward.values) {
    if (value.persistence != Persistence::parameter) continue;
    any = any || matches(patterns, value.name);
    names.push_back(value.name);
  }
  // A whole name is meant; patterns may be for several networks.
  for (const std::string& name : pieces_of(patterns, ','))
    if (name.find_first_of("*?[") == std::string::npos &&
        std::find(names.begin(), names.end(), name) == names.end())
      throw InputError(
          Field{"trainable"},
          fmt::format("\"{}\" is no parameter of {}, nor a constant that can train", name, forward.name));
  if (any) return;
  const std::size_t parameters = names.size();
  names.resize(std::min<std::size_t>(parameters, 3));
  throw InputError(Field{"trainable"},
                   fmt::format("\"{}\" matches none of the {} parameters of {} ({}...)", patterns, parameters,
                               forward.name, fmt::join(names, ", ")));
}

/// The target class gets 1 - smoothing; all classes share the rest.
void smooth_labels(Graph& forward, double smoothing) {
  if (!(smoothing >= 0 && smoothing < 1))
    throw InputError(Field{"label_smoothing"}, "must be at least 0 and below 1");
  for (Op& op : forward.ops) {
    if (!is_loss(op)) continue;
    if (op.kind != "softmax_cross_entropy")
      throw InputError(Field{"label_smoothing"}, "is for a cross-entropy over classes (`loss`)");
    if (smoothing > 0) op.attributes["label_smoothing"] = smoothing;
  }
}

/// Errors about tensors that are too large name the field that makes them so.
Graph built(const std::string& name, const ZooOptions& size) {
  try {
    return build_network(name, size);
  } catch (const InputError& error) {
    if (error.is_field()) throw;
    const auto is_cause = [&](const ZooOptions& other) {
      try {
        (void)build_network(name, other);
        return true;
      } catch (const InputError&) {
        return false;
      }
    };
    if (size.batch_size > 1 && is_cause({1, size.sequence_length}))
      throw InputError(Field{"batch_size"},
                       fmt::format("{} is too large: {}", size.batch_size, error.what()));
    if (size.sequence_length && is_cause({size.batch_size, std::nullopt}))
      throw InputError(Field{"sequence_length"},
                       fmt::format("{} cannot be: {}", *size.sequence_length, error.what()));
    throw;
  }
}

/// Returns the forward graph in place of the training graph.
TrainingNetwork forward_network(const NetworkSpec& spec) {
  TrainingNetwork network;
  if (const auto* built_in = std::get_if<BuiltInNetwork>(&spec.source)) {
    const ZooOptions size{spec.batch_size.value_or(1), built_in->sequence_length};
    network.training = built(built_in->name, size);
    network.batch_size = size.batch_size;
    network.origin = "built-in network";
    network.source = "built-in network " + built_in->name;
    return network;
  }
  if (const auto* made = std::get_if<ForwardGraph>(&spec.source)) {
    if (spec.batch_size) throw InputError(Field{"batch_size"}, "was fixed when the forward graph was made");
    network.training = made->graph;
    network.batch_size = made->batch_size;
    network.origin = network.source = "graph " + made->graph.name;
    return network;
  }
  ImportedModel imported = import_network(spec);
  network.training = std::move(imported.forward);
  network.batch_size = imported.batch_size;
  network.origin = network.source = "ONNX file " + std::get<OnnxFile>(spec.source).file.string();
  network.notices = std::move(imported.notices);
  return network;
}

}  // namespace

TrainingNetwork build_training_network(const NetworkSpec& spec) {
  ensure(!std::holds_alternative<InstanceFile>(spec.source) && !std::holds_alternative<Instance>(spec.source),
         "an instance is no network to build");
  TrainingNetwork network = forward_network(spec);
  network.model = network.training.name;
  TrainingOptions options;
  options.optimizer = spec.optimizer.value_or(Optimizer::sgd);
  options.accumulate = spec.accumulate.value_or(1);
  options.clip_norm = spec.clip_norm;
  if (spec.label_smoothing) smooth_labels(network.training, *spec.label_smoothing);
  if (spec.trainable) {
    check_trainable(network.training, *spec.trainable);
    options.trainable = [patterns = *spec.trainable](const std::string& name) {
      return matches(patterns, name);
    };
  }
  network.training = differentiate(network.training, options);
  if (spec.precision == Precision::bfloat16_mixed) {
    network.training = in_mixed_precision(std::move(network.training));
    network.notices.emplace_back(
        "mixed precision: activations are stored as bfloat16, so results are not those of float32 to the "
        "bit");
  }
  return network;
}

Graph training_graph(const NetworkSpec& spec) {
  const auto* file = std::get_if<InstanceFile>(&spec.source);
  const auto* instance = std::get_if<Instance>(&spec.source);
  if (file == nullptr && instance == nullptr) return build_training_network(spec).training;
  refuse_changes(spec, false, kFixedByFile);
  return file != nullptr ? read_instance(file->file).graph : instance->graph;
}

ImportedModel import_network(const NetworkSpec& spec) {
  const auto& onnx = std::get<OnnxFile>(spec.source);
  ImportOptions options = onnx.reading;
  options.batch_size = spec.batch_size;
  if (spec.trainable) {  // names without wildcards: also those of constants
    for (const std::string& pattern : pieces_of(*spec.trainable, ','))
      if (pattern.find_first_of("*?[") == std::string::npos) options.trained.insert(pattern);
  }
  return import_onnx(onnx.file, options);
}

bool matches(const std::string& patterns, const std::string& name) {
  const std::vector<std::string> list = pieces_of(patterns, ',');
  return std::any_of(list.begin(), list.end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

void refuse_changes(const NetworkSpec& spec, bool batch_of_one_is_fine, const std::string& why) {
  const bool one = batch_of_one_is_fine && spec.batch_size == 1;
  if (spec.batch_size && !one) throw InputError(Field{"batch_size"}, why);
  const auto* built_in = std::get_if<BuiltInNetwork>(&spec.source);
  if (built_in != nullptr && built_in->sequence_length) throw InputError(Field{"sequence_length"}, why);
  if (spec.optimizer) throw InputError(Field{"optimizer"}, why);
  if (spec.accumulate) throw InputError(Field{"accumulate"}, why);
  if (spec.clip_norm) throw InputError(Field{"clip_norm"}, why);
  if (spec.label_smoothing) throw InputError(Field{"label_smoothing"}, why);
  if (spec.trainable) throw InputError(Field{"trainable"}, why);
  if (spec.precision) throw InputError(Field{"precision"}, why);
}

}  // namespace poet
