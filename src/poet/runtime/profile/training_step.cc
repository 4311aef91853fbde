#include "poet/runtime/profile/training_step.h"

#include <algorithm>
#include <utility>

#include "poet/cost/instance.h"
#include "poet/cost/tabulate.h"
#include "poet/plan/keep_all.h"
#include "poet/plan/plan_file.h"
#include "poet/runtime/data/data_input.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/weights/initial_weights.h"

namespace poet::runtime {
namespace {

constexpr std::int64_t kSamples = 64;
constexpr Bytes kBesides{64 << 20};  // libraries, generated code, measuring the storage
constexpr std::uint64_t kSeed = 1;

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

/// Seeded numbers, and zeros where only a file would know better.
void start_weights(const Graph& graph, const Program& program) {
  for (const ValueId v : persistent_values(graph)) {
    const bool trains = graph.values[v].persistence == Persistence::parameter;
    const bool updated = std::any_of(graph.ops.begin(), graph.ops.end(), [v](const Op& op) {
      return std::find(op.updates.begin(), op.updates.end(), v) != op.updates.end();
    });
    if (trains || updated) {
      initialise(graph, v, kSeed, program.persistent(v));
    } else {
      const auto bytes = static_cast<std::size_t>(graph.values[v].bytes.value());
      std::fill_n(program.persistent(v), bytes, std::byte{0});
    }
  }
}

}  // namespace

TrainingStep::TrainingStep(const Graph& training, const KernelOptions& kernels)
    : TrainingStep(plan_of(training, kernels), kernels) {}

TrainingStep::TrainingStep(PlanFile plan, const KernelOptions& kernels)
    : file_(std::move(plan)),
      program_(std::make_unique<Program>(file_, kernels)),
      executor_(std::make_unique<Executor>(file_, *program_, PageFileOptions{})) {
  const Graph& graph = file_.instance.graph;
  start_weights(graph, *program_);
  data_ = synthetic_dataset(graph, std::max(kSamples, samples_per_step(data_inputs(graph))), kSeed);
  batches_ = std::make_unique<Batches>(graph, *data_, kSeed);
}

PlanFile TrainingStep::plan_of(const Graph& training, const KernelOptions& kernels) {
  Instance instance = instance_of(training, kernels);
  PlanFile file;
  file.plan = linearise(instance, keep_all_schedule(instance.graph), Semantics::device);
  file.layout = place(instance, file.plan, Semantics::device, {.enough = {}, .effort = 20'000'000});
  file.instance = std::move(instance);
  return file;
}

Bytes TrainingStep::bytes_of(const PlanFile& plan) {
  return plan.layout.arena + plan.instance.costs.persistent;
}

void TrainingStep::run() {
  batches_->select(++number_);
  executor_->run(number_, kSeed, [this](OpId input, std::byte* to) { batches_->read(input, to); });
}

std::unique_ptr<TrainingStep> training_step_within(Bytes available, const Graph& training,
                                                   const KernelOptions& kernels) {
  PlanFile plan = TrainingStep::plan_of(training, kernels);
  if (TrainingStep::bytes_of(plan) + kBesides > available) return nullptr;
  return std::make_unique<TrainingStep>(std::move(plan), kernels);
}

}  // namespace poet::runtime
