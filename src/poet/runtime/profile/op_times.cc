#include "poet/runtime/profile/op_times.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include "poet/base/median.h"
#include "poet/cost/instance.h"
#include "poet/cost/tabulate.h"
#include "poet/plan/keep_all.h"
#include "poet/plan/plan_file.h"
#include "poet/runtime/data/batches.h"
#include "poet/runtime/data/data_input.h"
#include "poet/runtime/executor/executor.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/weights/initial_weights.h"

namespace poet::runtime {
namespace {

constexpr int kLeastRepetitions = 3;
constexpr int kMostRepetitions = 200;
constexpr std::int64_t kSamples = 64;
constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kSwept = std::size_t{64} << 20;  // larger than the caches of the boards in question

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double relative_spread(const std::vector<double>& numbers, double centre) {
  std::vector<double> distances;
  for (const double number : numbers) distances.push_back(std::abs(number - centre));
  return centre > 0 ? median(std::move(distances)) / centre : 0;
}

/// Ops of one kind and shape class, and every measured run of any of them.
struct Class {
  OpTime time;
  std::vector<double> runs;
};

/// The classes of a graph, and which one each op is in. `input` ops are in none: reading data is no compute.
class Classes {
 public:
  explicit Classes(const Graph& graph) : of_(graph.ops.size(), -1) {
    std::map<std::pair<std::string, std::string>, int> known;
    for (const OpId op : ids<OpId>(graph.ops.size())) {
      const std::string& kind = graph.ops[op].kind;
      if (kind == "input") continue;
      const std::string shapes = shape_class(graph, op);
      const auto [place, is_new] = known.emplace(std::pair(kind, shapes), std::ssize(classes_));
      if (is_new) classes_.push_back({{kind, shapes, 0, 0, {}, 0, {}, op}, {}});
      of_[op] = place->second;
      ++classes_[static_cast<std::size_t>(place->second)].time.ops;
    }
  }

  [[nodiscard]] bool has(OpId op) const { return of_[op] >= 0; }
  Class& of(OpId op) { return classes_[static_cast<std::size_t>(of_[op])]; }
  std::vector<Class>& all() { return classes_; }

  [[nodiscard]] std::vector<OpTime> close() {
    std::vector<OpTime> times;
    for (Class& c : classes_) {
      c.time.samples = static_cast<int>(c.runs.size());
      if (!c.runs.empty()) {
        c.time.median = Seconds(median(c.runs));
        c.time.spread = relative_spread(c.runs, c.time.median.value());
      }
      times.push_back(c.time);
    }
    return times;
  }

 private:
  IdVector<OpId, int> of_;
  std::vector<Class> classes_;
};

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

PlanFile keep_all_plan(Instance instance) {
  PlanFile file;
  file.plan = linearise(instance, keep_all_schedule(instance.graph), Semantics::device);
  file.layout = place(instance, file.plan, Semantics::device, {.enough = {}, .effort = 20'000'000});
  file.instance = std::move(instance);
  return file;
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

int repetitions_for(Seconds budget, double one) {
  const double fitting = one > 0 ? budget.value() / one : kMostRepetitions;
  return static_cast<int>(std::clamp<double>(fitting, kLeastRepetitions, kMostRepetitions));
}

void measure_in_steps(const PlanFile& file, const OpTimesOptions& options, Classes& classes, OpTimes& found) {
  const Program program(file, options.kernels);
  start_weights(file.instance.graph, program);
  Executor executor(file, program, {});
  const Graph& graph = file.instance.graph;
  const auto data = synthetic_dataset(graph, std::max(kSamples, samples_per_step(data_inputs(graph))), kSeed);
  Batches batches(graph, *data, kSeed);
  const InputSource source = [&batches](OpId input, std::byte* to) { batches.read(input, to); };
  const auto step = [&](std::int64_t number) {
    batches.select(number);
    executor.run(number, kSeed, source);
  };

  step(1);  // touches the memory
  step(2);
  found.repetitions = repetitions_for(options.budget, executor.makespan().value());
  std::vector<double> makespans;
  for (int r = 0; r < found.repetitions; ++r) {
    if (options.interrupted && options.interrupted() && r >= kLeastRepetitions) break;
    step(r + 3);
    makespans.push_back((executor.makespan() - executor.fetching()).value());
    const std::vector<PreparedStep>& steps = program.steps();
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i].kind == StepKind::compute && classes.has(steps[i].op))
        classes.of(steps[i].op).runs.push_back(executor.seconds()[i]);
    if (options.on_repetition) options.on_repetition(r + 1, found.repetitions);
  }
  found.repetitions = static_cast<int>(makespans.size());
  found.step = Seconds(median(std::move(makespans)));
}

/// Memory of one op's own operands and scratch.
class OwnOperands {
 public:
  OwnOperands(const Graph& graph, const Op& op, Bytes workspace)
      : memory_(total(graph, op) + rounded_up(workspace, kLine)) {
    std::byte* next = memory_.bytes().data();
    std::fill(memory_.bytes().begin(), memory_.bytes().end(), std::byte{0});
    const auto take = [&next](Bytes bytes) {
      std::byte* here = next;
      next += rounded_up(bytes, kLine).value();
      return here;
    };
    std::map<ValueId, void*> known;
    const auto addresses = [&](const std::vector<ValueId>& values, std::vector<void*>& list) {
      for (const ValueId v : values) {
        const ValueId s = storage(graph, v);
        if (!known.contains(s)) known[s] = take(graph.values[s].bytes);
        list.push_back(known[s]);
      }
    };
    addresses(op.inputs, inputs_);
    addresses(op.outputs, outputs_);
    addresses(op.updates, updates_);
    call_ = {inputs_, outputs_, updates_, take(workspace), 1, kSeed};
  }
  [[nodiscard]] const KernelCall& call() const { return call_; }

 private:
  static constexpr Bytes kLine{64};
  static Bytes total(const Graph& graph, const Op& op) {
    Bytes sum{};
    for (const std::vector<ValueId>* list : {&op.inputs, &op.outputs, &op.updates})
      for (const ValueId v : *list) sum += rounded_up(graph.values[storage(graph, v)].bytes, kLine);
    return sum;
  }
  Memory memory_;
  std::vector<void*> inputs_, outputs_, updates_;
  KernelCall call_;
};

void sweep_caches(std::vector<char>& swept) {
  for (std::size_t i = 0; i < swept.size(); i += 64) ++swept[i];
}

void measure_alone(const Graph& graph, const OpTimesOptions& options, Classes& classes, OpTimes& found) {
  std::vector<char> swept(kSwept, 0);
  const Seconds each =
      (1.0 / static_cast<double>(std::max<std::size_t>(1, classes.all().size()))) * options.budget;
  found.repetitions = kLeastRepetitions;
  int done = 0;
  for (Class& c : classes.all()) {
    const bool hurry = options.interrupted && options.interrupted();
    const std::unique_ptr<Kernel> kernel = make_kernel(graph, c.time.example, options.kernels);
    const OwnOperands operands(graph, graph.ops[c.time.example], kernel->workspace());
    kernel->run(operands.call());
    const Clock::time_point begin = Clock::now();
    while (std::ssize(c.runs) < kLeastRepetitions ||
           (!hurry && since(begin) < each.value() && std::ssize(c.runs) < kMostRepetitions)) {
      sweep_caches(swept);
      const Clock::time_point run = Clock::now();
      kernel->run(operands.call());
      c.runs.push_back(since(run));
    }
    if (options.on_repetition) options.on_repetition(++done, static_cast<int>(classes.all().size()));
  }
}

}  // namespace

Bytes whole_step_bytes(const Graph& training, const KernelOptions& kernels) {
  const PlanFile file = keep_all_plan(instance_of(training, kernels));
  return file.layout.arena + file.instance.costs.persistent;
}

OpTimes measure_ops(const Graph& training, const OpTimesOptions& options) {
  Classes classes(training);
  const PlanFile file = keep_all_plan(instance_of(training, options.kernels));
  for (Class& c : classes.all()) {
    c.time.workspace = make_kernel(training, c.time.example, options.kernels)->workspace();
  }
  OpTimes found;
  const Bytes needed = file.layout.arena + file.instance.costs.persistent;
  found.in_context = options.available == Bytes(0) || needed <= options.available;
  if (found.in_context)
    measure_in_steps(file, options, classes, found);
  else
    measure_alone(training, options, classes, found);
  found.times = classes.close();
  return found;
}

}  // namespace poet::runtime
