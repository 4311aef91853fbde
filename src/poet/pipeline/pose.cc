#include "poet/pipeline/pose.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"
#include "poet/pipeline/cutting.h"
#include "poet/pipeline/network.h"
#include "poet/pipeline/published.h"
#include "poet/split/indexed.h"

namespace poet {
namespace {

void refuse_persistent(const Policy& policy, const std::string& why) {
  if (policy.persistent) throw InputError(Field{"persistent"}, why);
}

/// Checked before any pass that takes long on many ops.
void check_ops(const Graph& training, const Policy& policy) {
  const auto ops = static_cast<std::int64_t>(training.ops.size());
  if (policy.op_limit && ops > *policy.op_limit)
    throw InputError(Field{"op_limit"}, fmt::format("the training step has {} ops, more than {}",
                                                    format_count(ops), format_count(*policy.op_limit)));
}

/// Of an InstanceFile or an Instance.
Workload load_instance(const NetworkSpec& network, const DeviceSpec& device, const Policy& policy) {
  if (!device.name.empty() || device.profile)
    throw InputError(Field{"platform"}, "an instance file holds its costs; leave this out");
  refuse_changes(network, false, kFixedByFile);
  refuse_persistent(policy, kFixedByFile);
  Workload workload;
  if (const auto* file = std::get_if<InstanceFile>(&network.source)) {
    workload.instance = read_instance(file->file);
    workload.origin = "instance file " + file->file.string();
  } else {
    workload.instance = std::get<Instance>(network.source);
    verify(workload.instance);
    workload.origin = "instance";
  }
  check_ops(workload.instance.graph, policy);
  workload.semantics =
      policy.semantics.value_or(workload.instance.has_device ? Semantics::device : Semantics::staged);
  return workload;
}

Workload load_published(const NetworkSpec& network, const DeviceSpec& device, const Policy& policy) {
  const std::string why = fmt::format(
      "{} semantics are for the published instances, whose graphs and costs are fixed (batch 1, parameters "
      "not counted); leave this out or use device semantics",
      to_string(*policy.semantics));
  refuse_changes(network, true, why);
  refuse_persistent(policy, why);
  Workload workload;
  workload.instance = read_published_instance({std::get<BuiltInNetwork>(network.source).name, device.name});
  check_ops(workload.instance.graph, policy);
  workload.semantics = *policy.semantics;
  workload.origin = "published instance";
  return workload;
}

Report keep_all(const Graph& training, const DeviceProfile& device, PersistentPolicy persistent) {
  Instance instance;
  instance.graph = training;
  instance.costs = tabulate(training, device, persistent);
  return replay_keep_all(instance, Semantics::device);
}

/// Adds graph and costs on the workload's device: in parts of the requested size, or whole, with other cuts
/// to choose from.
void cut(const Graph& training, const Policy& policy, PersistentPolicy persistent, Workload& workload) {
  const DeviceProfile& device = *workload.device;
  workload.whole_keep_all = keep_all(training, device, persistent).peak_ram;
  Instance& instance = workload.instance;
  instance.graph = training;
  if (policy.split.part) {
    const Bytes ram = resolve_ram_budget(policy.ram, workload, nullptr);
    InParts parts = in_parts(training, *policy.split.part, ram);
    workload.cut.part = policy.split.part;
    workload.unsplit = std::move(parts.unsplit);
    instance.graph = std::move(parts.training);
  }
  const bool by_index = policy.split.tables && persistent == PersistentPolicy::automatic;
  const std::vector<ValueId> tables = by_index ? worth_an_index(training, device) : std::vector<ValueId>();
  const bool other_parts = policy.split.automatic && !policy.split.part;
  if (other_parts || !tables.empty()) {
    workload.cuts = cuts_of(training, device, persistent, tables, instance, workload.cut, other_parts);
    const auto graph = std::make_shared<const Graph>(training);
    workload.unsplit_of = [graph, tables](const Cut& cut) {
      return in_parts(cut.by_index ? with_indexed(*graph, tables) : *graph, *cut.part, {}).unsplit;
    };
  }
  instance.costs = tabulate(instance.graph, device, persistent);
}

Workload load_network(const NetworkSpec& spec, const DeviceSpec& wanted, const Policy& policy) {
  TrainingNetwork network = build_training_network(spec);
  check_ops(network.training, policy);
  Workload workload;
  DeviceProfile& device =
      workload.device.emplace(wanted.profile ? *wanted.profile : find_device(wanted.name));
  if (policy.storage_capacity && device.storage) device.storage->capacity = *policy.storage_capacity;
  const PersistentPolicy persistent = policy.persistent.value_or(PersistentPolicy::resident);
  workload.origin = std::move(network.origin);
  workload.notices = std::move(network.notices);
  workload.persistent_excluded = persistent == PersistentPolicy::excluded;
  workload.choose_paged = persistent == PersistentPolicy::automatic;
  Instance& instance = workload.instance;
  instance.model = std::move(network.model);
  instance.platform = device.name;
  instance.source = fmt::format("{}, cost model of poet, device profile {}", network.source,
                                wanted.profile ? device.name : wanted.name);
  instance.batch_size = network.batch_size;
  instance.has_device = true;
  cut(network.training, policy, persistent, workload);
  return workload;
}

}  // namespace

Workload load(const NetworkSpec& network, const DeviceSpec& device, const Policy& policy) {
  const bool on_device = policy.semantics.value_or(Semantics::device) == Semantics::device;
  Workload workload;
  if (std::holds_alternative<InstanceFile>(network.source) ||
      std::holds_alternative<Instance>(network.source)) {
    workload = load_instance(network, device, policy);
  } else if (device.name.empty() && !device.profile) {
    throw InputError(Field{"platform"}, "is missing: a network needs a device");
  } else if (on_device) {
    workload = load_network(network, device, policy);
  } else if (!std::holds_alternative<BuiltInNetwork>(network.source)) {
    throw InputError(
        Field{"semantics"},
        fmt::format("of {} only device: the paper's rules come with published instances",
                    std::holds_alternative<OnnxFile>(network.source) ? "an ONNX file" : "a graph"));
  } else {
    workload = load_published(network, device, policy);
  }
  if (workload.whole_keep_all == Bytes(0))
    workload.whole_keep_all = replay_keep_all(workload.instance, workload.semantics).peak_ram;
  if (policy.storage_capacity && !(workload.device && workload.device->storage))
    workload.instance.costs.storage_capacity = policy.storage_capacity;
  return workload;
}

void cut_to_fit(Workload& workload, Bytes ram_budget) {
  constexpr int kPatience = 2;  // sizes in a row that need no less
  constexpr Bytes kLeastPart{64};
  constexpr double kManyOps = 200'000;
  const Cuts cuts = *std::exchange(workload.cuts, std::nullopt);
  const auto floor_of = [&](const Instance& instance) {
    return ram_floor(workload.choose_paged ? with_paged(instance, pageable(instance)) : instance,
                     Semantics::device);
  };
  RamFloor least = floor_of(workload.instance);
  Bytes part{1};
  while (cuts.other_parts && part * 2 < cuts.largest) part = part * 2;
  for (int no_less = 0; no_less < kPatience && part >= kLeastPart; part = Bytes(part.value() / 2)) {
    if (least.largest.bytes() * 2 <= ram_budget - least.persistent) return;
    const Cut cut{part, false};
    if (cuts.ops(cut) > kManyOps) return;
    Instance made = cuts.instance(cut, ram_budget);
    const RamFloor floor = floor_of(made);
    no_less = floor.bytes() < least.bytes() ? 0 : no_less + 1;
    if (floor.bytes() >= least.bytes()) continue;
    least = floor;
    workload.instance = std::move(made);
    workload.cut = cut;
  }
}

Figures figures_of(const Instance& instance, Semantics semantics, bool all_paged) {
  if (all_paged) return figures_of(with_paged(instance, pageable(instance)), semantics);
  return {replay_keep_all(instance, semantics), ram_floor(instance, semantics)};
}

/// Refuses a budget above the device's RAM.
void check_within_device(const Policy& policy, const Workload& workload, Bytes budget) {
  if (!policy.within_device || !workload.device || workload.semantics != Semantics::device) return;
  const DeviceProfile& device = *workload.device;
  if (budget > device.ram)
    throw InputError(
        Field{"ram_budget"},
        fmt::format("{} is more than the {} of RAM that {} has; `beyond_device_ram` plans for it "
                    "all the same",
                    format_ram(budget), format_ram(device.ram), device.name));
}

Limits limits_of(const Policy& policy, const Workload& workload, const Figures& figures) {
  Limits limits;
  limits.ram_budget = resolve_ram_budget(policy.ram, workload, &figures);
  check_within_device(policy, workload, limits.ram_budget);
  if (policy.deadline.factor) limits.deadline = *policy.deadline.factor * figures.keep_all.runtime;
  if (policy.deadline.time) limits.deadline = policy.deadline.time;
  if (limits.deadline && !std::isfinite(limits.deadline->value()))
    throw InputError(Field{policy.deadline.time ? "deadline.time" : "deadline.factor"},
                     "the deadline that follows is not finite");
  limits.max_bytes_written = policy.max_bytes_written;
  limits.max_bytes_written = write_limit(workload.instance.costs, limits);
  return limits;
}

Posed pose(Workload workload, const Policy& policy) {
  Posed posed;
  posed.workload = std::move(workload);
  const Instance& instance = posed.workload.instance;
  posed.figures = figures_of(instance, posed.workload.semantics, posed.workload.choose_paged);
  posed.limits = limits_of(policy, posed.workload, posed.figures);
  return posed;
}

Posed pose(const NetworkSpec& network, const DeviceSpec& device, const Policy& policy) {
  return pose(load(network, device, policy), policy);
}

}  // namespace poet
