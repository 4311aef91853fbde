#include "poet/study/sweep_worker.h"

#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "poet/base/base64.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/pipeline/names.h"
#include "poet/pipeline/solve_options.h"
#include "poet/study/kept_plan.h"
#include "poet/study/run_method.h"
#include "poet/study/sweep_result.h"

namespace poet {
namespace {

/// The file, if it is still what it was when the spec was read.
std::filesystem::path unchanged(const SweepFile& file) {
  if (fingerprinted(file.path).fingerprint != file.fingerprint)
    throw InputError(file.path.string(), "has changed since the sweep began");
  return file.path;
}

NetworkSpec network_of(const SweepPoint& point) {
  const SweepNetwork& network = point.network;
  NetworkSpec spec;
  switch (network.origin) {
    case NetworkOrigin::name:
      spec.source = BuiltInNetwork{network.name, point.sequence_length};
      break;
    case NetworkOrigin::onnx: {
      OnnxFile onnx{unchanged(*network.file), {}};
      onnx.reading.input_shapes = input_shapes_of("input_shapes", network.input_shapes);
      onnx.reading.input_values = input_values_of("input_values", network.input_values);
      onnx.reading.huber_delta = network.huber_delta;
      onnx.reading.loss_output = network.loss_output;
      if (network.loss) onnx.reading.loss = loss_named("loss", *network.loss);
      onnx.reading.allow_opaque = network.allow_opaque;
      spec.source = std::move(onnx);
      break;
    }
    case NetworkOrigin::instance:
      spec.source = InstanceFile{unchanged(*network.file)};
      break;
  }
  spec.batch_size = point.batch_size;
  if (point.optimizer) spec.optimizer = optimizer_named("optimizer", *point.optimizer);
  spec.accumulate = point.accumulate;
  spec.clip_norm = point.clip_norm;
  spec.label_smoothing = point.label_smoothing;
  if (point.precision) spec.precision = precision_named("precision", *point.precision);
  spec.trainable = network.trainable;
  return spec;
}

DeviceSpec device_of(const SweepPoint& point) {
  if (!point.platform) return {};
  const SweepPlatform& platform = *point.platform;
  return {platform.file ? unchanged(*platform.file).string() : platform.name, std::nullopt};
}

Policy policy_of(const SweepPoint& point) {
  Policy policy;
  policy.semantics = point.semantics;
  if (point.persistent) policy.persistent = persistent_policy_named("persistent", *point.persistent);
  if (point.split == "auto")
    policy.split.automatic = true;
  else if (point.split)
    policy.split.part = Bytes(std::stoll(*point.split));
  policy.ram = point.ram;
  policy.deadline = point.deadline;
  policy.max_bytes_written = point.max_bytes_written;
  return policy;
}

}  // namespace

const SweepWorker::Loaded& SweepWorker::load(const SweepPoint& point) {
  std::string key = instance_key_of(point);
  if (loaded_ && loaded_->key == key) return *loaded_;
  loaded_.reset();
  Loaded loading;
  loading.key = std::move(key);
  try {
    Policy policy = policy_of(point);
    policy.op_limit = op_limit_;
    loading.workload = poet::load(network_of(point), device_of(point), policy);
    const Workload& workload = loading.workload;
    loading.figures = figures_of(workload.instance, workload.semantics, workload.choose_paged);
  } catch (const InputError& error) {
    loading.error = error.what();
  }
  // Only now: where loading was cut off (no memory) the next point must not find half of it.
  return loaded_.emplace(std::move(loading));
}

std::string SweepWorker::work(const std::string& item) {
  const SweepPoint point = point_from_text(item);
  SweepResult result = result_of(point, version_);
  std::string plan;
  try {
    const Loaded& loaded = load(point);
    if (!loaded.error.empty()) throw InputError(loaded.error);
    const Policy policy = policy_of(point);
    const Method& method = find_method(point.method);
    const Limits limits = limits_of(policy, loaded.workload, loaded.figures);
    // POET chooses the graph; the others get the coarsest parts that fit.
    Workload workload = loaded.workload;
    if (workload.cuts && !method.pages_persistent) cut_to_fit(workload, limits.ram_budget);
    SolveOptions effort;
    effort.gap = point.gap;
    effort.time_limit_seconds = point.time_limit_seconds;
    effort.solver = point.solver;
    effort.explain = false;
    const MethodRequest request{workload.instance,     limits,
                                workload.semantics,    solve_options(policy, effort),
                                workload.choose_paged, workload.cuts ? &*workload.cuts : nullptr};
    const std::optional<DeviceProfile>& device = workload.device;
    const bool wears = device && device->storage;
    const Judged judged = run_method(method, request, loaded.figures.keep_all);
    if (judged.instance) {
      workload.cut = judged.cut;
      workload.instance = with_paged(*judged.instance, {});
    }
    add_instance(result, workload, limits,
                 figures_of(workload.instance, workload.semantics, workload.choose_paged));
    add_verdict(result, judged, wears ? device->storage->write_endurance : std::nullopt);
    if (keep_plans_ && has_plan(judged)) plan = plan_text(placed_plan(method, request, judged));
  } catch (const InputError& error) {
    add_failure(result, error.what());
  } catch (const std::bad_alloc&) {
    add_failure(result, "out of memory");
  } catch (const std::exception& error) {
    add_failure(result, std::string("internal error: ") + error.what());
  }
  nlohmann::ordered_json json = to_json(result);
  if (!plan.empty()) json["plan"] = base64(plan);
  return json_text(json);
}

}  // namespace poet
