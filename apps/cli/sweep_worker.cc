#include "apps/cli/sweep_worker.h"

#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "poet/base/error.h"
#include "poet/study/sweep_limits.h"
#include "poet/study/sweep_result.h"

namespace poet::cli {
namespace {

/// The file, if it is still what it was when the spec was read.
std::string unchanged(const SweepFile& file) {
  if (fingerprinted(file.path).fingerprint != file.fingerprint)
    throw InputError(file.path.string(), "has changed since the sweep began");
  return file.path.string();
}

std::optional<std::string> as_typed(const std::optional<std::int64_t>& number) {
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

InputOptions options_of(const SweepPoint& point) {
  const SweepNetwork& network = point.network;
  InputOptions options;
  switch (network.origin) {
    case NetworkOrigin::name:
      options.model = network.name;
      break;
    case NetworkOrigin::onnx:
      options.onnx = unchanged(*network.file);
      break;
    case NetworkOrigin::instance:
      options.instance = unchanged(*network.file);
      break;
  }
  if (point.platform)
    options.platform = point.platform->file ? unchanged(*point.platform->file) : point.platform->name;
  if (point.semantics) options.semantics = to_string(*point.semantics);
  options.input_shapes = network.input_shapes;
  options.loss = network.loss;
  options.allow_opaque = network.allow_opaque;
  options.trainable = network.trainable;
  options.batch_size = as_typed(point.batch_size);
  options.sequence_length = as_typed(point.sequence_length);
  options.persistent = point.persistent;
  options.optimizer = point.optimizer;
  return options;
}

std::optional<Bytes> storage_of(const Inputs& inputs) {
  if (!inputs.device || !inputs.device->storage) return std::nullopt;
  return inputs.device->storage->capacity;
}

}  // namespace

const SweepWorker::Loaded& SweepWorker::load(const SweepPoint& point) {
  std::string key = instance_key_of(point);
  if (loaded_ && loaded_->key == key) return *loaded_;
  loaded_.emplace();
  loaded_->key = std::move(key);
  try {
    loaded_->inputs = load_inputs(options_of(point));
    loaded_->keep_all = replay_keep_all(loaded_->inputs.instance, loaded_->inputs.semantics);
    loaded_->least = least_ram(loaded_->inputs.instance, loaded_->inputs.semantics);
  } catch (const InputError& error) {
    loaded_->error = error.what();
  }
  return *loaded_;
}

std::string SweepWorker::work(const std::string& item) {
  const SweepPoint point = point_from_text(item);
  SweepResult result = result_of(point, version_);
  try {
    const Loaded& loaded = load(point);
    if (!loaded.error.empty()) throw InputError(loaded.error);
    const Instance& instance = loaded.inputs.instance;
    MethodRequest request{instance, {}, loaded.inputs.semantics, {}};
    request.limits = limits_of(point, loaded.least, loaded.keep_all, storage_of(loaded.inputs));
    request.options.gap = point.gap;
    request.options.time_limit_seconds = point.time_limit_seconds;
    request.options.solver = point.solver;
    request.options.explain = false;
    add_instance(result, instance, request.semantics, request.limits, loaded.least, loaded.keep_all);
    add_verdict(result, run_method(find_method(point.method), request, loaded.keep_all));
  } catch (const InputError& error) {
    add_failure(result, error.what());
  } catch (const std::bad_alloc&) {
    add_failure(result, "out of memory");
  } catch (const std::exception& error) {
    add_failure(result, std::string("internal error: ") + error.what());
  }
  return to_json(result).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace poet::cli
