#include "apps/cli/training/session.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <utility>

#include "apps/cli/interrupt.h"
#include "apps/cli/training/progress.h"
#include "apps/cli/training/start.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/executor/executor.h"
#include "poet/runtime/sensors/energy_meter.h"
#include "poet/runtime/sensors/process_memory.h"

namespace poet::cli {
namespace {

using runtime::Executor;
using runtime::Program;

void judge(Session& session) {
  const PlanFile& file = session.file;
  session.planned = replay(file.instance, file.plan, file.semantics, file.limits);
  check_rules(file.semantics);
  if (!session.planned.valid) throw InputError("the plan", "is broken: " + session.planned.broken);
  session.arena = replay_layout(file.instance, file.plan, file.layout, file.semantics, file.limits);
  if (!session.arena.valid) throw InputError("the plan's addresses", "are broken: " + session.arena.broken);
}

/// Refused before it is touched: the system would end some process instead.
void check_machine(const runtime::MemoryMap& map) {
  const Bytes needed = map.arena + map.persistent + map.excluded + map.workspace;
  const Bytes available = runtime::available_memory();
  if (needed > available)
    throw InputError("RAM", fmt::format("the plan takes {}, this machine has {} to give",
                                        format_bytes(needed), format_bytes(available)));
}

/// Gives every persistent value its first contents; how many parameters began with seeded numbers.
std::int64_t start_weights(const Graph& graph, const Program& program, std::uint64_t seed,
                           const runtime::WeightSource& weights) {
  std::int64_t seeded = 0;
  for (const ValueId v : runtime::persistent_values(graph)) {
    if (weights && weights(v, program.persistent(v))) continue;
    runtime::initialise(graph, v, seed, program.persistent(v));
    if (graph.values[v].persistence == Persistence::parameter) ++seeded;
  }
  return seeded;
}

runtime::RunState first_state(const Graph& graph, const Program& program, const RunChoice& training,
                              const runtime::WeightSource& weights, std::int64_t& seeded) {
  const runtime::RunState state = chosen_state(training);
  if (training.resume) return runtime::read_checkpoint(*training.resume, graph, program);
  seeded = start_weights(graph, program, state.seed, weights);
  return state;
}

/// What the checkpoint was made under and this run is not: the bits are another run's from here on.
std::vector<std::string> changed_circumstances(const runtime::RunState& from,
                                               const std::map<std::string, std::string>& now) {
  std::vector<std::string> notices;
  for (const auto& [name, value] : now) {
    const auto before = from.circumstances.find(name);
    if (before != from.circumstances.end() && before->second != value)
      notices.push_back(
          fmt::format("another {} than the checkpoint's: {}, before {}", name, value, before->second));
  }
  return notices;
}

/// Trains, and measures meanwhile.
void train_measured(const Program& program, const MachineChoice& machine, const runtime::Dataset& data,
                    runtime::TrainOptions options, bool quiet, Session& session) {
  const InterruptGuard guard("stopping after this step");
  Executor executor(session.file, program, machine.storage);
  if (const runtime::PageFile* pages = executor.page_file()) {
    session.storage = pages->description();
    session.storage_in_ram = pages->in_ram();
    session.page_file = pages->size();
  }
  options.interrupted = [&guard] { return guard.interrupted(); };
  TrainingProgress progress(quiet ? nullptr : stderr, session.first_step, options.steps);
  options.on_step = [&progress](const runtime::RunState& done, Seconds) { progress.show(done); };
  std::optional<runtime::EnergyMeter> meter = runtime::EnergyMeter::open();
  if (meter) meter->start();
  const auto begin = std::chrono::steady_clock::now();
  session.result = runtime::train(session.file, program, executor, data, options);
  session.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (meter) session.energy = meter->stop();
  session.energy_source = meter ? meter->description() : runtime::kNotMeasured;
  session.resident_peak = runtime::process_memory().peak;
}

}  // namespace

void check_rules(Semantics semantics) {
  if (semantics == Semantics::device) return;
  throw InputError("the plan", fmt::format("is by the {} rules, whose transfers take no time; what runs is a "
                                           "plan by a device's (--semantics device)",
                                           to_string(semantics)));
}

Session run_session(PlanFile file, const RunChoice& training, const MachineChoice& machine,
                    const runtime::WeightSource& weights, bool quiet, const Finish& finish) {
  Session session;
  session.file = std::move(file);
  judge(session);
  Graph& graph = session.file.instance.graph;
  runtime::set_hyperparameters(graph, training.hyperparameters);
  runtime::set_up_kernels(machine.kernels);
  session.kernels = runtime::kernels_description(machine.kernels);

  const Program program(session.file, machine.kernels);
  session.map = program.map();
  check_machine(session.map);
  runtime::TrainOptions options;
  options.steps = training.steps;
  options.checkpoint = training.checkpoint;
  options.checkpoint_every = training.checkpoint_every;
  options.from = first_state(graph, program, training, weights, session.seeded);
  session.first_step = options.from.step + 1;
  const auto data = chosen_data(training, graph, options.from.seed);
  session.data = data->description();
  const std::map<std::string, std::string> circumstances = {
      {"data", session.data},
      {"batch size", fmt::format("{}", session.file.instance.batch_size)},
      {"kernels", session.kernels},
      {"optimizer", runtime::describe_optimizer(graph)}};
  session.notices = changed_circumstances(options.from, circumstances);
  options.from.circumstances = circumstances;

  train_measured(program, machine, *data, options, quiet, session);
  // No thread of ours is left but this one; those of OpenMP wait for work.
  if (!finish || session.result.end == runtime::TrainEnd::not_finite) return session;
  try {
    finish(graph, program);
  } catch (...) {
    session.unfinished = std::current_exception();
  }
  return session;
}

}  // namespace poet::cli
