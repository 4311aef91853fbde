#include "poet/runtime/training/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/runtime/data/batches.h"
#include "poet/runtime/executor/executor.h"
#include "poet/runtime/executor/persistent.h"
#include "poet/runtime/sensors/energy_meter.h"
#include "poet/runtime/sensors/process_memory.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/training/measurement.h"
#include "poet/runtime/training/start.h"

namespace poet::runtime {
namespace {

constexpr std::int64_t kReserved = 1 << 20;  // losses that have their memory beforehand

/// Refused before it is touched: the system would end some process instead.
void check_machine(const MemoryMap& map) {
  const Bytes needed = map.arena + map.persistent + map.excluded + map.workspace;
  const Bytes available = available_memory();
  if (needed > available)
    throw InputError("RAM", fmt::format("the plan takes {}, this machine has {} to give",
                                        format_bytes(needed), format_bytes(available)));
}

/// What the checkpoint was made under and this run is not: the bits are another run's from here on.
std::vector<std::string> changed_circumstances(const RunState& from,
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

/// The plan as it is to be run. Throws InputError for one that breaks a rule.
PlanFile judged(PlanFile file, const TrainerOptions& options, TrainerSetup& setup) {
  setup.planned = replay(file.instance, file.plan, file.semantics, file.limits);
  check_rules(file.semantics);
  if (!setup.planned.valid) throw InputError("the plan", "is invalid: " + setup.planned.violation);
  setup.arena = replay_layout(file.instance, file.plan, file.layout, file.semantics, file.limits);
  if (!setup.arena.valid) throw InputError("the plan's addresses", "are invalid: " + setup.arena.violation);
  set_hyperparameters(file.instance.graph, options.hyperparameters);
  return file;
}

const KernelOptions& set_up(const KernelOptions& kernels) {
  set_up_kernels(kernels);
  return kernels;
}

TransferTotals since(const TransferTotals& before, const TransferTotals& now) {
  return {now.reading - before.reading, now.writing - before.writing, now.read - before.read,
          now.written - before.written};
}

}  // namespace

struct Trainer::State {
  TrainerSetup setup;
  PagingSetup paging;
  PlanFile file;  // those below refer to it
  PageFileOptions storage;
  Program program;
  std::unique_ptr<PageFile> pages;  // open as long as parameters are at home there; else while the storage is
  std::unique_ptr<PersistentValues> persistent;
  RunState run;
  ChosenData data;
  std::unique_ptr<Batches> batches;
  std::unique_ptr<Executor> executor;  // null until the storage is open

  State(PlanFile given, const TrainerOptions& options)
      : file(judged(std::move(given), options, setup)),
        storage(options.storage),
        program(file, set_up(options.kernels)) {
    check_storage(storage);
    const Graph& graph = file.instance.graph;
    setup.kernels = kernels_description(options.kernels);
    setup.map = program.map();
    check_machine(setup.map);
    if (program.has_homes()) open_pages();
    persistent = std::make_unique<PersistentValues>(graph, program, pages.get());
    setup.seeded = start_weights(graph, *persistent, options, run);
    data = choose_data(graph, options, run.seed);
    batches = std::make_unique<Batches>(graph, *data.data, run.seed);
    setup.data = data.data->description();
    std::map<std::string, std::string> circumstances = {
        {"data", setup.data},
        {"batch size", fmt::format("{}", file.instance.batch_size)},
        {"kernels", setup.kernels},
        {"optimizer", describe_optimizer(graph)}};
    setup.notices = changed_circumstances(run, circumstances);
    run.circumstances = std::move(circumstances);
  }

  void open_pages() {
    if (pages || program.slots().empty()) return;
    pages = std::make_unique<PageFile>(storage, program.slots());
    paging = {pages->description(), pages->in_ram(), pages->size()};
  }

  [[nodiscard]] bool finite() const { return all_finite(file.instance.graph, *persistent); }
};

Trainer::Trainer(PlanFile file, const TrainerOptions& options)
    : state_(std::make_unique<State>(std::move(file), options)) {}

Trainer::~Trainer() = default;

void Trainer::open_storage() {
  State& state = *state_;
  if (state.executor) return;
  state.open_pages();
  state.executor =
      std::make_unique<Executor>(state.file, state.program, *state.persistent, state.pages.get());
}

void Trainer::close_storage() {
  state_->executor.reset();
  if (!state_->program.has_homes()) state_->pages.reset();
}

StepFigures Trainer::step() {
  open_storage();
  State& state = *state_;
  const std::int64_t number = state.run.step + 1;
  state.persistent->forget();
  state.batches->select(number);
  state.executor->run(number, state.run.seed,
                      [&state](OpId input, std::byte* to) { state.batches->read(input, to); });
  state.run.step = number;
  state.run.loss = state.executor->loss();
  return {number, state.run.loss, state.executor->makespan(), state.executor->stalled(),
          state.executor->fetching()};
}

TrainResult Trainer::train(const TrainOptions& options) {
  open_storage();
  const State& state = *state_;
  const RunState& run = state.run;
  TrainResult result;
  result.first_step = run.step + 1;
  const std::int64_t steps = std::max<std::int64_t>(options.steps - run.step, 0);
  result.losses.reserve(static_cast<std::size_t>(std::min(steps, kReserved)));
  Measurement measurement(state.program.steps().size(), steps);
  const TransferTotals before = state.executor->transferred();
  // The last update may have spoilt what the loss before it does not show: no such checkpoint replaces a good
  // one.
  const auto finish_part = [&] {
    if (!state.finite()) {
      result.end = TrainEnd::not_finite;
    } else if (options.checkpoint) {
      save(*options.checkpoint);
      result.saved = true;
    }
  };

  fill_with_marks(state.program.arena());
  std::optional<EnergyMeter> meter = EnergyMeter::open();
  if (meter) meter->start();
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t saved = run.step;
  while (run.step < options.steps && result.end == TrainEnd::done) {
    const StepFigures done = step();
    result.losses.push_back(done.loss);
    measurement.add(done, state.executor->seconds());
    if (options.on_step) options.on_step(done);
    if (!std::isfinite(done.loss)) {
      result.end = TrainEnd::not_finite;
      break;
    }
    if (options.checkpoint_every > 0 && done.number % options.checkpoint_every == 0) {
      finish_part();
      saved = done.number;
    }
    if (result.end == TrainEnd::done && options.interrupted && options.interrupted()) {
      if (done.number < options.steps) result.end = TrainEnd::interrupted;
      break;
    }
  }
  if (result.end != TrainEnd::not_finite && saved != run.step) finish_part();
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (meter) result.energy = meter->stop();
  result.energy_source = meter ? meter->description() : kNotMeasured;
  result.measured = measurement.close(since(before, state.executor->transferred()));
  result.measured.high_water = high_water(state.program.arena());
  result.resident_peak = process_memory().peak;
  return result;
}

void Trainer::save(const std::filesystem::path& checkpoint) const {
  write_checkpoint(checkpoint, state_->file.instance.graph, *state_->persistent, state_->run);
}

const PlanFile& Trainer::file() const { return state_->file; }
const TrainerSetup& Trainer::setup() const { return state_->setup; }
const PagingSetup& Trainer::paging() const { return state_->paging; }
const RunState& Trainer::state() const { return state_->run; }
const std::byte* Trainer::persistent(ValueId v) const { return state_->persistent->contents(v); }
const Program& Trainer::program() const { return state_->program; }

const std::vector<double>& Trainer::seconds() const {
  ensure(state_->executor != nullptr, "the storage is open");
  return state_->executor->seconds();
}

}  // namespace poet::runtime
