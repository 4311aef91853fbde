// Options of training, from what was typed to what is meant.

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <utility>

#include "apps/shared/amounts.h"
#include "apps/shared/number.h"
#include "apps/shared/training/event_file.h"
#include "apps/shared/training/options.h"
#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/pipeline/names.h"
#include "poet/report/drawing.h"
#include "poet/report/gnuplot.h"
#include "poet/runtime/sensors/memory_pressure.h"

namespace poet::cli {
namespace {

constexpr std::int64_t kDefaultSteps = 100;
constexpr std::int64_t kMostThreads = 1024;
constexpr std::int64_t kMostSteps = 1'000'000'000;

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size())
    throw InputError("--seed", "\"" + text + "\" is not a whole number from 0 on");
  return seed;
}

void check_named(const char* option, const std::optional<std::string>& path) {
  if (path && path->empty()) throw InputError(option, "must not be empty");
}

runtime::KernelLibrary parse_kernels(const std::string& name) {
  using runtime::KernelLibrary;
  return choose<KernelLibrary>("--kernels", name,
                               {{"fast", KernelLibrary::fast},
                                {"lean", KernelLibrary::lean},
                                {"reference", KernelLibrary::reference}});
}

runtime::PlanWatchOptions read_watch_options(const RunOptions& options) {
  for (const auto& [option, text] :
       {std::pair("--control", &options.control), std::pair("--pressure", &options.pressure),
        std::pair("--cgroup", &options.cgroup)})
    check_named(option, *text);
  runtime::PlanWatchOptions watch;
  watch.control = options.control;
  // Before the work, and not only when it is first asked what to do.
  if (watch.control)
    if (const std::optional<std::string> text = runtime::control_text(*watch.control))
      static_cast<void>(runtime::parse_control(*text, watch.control->string()));
  if (options.cgroup && !same_name(*options.cgroup, "off")) {
    if (!std::filesystem::is_directory(*options.cgroup))
      throw InputError("--cgroup", "\"" + *options.cgroup + "\" is not a folder");
    if (!runtime::tells_limit(*options.cgroup))
      throw InputError("--cgroup",
                       "\"" + *options.cgroup +
                           "\" is no control group: neither memory.high nor memory.max tells a limit");
    watch.groups = {*options.cgroup};
  } else if (!options.cgroup) {
    watch.groups = runtime::own_groups();
  }
  if (options.pressure && !same_name(*options.pressure, "off")) {
    if (!runtime::memory_pressure(*options.pressure))
      throw InputError("--pressure", "\"" + *options.pressure + "\" does not tell \"some avg10=...\"");
    watch.pressure = {*options.pressure};
  } else if (!options.pressure) {
    watch.pressure = {"/proc/pressure/memory"};
    if (const auto groups = runtime::own_groups(); !groups.empty())
      watch.pressure.push_back(groups.front() / "memory.pressure");
  }
  if (options.calm) {
    watch.calm = parse_duration("--calm", *options.calm);
    watch.settle = std::min(watch.settle, watch.calm);
    watch.poll = std::min(watch.poll, watch.calm);
  }
  return watch;
}

std::vector<std::string> given_for_watch(const RunOptions& options) {
  std::vector<std::string> given;
  for (const auto& [option, text] :
       {std::pair("--control", &options.control), std::pair("--pressure", &options.pressure),
        std::pair("--cgroup", &options.cgroup), std::pair("--calm", &options.calm)})
    if (*text) given.emplace_back(option);
  return given;
}

/// Where a checkpoint goes: not over the network that is trained.
void check_safetensors(const char* option, const std::optional<std::filesystem::path>& file) {
  if (file && is_onnx(*file))
    throw InputError(option, "is a safetensors file; poet weights puts it into an ONNX file afterwards");
}

void read_validation(const RunOptions& options, RunChoice& choice) {
  if (!options.validate) {
    for (const auto& [option, text] :
         {std::pair("--validate-every", &options.validate_every), std::pair("--best", &options.best),
          std::pair("--stop-after", &options.stop_after)})
      if (*text) throw InputError(option, "needs --validate PATH");
    return;
  }
  choice.trainer.validation = options.validate;
  choice.validate_every =
      options.validate_every ? parse_count("--validate-every", *options.validate_every) : choice.steps;
  choice.best = options.best;
  check_safetensors("--best", choice.best);
  if (!options.stop_after) return;
  choice.stop_after = parse_count("--stop-after", *options.stop_after);
  runtime::check_early_stop(runtime::goes_on_from_pages(choice.trainer), choice.best.has_value());
}

}  // namespace

MachineChoice read_machine_options(const MachineOptions& options) {
  check_named("--storage", options.storage);
  MachineChoice choice;
  if (options.kernels) choice.kernels.library = parse_kernels(*options.kernels);
  if (options.threads) {
    const std::int64_t threads = parse_count("--threads", *options.threads);
    if (threads > kMostThreads) throw InputError("--threads", "must be at most 1024");
    choice.kernels.threads = static_cast<int>(threads);
  }
  choice.kernels.isa = options.isa.value_or("");
  if (options.storage) choice.storage.where = *options.storage;
  choice.storage.encrypt = options.encrypt;
  return choice;
}

RunChoice read_run_options(const RunOptions& options, const MachineOptions& machine) {
  RunChoice choice;
  choice.steps = options.steps ? parse_count("--steps", *options.steps) : kDefaultSteps;
  if (choice.steps > kMostSteps) throw InputError("--steps", "must be at most 1,000,000,000");
  runtime::TrainerOptions& trainer = choice.trainer;
  if (options.seed) trainer.seed = parse_seed(*options.seed);
  for (const auto& [option, file] :
       {std::pair("--data", &options.data), std::pair("--weights", &options.weights),
        std::pair("--resume", &options.resume), std::pair("--checkpoint", &options.checkpoint),
        std::pair("--validate", &options.validate), std::pair("--best", &options.best),
        std::pair("--loss-out", &options.loss_out), std::pair("--tensorboard", &options.tensorboard)})
    check_named(option, *file);
  if (options.data && options.samples)
    throw InputError("--samples", "is for the synthetic data set, not for --data");
  trainer.data = options.data;
  trainer.shuffle = !options.no_shuffle;
  if (options.samples) trainer.samples = parse_count("--samples", *options.samples);
  if (options.weights && options.resume)
    throw InputError("--weights", "cannot be combined with --resume: a checkpoint has weights");
  choice.weights = options.weights;
  if (choice.weights && !is_onnx(*choice.weights)) trainer.weights_file = choice.weights;
  trainer.resume = options.resume;
  choice.checkpoint = options.checkpoint;
  check_safetensors("--checkpoint", choice.checkpoint);
  choice.loss_out = options.loss_out;
  choice.tensorboard = options.tensorboard;
  if (choice.tensorboard) check_event_folder("--tensorboard", *choice.tensorboard);
  if (choice.loss_out && choice.loss_out->extension() != ".csv" && !is_figure(*choice.loss_out))
    throw InputError("--loss-out", "\"" + *options.loss_out + "\" must end in .csv, .svg, .png, .pdf or .gp");
  if (choice.loss_out && choice.loss_out->extension() != ".csv" && choice.loss_out->extension() != ".gp" &&
      !has_gnuplot())
    throw InputError("--loss-out", "a curve needs gnuplot, which is not installed; .csv and .gp do not");
  if (options.checkpoint_every) {
    if (!options.checkpoint) throw InputError("--checkpoint-every", "needs --checkpoint FILE");
    choice.checkpoint_every = parse_count("--checkpoint-every", *options.checkpoint_every);
  }
  read_validation(options, choice);
  trainer.hyperparameters = read_hyperparameters(options.optimizer);
  trainer.schedule = read_schedule(options.optimizer);
  const MachineChoice chosen = read_machine_options(machine);
  trainer.kernels = chosen.kernels;
  trainer.storage = chosen.storage;
  trainer.storage = runtime::storage_of(trainer);
  choice.watch = read_watch_options(options);
  choice.given_for_watch = given_for_watch(options);
  return choice;
}

}  // namespace poet::cli
