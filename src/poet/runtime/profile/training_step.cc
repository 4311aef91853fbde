#include "poet/runtime/profile/training_step.h"

#include <algorithm>
#include <utility>

#include "poet/cost/instance.h"
#include "poet/cost/tabulate.h"
#include "poet/plan/file/plan_file.h"
#include "poet/plan/schedule/keep_all.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/runtime/data/data_input.h"

namespace poet::runtime {
namespace {

constexpr std::int64_t kSamples = 64;
constexpr Bytes kBesides{64 << 20};  // libraries, generated code, measuring the storage
constexpr std::uint64_t kStepSeed = 1;

/// Costs that do not matter, sizes that do.
Instance instance_of(const Graph& training, const KernelOptions& kernels) {
  DeviceProfile device;
  device.name = "this machine";
  device.ram = Bytes(1);
  device.alignment = Bytes(64);
  device.flops_per_second = 1e9;
  device.memory_bytes_per_second = 1e9;
  device.active = Watts(1);
  Instance instance;
  instance.graph = training;
  instance.costs = tabulate(training, device);
  charge_workspaces(instance, kernels);
  return instance;
}

TrainerOptions options_for(const Graph& graph, const KernelOptions& kernels) {
  TrainerOptions options;
  options.seed = kStepSeed;
  options.samples = std::max(kSamples, samples_per_step(data_inputs(graph)));
  options.kernels = kernels;
  // Zeros where only a file would know better.
  options.weights = [&graph](ValueId v, std::byte* to) {
    const bool updated = std::any_of(graph.ops.begin(), graph.ops.end(), [v](const Op& op) {
      return std::find(op.updates.begin(), op.updates.end(), v) != op.updates.end();
    });
    if (graph.values[v].persistence == Persistence::parameter || updated) return false;
    std::fill_n(to, graph.values[v].bytes.value(), std::byte{0});
    return true;
  };
  return options;
}

}  // namespace

TrainingStep::TrainingStep(const Graph& training, const KernelOptions& kernels)
    : TrainingStep(plan_of(training, kernels), kernels) {}

TrainingStep::TrainingStep(const PlanFile& plan, const KernelOptions& kernels)
    : trainer_(plan, options_for(plan.instance.graph, kernels)) {}

PlanFile TrainingStep::plan_of(const Graph& training, const KernelOptions& kernels) {
  Instance instance = instance_of(training, kernels);
  PlanFile file;
  file.plan = linearise(instance, keep_all_schedule(instance.graph), Semantics::device);
  file.layout = place(instance, file.plan, Semantics::device, {.enough = {}, .effort = 20'000'000});
  file.instance = std::move(instance);
  file.limits = no_limits();
  return file;
}

Bytes TrainingStep::bytes_of(const PlanFile& plan) {
  return plan.layout.arena + plan.instance.costs.persistent;
}

std::unique_ptr<TrainingStep> training_step_within(Bytes available, const Graph& training,
                                                   const KernelOptions& kernels) {
  const PlanFile plan = TrainingStep::plan_of(training, kernels);
  if (TrainingStep::bytes_of(plan) + kBesides > available) return nullptr;
  return std::make_unique<TrainingStep>(plan, kernels);
}

}  // namespace poet::runtime
