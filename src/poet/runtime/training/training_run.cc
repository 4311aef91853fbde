// Trainer::train: steps, and what comes between them.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <optional>
#include <string>

#include "poet/base/error.h"
#include "poet/runtime/sensors/energy_meter.h"
#include "poet/runtime/sensors/process_memory.h"
#include "poet/runtime/training/measurement.h"
#include "poet/runtime/training/trainer_state.h"

namespace poet::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kReserved = 1 << 20;  // losses that have their memory beforehand

Seconds elapsed(Clock::time_point begin) {
  return Seconds(std::chrono::duration<double>(Clock::now() - begin).count());
}

TransferTotals since(const TransferTotals& before, const TransferTotals& now) {
  return {now.reading - before.reading, now.writing - before.writing, now.read - before.read,
          now.written - before.written};
}

}  // namespace

class Trainer::Run {
 public:
  Run(Trainer& trainer, const TrainOptions& options)
      : trainer_(trainer),
        state_(*trainer.state_),
        options_(options),
        steps_(std::max<std::int64_t>(options.steps - state_.run.step, 0)),
        saved_(state_.unsaved ? -1 : state_.run.step) {
    result_.first_step = state_.run.step + 1;
    result_.losses.reserve(static_cast<std::size_t>(std::min(steps_, kReserved)));
  }

  TrainResult carry_out() {
    begin_stretch();
    std::optional<EnergyMeter> meter = EnergyMeter::open();
    if (meter) meter->start();
    const Clock::time_point begin = Clock::now();
    while (state_.run.step < options_.steps && result_.end == TrainEnd::done) {
      change_plan_if_wanted();
      take_step();
      keeping_what_is_done([this] { follow_step(); });
    }
    if (result_.end != TrainEnd::not_finite && saved_ != state_.run.step) save_checkpoint();
    result_.wall_seconds = elapsed(begin).value();
    if (meter) result_.energy = meter->stop();
    result_.energy_source = meter ? meter->description() : kNotMeasured;
    end_stretch();
    result_.measured = result_.stretches.back().measured;
    return std::move(result_);
  }

 private:
  void begin_stretch() {
    measurement_.emplace(state_.program->steps().size(), steps_);
    before_ = state_.executor->transferred();
    fill_with_marks(state_.program->arena());
    Stretch& stretch = result_.stretches.emplace_back();
    stretch.plan = state_.setup.plan;
    stretch.first_step = state_.run.step + 1;
    stretch.map = state_.setup.map;
  }

  void end_stretch() {
    Stretch& stretch = result_.stretches.back();
    stretch.steps = state_.run.step + 1 - stretch.first_step;
    stretch.measured = measurement_->close(since(before_, state_.executor->transferred()));
    stretch.measured.high_water = high_water(state_.program->arena());
    stretch.process_peak = process_memory().peak;
    result_.resident_peak = std::max(result_.resident_peak, stretch.process_peak);
  }

  void change_plan_if_wanted() {
    if (!state_.has_several() || !options_.choose_plan) return;
    const std::int64_t next = state_.run.step + 1;
    const std::optional<PlanRequest> wanted = options_.choose_plan(next, state_.setup.plan);
    if (!wanted || wanted->plan == state_.setup.plan) return;
    PlanChange change{next, state_.setup.plan, wanted->plan, wanted->reason, "", {}};
    const Clock::time_point began = Clock::now();
    if (std::optional<std::string> lack = state_.lacks_memory(wanted->plan)) {
      change.declined = *lack;
    } else {
      end_stretch();
      if (result_.stretches.back().steps == 0) result_.stretches.pop_back();
      change.declined = state_.change_plan(wanted->plan).value_or("");
      trainer_.open_storage();
      begin_stretch();
    }
    change.took = elapsed(began);
    if (change.declined.empty()) result_.changes.push_back(change);
    if (options_.on_plan) options_.on_plan(change);
  }

  void take_step() {
    done_ = trainer_.step();
    result_.losses.push_back(done_.loss);
    measurement_->add(done_, state_.executor->seconds());
  }

  /// What comes between two steps.
  void follow_step() {
    const StepFigures& done = done_;
    if (options_.on_step) options_.on_step(done);
    if (!std::isfinite(done.loss)) {
      result_.end = TrainEnd::not_finite;
      result_.cause = trainer_.not_finite_data();
      return;
    }
    if (options_.validate_every > 0 && done.number % options_.validate_every == 0) validate();
    if (options_.checkpoint_every > 0 && done.number % options_.checkpoint_every == 0) save_checkpoint();
    const bool goes_on = result_.end == TrainEnd::done && done.number < options_.steps;
    if (goes_on && options_.interrupted && options_.interrupted()) result_.end = TrainEnd::interrupted;
  }

  void validate() {
    const ValidationFigures found = trainer_.validate(options_.best);
    result_.validations.push_back(found);
    result_.best_saved = result_.best_saved || found.saved;
    if (options_.on_validation) options_.on_validation(found);
    if (options_.stop_after > 0 &&
        trainer_.validations_since_best(options_.validate_every) >= options_.stop_after)
      result_.end = TrainEnd::no_better;
  }

  // The last update may have spoilt what the loss before it does not show: no such checkpoint replaces a good
  // one.
  void save_checkpoint() {
    saved_ = state_.run.step;
    if (!state_.finite()) {
      result_.end = TrainEnd::not_finite;
    } else if (options_.checkpoint) {
      saving_ = true;
      trainer_.save(*options_.checkpoint);
      saving_ = false;
      result_.saved = true;
      state_.unsaved = false;
    }
  }

  /// Where that throws, the step that is complete is to be in the checkpoint.
  template <class Work>
  void keeping_what_is_done(const Work& work) {
    try {
      work();
    } catch (const InputError& error) {
      if (!keep() || error.is_field() || !error.hint().empty()) throw;
      throw InputError(
          std::string(error.place()), std::string(error.rule()),
          fmt::format("the run up to step {} is in {}", state_.run.step, options_.checkpoint->string()));
    } catch (...) {
      static_cast<void>(keep());
      throw;
    }
  }

  /// Whether the checkpoint has the last step.
  [[nodiscard]] bool keep() {
    if (!options_.checkpoint || saving_ || result_.end == TrainEnd::not_finite) return false;
    try {
      if (saved_ != state_.run.step) save_checkpoint();
      return result_.end != TrainEnd::not_finite;
    } catch (const std::exception&) {  // what came first is what is told
      return false;
    }
  }

  Trainer& trainer_;
  State& state_;
  const TrainOptions& options_;
  TrainResult result_;
  std::int64_t steps_;                      // to be done
  std::int64_t saved_;                      // the step whose parameters a checkpoint has
  bool saving_ = false;                     // that checkpoint is being written
  StepFigures done_;                        // the last step
  std::optional<Measurement> measurement_;  // of the present stretch, as what follows
  TransferTotals before_;
};

TrainResult Trainer::train(const TrainOptions& options) {
  open_storage();
  if (options.best) recall_best(*options.best);
  return Run(*this, options).carry_out();
}

}  // namespace poet::runtime
