// poet.Trainer: training by a plan on this machine, step by step.

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "poet/answer/evaluation_plan.h"
#include "poet/base/error.h"
#include "poet/pipeline/names.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/data/numbers.h"
#include "poet/runtime/executor/program.h"
#include "poet/runtime/training/notes.h"
#include "poet/runtime/training/trainer.h"
#include "python/src/arguments.h"
#include "python/src/callbacks.h"
#include "python/src/machine.h"
#include "python/src/plans.h"
#include "python/src/weights.h"

namespace poet::python {
namespace {

namespace fs = std::filesystem;
using runtime::DataInput;

/// Samples in arrays of the caller's, one per input, already of its element type and contiguous; read without
/// the interpreter. By the buffer protocol, which is the same for every version of numpy.
class ArrayDataset final : public runtime::Dataset {
 public:
  /// `place`: what the caller's argument is called.
  ArrayDataset(const Graph& graph, const std::map<std::string, py::buffer>& arrays, std::string place)
      : place_(std::move(place)) {
    for (const auto& [name, array] : arrays) arrays_.emplace(name, array.request());
    const std::vector<DataInput> inputs = runtime::data_inputs(graph);
    for (const DataInput& input : inputs) add(input);
    for (const auto& given : arrays_) {
      const std::string& name = given.first;
      if (std::none_of(inputs.begin(), inputs.end(),
                       [&](const DataInput& input) { return input.name == name; }))
        throw InputError(place_, fmt::format("\"{}\" is no input of the network", name));
    }
  }

  [[nodiscard]] std::int64_t samples() const override { return samples_; }

  void read(std::size_t input, std::span<const std::int64_t> samples, std::byte* to) const override {
    const Source& source = sources_.at(input);
    for (const std::int64_t sample : samples) {
      std::memcpy(to, source.data + sample * source.bytes, static_cast<std::size_t>(source.bytes));
      to += source.bytes;
    }
  }

  [[nodiscard]] std::string description() const override {
    return fmt::format("arrays, {} samples", samples_);
  }

 private:
  struct Source {
    const std::byte* data = nullptr;
    std::int64_t bytes = 0;  // of a sample
  };

  void add(const DataInput& input) {
    const auto found = arrays_.find(input.name);
    if (found == arrays_.end())
      throw InputError(place_, fmt::format("has no array for the network's input \"{}\"", input.name));
    const std::int64_t total = found->second.size * found->second.itemsize;
    const std::int64_t bytes = byte_count(input.sample, input.dtype).value();
    if (bytes == 0 || total % bytes != 0)
      throw InputError(place_, fmt::format("\"{}\" is not made of samples of {} bytes", input.name, bytes));
    const std::int64_t samples = total / bytes;
    if (!sources_.empty() && samples != samples_)
      throw InputError(place_, fmt::format("\"{}\" has {} samples, the input before it {}", input.name,
                                           samples, samples_));
    samples_ = samples;
    const auto* data = static_cast<const std::byte*>(found->second.ptr);
    if (input.range > 0 && input.dtype == DType::int32) check_range(input, data, total / 4);
    if (input.role == runtime::InputRole::number_targets) check_targets(input, data, bytes, samples);
    sources_.push_back({data, bytes});
  }

  void check_range(const DataInput& input, const std::byte* data, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) {
      std::int32_t number = 0;
      std::memcpy(&number, data + 4 * i, sizeof number);
      if (number < 0 || number >= input.range)
        throw InputError(place_, fmt::format("\"{}\" has {} at place {}; its numbers are 0 to {}", input.name,
                                             number, i, input.range - 1));
    }
  }

  void check_targets(const DataInput& input, const std::byte* data, std::int64_t bytes,
                     std::int64_t samples) const {
    for (std::int64_t i = 0; i < samples; ++i) {
      const std::string rule =
          runtime::broken_rule(input, i, {data + i * bytes, static_cast<std::size_t>(bytes)});
      if (!rule.empty()) throw InputError(place_, fmt::format("\"{}\" {}", input.name, rule));
    }
  }

  std::map<std::string, py::buffer_info> arrays_;  // kept alive
  std::string place_;
  std::vector<Source> sources_;  // of each input
  std::int64_t samples_ = 0;
};

py::list inputs_of(const LoadedPlan& plan) {
  py::list inputs;
  for (const DataInput& input : runtime::data_inputs(plan.picture.plan.instance.graph))
    inputs.append(py::make_tuple(input.name, to_string(input.dtype), input.sample, input.range));
  return inputs;
}

runtime::TrainerOptions take_options(Arguments& arguments) {
  runtime::TrainerOptions options;
  options.seed = arguments.whole("seed", 0, std::numeric_limits<std::uint64_t>::max());
  options.data = arguments.take<fs::path>("data");
  options.shuffle = arguments.flag("shuffle", true);
  if (const auto samples = arguments.count("samples")) options.samples = *samples;
  options.validation = arguments.take<fs::path>("validation");
  options.resume = arguments.take<fs::path>("resume");
  options.weights_file = arguments.take<fs::path>("weights_file");
  options.kernels = take_kernels(arguments);
  if (const auto where = arguments.take<fs::path>("storage")) options.storage.where = *where;
  options.storage.encrypt = arguments.flag("encrypt", false);
  runtime::Hyperparameters& chosen = options.hyperparameters;
  chosen.learning_rate = arguments.take<double>("learning_rate");
  chosen.momentum = arguments.take<double>("momentum");
  chosen.beta1 = arguments.take<double>("beta1");
  chosen.beta2 = arguments.take<double>("beta2");
  chosen.eps = arguments.take<double>("eps");
  chosen.weight_decay = arguments.take<double>("weight_decay");
  chosen.nesterov = arguments.take<bool>("nesterov");
  runtime::ScheduleChoice schedule;
  schedule.kind = arguments.take<std::string>("lr_schedule");
  schedule.warmup = arguments.count("lr_warmup");
  schedule.step_size = arguments.count("lr_step_size");
  schedule.length = arguments.count("lr_length");
  schedule.gamma = arguments.take<double>("lr_gamma");
  schedule.least = arguments.take<double>("lr_least");
  options.schedule = runtime::schedule_of(schedule);
  return options;
}

/// The plan that the network is measured by, in the memory of `training`. Ctrl-C raises KeyboardInterrupt.
PlanFile validation_plan(const PlanFile& training, const runtime::KernelOptions& kernels) {
  Callbacks callbacks{py::none()};
  const auto interrupted = callbacks.interrupted();
  PlanFile plan;
  std::exception_ptr failure;
  {
    const py::gil_scoped_release unlocked;
    try {
      const auto charge = [&](Instance& instance) {
        runtime::charge_workspaces_as(training.instance, instance, kernels);
      };
      plan = plan_evaluation(training, charge, interrupted);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  callbacks.rethrow();
  if (failure) std::rethrow_exception(failure);
  return plan;
}

/// A trainer with the data that it reads.
class Training {
 public:
  Training(const LoadedPlan& plan, const py::kwargs& given) {
    Arguments arguments(given);
    const auto arrays = arguments.take<std::map<std::string, py::buffer>>("arrays");
    const auto validation_arrays = arguments.take<std::map<std::string, py::buffer>>("validation_arrays");
    network_ = take_onnx_network(arguments, plan.picture.plan.instance);
    const bool strict = arguments.flag("strict", true);
    runtime::TrainerOptions options = take_options(arguments);
    arguments.finish();
    const PlanFile& file = plan.picture.plan;
    const Graph& graph = file.instance.graph;
    runtime::check_rules(file.semantics);
    if (arrays) data_ = std::make_unique<ArrayDataset>(graph, *arrays, "data");
    options.dataset = data_.get();
    if (validation_arrays)
      validation_set_ = std::make_unique<ArrayDataset>(graph, *validation_arrays, "validation");
    options.validation_set = validation_set_.get();
    std::optional<OnnxStart> start;  // lets go of the file once the trainer has begun
    {
      const py::gil_scoped_release unlocked;
      if (!options.resume) {
        if (strict && options.weights_file) check_names(*options.weights_file, graph, network_.has_value());
        if (network_) {
          start.emplace(*network_, graph, strict, options.weights_file);
          options.weights = start->source();
          options.weights_origin = network_->file;
        }
      }
      runtime::set_up_kernels(options.kernels);
    }
    if (options.validation_set != nullptr || options.validation) {
      runtime::check_trainable(graph, options);
      options.validation_plans = {validation_plan(file, options.kernels)};
    }
    const py::gil_scoped_release unlocked;
    trainer_ = std::make_unique<runtime::Trainer>(file, options);
    summary_.kernels = options.kernels;
    summary_.notices = setup().notices;
    summary_.first_step = trainer_->state().step + 1;
  }

  /// Throws InputError where save_onnx() would, whatever the weights.
  void check_exportable() {
    const py::gil_scoped_release unlocked;
    poet::check_exportable(trainer_->file().instance.graph, origin());
  }

  void save_onnx(const fs::path& file) {
    const py::gil_scoped_release unlocked;
    const std::lock_guard one_at_a_time(stepping_);
    write_trained_onnx(*trainer_, origin(), file);
  }

  runtime::StepFigures step() {
    const py::gil_scoped_release unlocked;
    const std::lock_guard one_at_a_time(stepping_);
    return trainer_->step();
  }

  /// Nothing where there is nothing to measure on.
  std::optional<runtime::ValidationFigures> validate(const std::optional<fs::path>& best) {
    if (setup().validation.empty()) return std::nullopt;
    const py::gil_scoped_release unlocked;
    const std::lock_guard one_at_a_time(stepping_);
    const runtime::ValidationFigures found = trainer_->validate(best);
    summary_.validations.push_back(found);
    summary_.best_saved = summary_.best_saved || found.saved;
    return found;
  }

  /// Before steps with validations between them.
  void recall_best(const std::optional<fs::path>& best, bool stops_early) {
    const py::gil_scoped_release unlocked;
    const std::lock_guard one_at_a_time(stepping_);
    if (stops_early) runtime::check_early_stop(setup().goes_on, best.has_value());
    if (best) trainer_->recall_best(*best);
  }

  [[nodiscard]] std::int64_t validations_since_best(std::int64_t every) {
    const py::gil_scoped_release unlocked;
    const std::lock_guard one_at_a_time(stepping_);
    return trainer_->validations_since_best(every);
  }

  /// The step and the loss; nothing where there was no validation, or none with a finite loss.
  [[nodiscard]] std::optional<std::pair<std::int64_t, double>> best() {
    const py::gil_scoped_release unlocked;
    const std::lock_guard one_at_a_time(stepping_);
    const runtime::RunState& state = trainer_->state();
    if (state.best_step < 0) return std::nullopt;
    return std::pair(state.best_step, state.best_loss);
  }

  void save(const fs::path& checkpoint) {
    const py::gil_scoped_release unlocked;
    const std::lock_guard one_at_a_time(stepping_);
    trainer_->save(checkpoint);
  }

  [[nodiscard]] std::int64_t steps_done() {
    const py::gil_scoped_release unlocked;
    const std::lock_guard one_at_a_time(stepping_);
    return trainer_->state().step;
  }

  /// The end of a run whose loss or parameters are not finite.
  [[nodiscard]] std::string not_finite_note() {
    const py::gil_scoped_release unlocked;
    const std::lock_guard one_at_a_time(stepping_);
    return with_argument_names(runtime::not_finite_note(trainer_->file().instance.graph, trainer_->state(),
                                                        trainer_->not_finite_data()));
  }

  [[nodiscard]] const runtime::TrainerSetup& setup() const { return trainer_->setup(); }

  /// Notes on the run so far, as of `poet run`. `saves`: a checkpoint is to be written at the end; `saved`:
  /// it was.
  [[nodiscard]] std::vector<std::string> notes(const std::optional<fs::path>& best,
                                               std::int64_t validate_every, bool saves, bool saved) {
    const py::gil_scoped_release unlocked;
    const std::lock_guard one_at_a_time(stepping_);
    runtime::RunSummary summary = summary_;
    summary.state = trainer_->state();
    summary.best = best;
    summary.validate_every = validate_every;
    summary.saves = saves;
    summary.saved = saved;
    summary.resumable = trainer_->paging().record > Bytes(0);
    std::vector<std::string> notes = runtime::notes_of(trainer_->file().instance.graph, summary);
    for (std::string& note : notes) note = with_argument_names(std::move(note));
    return notes;
  }

 private:
  /// The ONNX file that the network came from: as the user or solve() said, or a file of weights that has all
  /// of its parameters and no others.
  [[nodiscard]] std::optional<OnnxNetwork> origin() const {
    if (!network_ || !network_->is_chosen) return network_;
    const bool is_other =
        !other_parameter(network_->import().forward, trainer_->file().instance.graph).empty();
    return is_other ? std::nullopt : network_;
  }

  std::optional<OnnxNetwork> network_;
  std::unique_ptr<ArrayDataset> data_, validation_set_;
  std::unique_ptr<runtime::Trainer> trainer_;
  runtime::RunSummary summary_;  // without what notes() is given
  std::mutex stepping_;  // taken without the interpreter's lock, so that waiting for it blocks nobody else
};

}  // namespace

void add_training(py::module_& module) {
  py::class_<runtime::StepFigures>(module, "StepFigures")
      .def_readonly("number", &runtime::StepFigures::number)
      .def_readonly("loss", &runtime::StepFigures::loss)
      .def_property_readonly("seconds",
                             [](const runtime::StepFigures& step) { return step.makespan.value(); })
      .def_property_readonly("stalled", [](const runtime::StepFigures& step) { return step.stalled.value(); })
      .def_property_readonly("fetching",
                             [](const runtime::StepFigures& step) { return step.fetching.value(); });
  py::class_<runtime::ValidationFigures>(module, "ValidationFigures")
      .def_readonly("step", &runtime::ValidationFigures::step)
      .def_readonly("loss", &runtime::ValidationFigures::loss)
      .def_readonly("accuracy", &runtime::ValidationFigures::accuracy)
      .def_readonly("saved", &runtime::ValidationFigures::saved)
      .def_property_readonly("seconds",
                             [](const runtime::ValidationFigures& found) { return found.took.value(); });
  py::class_<Training>(module, "Trainer")
      .def(py::init<const LoadedPlan&, const py::kwargs&>())
      .def("step", &Training::step)
      .def("save", &Training::save)
      .def("save_onnx", &Training::save_onnx)
      .def("check_exportable", &Training::check_exportable)
      .def("validate", &Training::validate)
      .def("recall_best", &Training::recall_best)
      .def("validations_since_best", &Training::validations_since_best)
      .def("best", &Training::best)
      .def_property_readonly("steps_done", &Training::steps_done)
      .def("not_finite_note", &Training::not_finite_note)
      .def("notes", &Training::notes)
      .def_property_readonly("data", [](const Training& training) { return training.setup().data; })
      .def_property_readonly("kernels", [](const Training& training) { return training.setup().kernels; })
      .def_property_readonly("ram_bytes", [](const Training& training) {
        return (training.setup().map.arena + training.setup().map.persistent).value();
      });
  module.def("inputs", &inputs_of);
}

}  // namespace poet::python
