#include "poet/runtime/training/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/runtime/sensors/energy_meter.h"
#include "poet/runtime/sensors/process_memory.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/training/measurement.h"
#include "poet/runtime/training/trainer_state.h"

namespace poet::runtime {
namespace {

constexpr std::int64_t kReserved = 1 << 20;  // losses that have their memory beforehand

TransferTotals since(const TransferTotals& before, const TransferTotals& now) {
  return {now.reading - before.reading, now.writing - before.writing, now.read - before.read,
          now.written - before.written};
}

}  // namespace

Trainer::Trainer(PlanFile file, const TrainerOptions& options)
    : state_(std::make_unique<State>(
          [&] {
            std::vector<PlanFile> one;
            one.push_back(std::move(file));
            return family_of(std::move(one), "the plan");
          }(),
          options)) {}

Trainer::Trainer(PlanFamily family, const TrainerOptions& options)
    : state_(std::make_unique<State>(std::move(family), options)) {}

Trainer::~Trainer() = default;

void Trainer::open_storage() {
  State& state = *state_;
  if (state.executor) return;
  state.open_pages();
  state.executor =
      std::make_unique<Executor>(state.file, *state.program, *state.persistent, state.pages.get());
}

void Trainer::discard_storage() {
  if (state_->pages) state_->pages->keep(false);
}

void Trainer::close_storage() {
  state_->executor.reset();
  if (!state_->keeps_pages()) state_->pages.reset();
}

void Trainer::change_plan(std::size_t plan) {
  const bool was_open = state_->executor != nullptr;
  const std::optional<std::string> declined = state_->change_plan(plan);
  if (was_open) open_storage();
  if (declined) throw InputError(*declined);
}

StepFigures Trainer::step() {
  open_storage();
  State& state = *state_;
  // Values in RAM may be half updated: what is on the page file is to stay as it is.
  if (state.log && state.failed)
    throw InputError(state.storage.where.string(),
                     "has the run as it was before a step failed: start again "
                     "with `resume`");
  state.failed = true;
  const std::int64_t number = state.run.step + 1;
  state.persistent->forget();
  state.batches->select(number);
  state.executor->run(
      number, state.run.seed, [&state](OpId input, std::byte* to) { state.batches->read(input, to); }, {},
      state.rate_factor_of(number));
  state.failed = false;
  state.run.step = number;
  state.run.loss = state.executor->loss();
  return {number,
          state.run.loss,
          state.executor->makespan(),
          state.executor->stalled(),
          state.executor->fetching(),
          state.executor->gradient_norm()};
}

ValidationFigures Trainer::validate(const std::optional<std::filesystem::path>& best) {
  State& state = *state_;
  ensure(state.validation != nullptr, "a trainer that validates has data for it");
  open_storage();
  const ValidationFigures found = state.validation->run(state.run.step, *state.persistent, state.pages.get());
  if (!std::isfinite(found.loss) || (state.run.best_step >= 0 && found.loss >= state.run.best_loss))
    return found;
  state.run.best_loss = found.loss;
  state.run.best_step = found.step;
  if (best && state.finite()) save(*best);
  return found;
}

/// Counted from the steps, so that a run that is resumed counts on.
std::int64_t Trainer::validations_since_best(std::int64_t every) const {
  return state_->run.step / every - std::max<std::int64_t>(state_->run.best_step, 0) / every;
}

void Trainer::recall_best(const std::filesystem::path& best) {
  State& state = *state_;
  if (!state.setup.goes_on || state.run.best_step >= 0 || !std::filesystem::exists(best)) return;
  const RunState found = read_run_state(best);
  state.run.best_step = found.best_step;
  state.run.best_loss = found.best_loss;
}

TrainResult Trainer::train(const TrainOptions& options) {
  open_storage();
  State& state = *state_;
  const RunState& run = state.run;
  TrainResult result;
  result.first_step = run.step + 1;
  const std::int64_t steps = std::max<std::int64_t>(options.steps - run.step, 0);
  result.losses.reserve(static_cast<std::size_t>(std::min(steps, kReserved)));
  std::optional<Measurement> measurement;
  TransferTotals before;
  const auto begin_stretch = [&] {
    measurement.emplace(state.program->steps().size(), steps);
    before = state.executor->transferred();
    fill_with_marks(state.program->arena());
    Stretch& stretch = result.stretches.emplace_back();
    stretch.plan = state.setup.plan;
    stretch.first_step = run.step + 1;
    stretch.map = state.setup.map;
  };
  const auto end_stretch = [&] {
    Stretch& stretch = result.stretches.back();
    stretch.steps = run.step + 1 - stretch.first_step;
    stretch.measured = measurement->close(since(before, state.executor->transferred()));
    stretch.measured.high_water = high_water(state.program->arena());
    stretch.process_peak = process_memory().peak;
    result.resident_peak = std::max(result.resident_peak, stretch.process_peak);
  };
  const auto consider_plan = [&] {
    if (!state.has_several() || !options.choose_plan) return;
    const std::optional<PlanRequest> wanted = options.choose_plan(run.step + 1, state.setup.plan);
    if (!wanted || wanted->plan == state.setup.plan) return;
    PlanChange change{run.step + 1, state.setup.plan, wanted->plan, wanted->reason, "", {}};
    const auto began = std::chrono::steady_clock::now();
    if (std::optional<std::string> lack = state.lacks_memory(wanted->plan)) {
      change.declined = *lack;
    } else {
      end_stretch();
      if (result.stretches.back().steps == 0) result.stretches.pop_back();
      change.declined = state.change_plan(wanted->plan).value_or("");
      open_storage();
      begin_stretch();
    }
    change.took = Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    if (change.declined.empty()) result.changes.push_back(change);
    if (options.on_plan) options.on_plan(change);
  };
  // The last update may have spoilt what the loss before it does not show: no such checkpoint replaces a good
  // one.
  const auto finish_part = [&] {
    if (!state.finite()) {
      result.end = TrainEnd::not_finite;
    } else if (options.checkpoint) {
      save(*options.checkpoint);
      result.saved = true;
      state.unsaved = false;
    }
  };

  if (options.best) recall_best(*options.best);
  const auto validate_now = [&] {
    result.validations.push_back(validate(options.best));
    if (options.on_validation) options.on_validation(result.validations.back());
    if (options.stop_after > 0 && validations_since_best(options.validate_every) >= options.stop_after)
      result.end = TrainEnd::no_better;
  };

  begin_stretch();
  std::optional<EnergyMeter> meter = EnergyMeter::open();
  if (meter) meter->start();
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t saved = state.unsaved ? -1 : run.step;
  while (run.step < options.steps && result.end == TrainEnd::done) {
    consider_plan();
    const StepFigures done = step();
    result.losses.push_back(done.loss);
    measurement->add(done, state.executor->seconds());
    if (options.on_step) options.on_step(done);
    if (!std::isfinite(done.loss)) {
      result.end = TrainEnd::not_finite;
      break;
    }
    if (options.validate_every > 0 && done.number % options.validate_every == 0) validate_now();
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
  end_stretch();
  result.measured = result.stretches.back().measured;
  return result;
}

void Trainer::save(const std::filesystem::path& checkpoint) const {
  write_checkpoint(checkpoint, state_->file.instance.graph, *state_->persistent, state_->run);
}

const PlanFile& Trainer::file() const { return state_->file; }
const TrainerSetup& Trainer::setup() const { return state_->setup; }
const PagingSetup& Trainer::paging() const { return state_->paging; }
const RunState& Trainer::state() const { return state_->run; }
double Trainer::learning_rate(std::int64_t step) const {
  for (const Op& op : state_->file.instance.graph.ops) {
    const auto rate = op.attributes.find("learning_rate");
    if (op.pass == Pass::update && rate != op.attributes.end())
      return std::get<double>(rate->second) * state_->rate_factor_of(step);
  }
  return 0;
}
const std::byte* Trainer::persistent(ValueId v) const { return state_->persistent->contents(v); }
const Program& Trainer::program() const { return *state_->program; }

const std::vector<double>& Trainer::seconds() const {
  ensure(state_->executor != nullptr, "the storage is open");
  return state_->executor->seconds();
}

}  // namespace poet::runtime
