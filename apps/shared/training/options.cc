#include "apps/shared/training/options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <utility>

#include "apps/shared/amounts.h"
#include "apps/shared/number.h"
#include "apps/shared/parser.h"
#include "apps/shared/training/event_file.h"
#include "poet/base/error.h"
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
  if (name == "fast") return runtime::KernelLibrary::fast;
  if (name == "lean") return runtime::KernelLibrary::lean;
  if (name == "reference") return runtime::KernelLibrary::reference;
  throw InputError("--kernels", "\"" + name + "\" is none of fast, lean, reference");
}

void add_watch_options(const Parser& parser, RunOptions& options) {
  const Parser group = parser.group("Change of plan, where the plan file has several");
  group.option("--control", options.control,
               "read before every step: lines such as 60MB, 30MB from step 200, all from step 500", "FILE");
  group.option(
      "--pressure", options.pressure,
      "a file such as /proc/pressure/memory, at 10% a smaller plan, below 1% for --calm a larger one; "
      "off: never (default: this and the control group's memory.pressure)",
      "FILE|off");
  group.option("--cgroup", options.cgroup,
               "a folder with memory.high and memory.max, which the process is to stay below; off: neither "
               "(default: the control group's own and those around it)",
               "FOLDER|off");
  group.option("--calm", options.calm,
               "for how long there has to be room before a larger plan is taken (default 60s)", "TIME");
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
  if (options.cgroup && *options.cgroup != "off") {
    if (!std::filesystem::is_directory(*options.cgroup))
      throw InputError("--cgroup", "\"" + *options.cgroup + "\" is no folder");
    if (!runtime::tells_limit(*options.cgroup))
      throw InputError("--cgroup",
                       "\"" + *options.cgroup +
                           "\" is no control group: neither memory.high nor memory.max tells a limit");
    watch.groups = {*options.cgroup};
  } else if (!options.cgroup) {
    watch.groups = runtime::own_groups();
  }
  if (options.pressure && *options.pressure != "off") {
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
  if (choice.best && is_onnx(*choice.best))
    throw InputError("--best", "is a safetensors file; poet weights puts it into an ONNX file afterwards");
  if (!options.stop_after) return;
  choice.stop_after = parse_count("--stop-after", *options.stop_after);
  if (!choice.best && runtime::goes_on_from_pages(choice.trainer))
    throw InputError("--stop-after",
                     "of a run that goes on from a page file needs --best FILE, which says "
                     "what the lowest loss was");
}

}  // namespace

void add_run_options(const Parser& parser, RunOptions& options) {
  const Parser group = parser.group("Training");
  group.option(
      "--data", options.data,
      "what to train on: CIFAR-10's binary files, MNIST's IDX files, raw tensors, token ids (default: a "
      "synthetic set that can be learnt)",
      "PATH");
  group.option("--samples", options.samples, "of the synthetic set (default 1024)", "N");
  group.option("--seed", options.seed,
               "of weights, order of the data and dropout (default 0, or the resumed checkpoint's)", "N");
  group.option("--weights", options.weights,
               "start from these instead of seeded ones: safetensors, or the model's ONNX file", "FILE");
  add_optimizer_options(group, options.optimizer);
  group.option("--checkpoint", options.checkpoint,
               "write parameters and optimiser state here, as safetensors", "FILE");
  group.option("--checkpoint-every", options.checkpoint_every,
               "write it after every N steps as well (default: at the end only)", "N");
  group.option("--resume", options.resume,
               "go on from a checkpoint, or by the same plan and options from the page file that a killed or "
               "interrupted run has left (--storage FILE); --steps includes the steps that it has done",
               "FILE");
  group.option("--loss-out", options.loss_out,
               "the loss of every step: .csv, or a curve as .svg, .png, .pdf or .gp", "FILE");
  group.option("--tensorboard", options.tensorboard,
               "loss and learning rate of every step into a new event file in this folder, as TensorBoard "
               "reads them",
               "FOLDER");
  add_watch_options(parser, options);
}

void add_validation_options(const Parser& parser, RunOptions& options) {
  const Parser group = parser.group("Validation");
  group.option("--validate", options.validate,
               "measure the network on this, as --data takes it, between steps: the mean loss and, of a "
               "cross-entropy, the accuracy; in the plan's memory, without dropout and by running statistics",
               "PATH");
  group.option("--validate-every", options.validate_every, "after every N steps (default: after the last)",
               "N");
  group.option("--best", options.best,
               "write a checkpoint here, as safetensors, whenever that loss is lower than all before",
               "FILE");
  group.option("--stop-after", options.stop_after, "end when N validations in a row were not lower", "N");
}

void add_machine_options(const Parser& parser, MachineOptions& options) {
  const Parser group = parser.group("This machine");
  group.option(
      "--kernels", options.kernels,
      "fast (default), lean: less workspace, or reference: plain loops, least workspace; each gives bits of "
      "its own",
      "fast|lean|reference");
  group.option("--threads", options.threads, "of the kernels (default 1)", "N");
  group.option(
      "--isa", options.isa,
      "no newer instructions than these, for equal bits on different machines: sse41, avx, avx2, avx512... "
      "(default: all)",
      "NAME");
  group.option(
      "--storage", options.storage,
      "page to a file without a name in this folder, or to this file, from which --resume goes on where "
      "parameters are at home in it (default: TMPDIR, else /var/tmp)",
      "PATH");
  group.flag("--encrypt", options.encrypt, "what is paged, with a key that only this process has");
}

void add_run_output_options(const Parser& parser, RunOutput& output) {
  const Parser group = parser.group("Output");
  group.flag("--report", output.report, "planned and measured figures side by side");
  group.flag("--json", output.json, "one JSON object instead of text");
}

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
  if (options.data && options.samples) throw InputError("--samples", "is for the synthetic set, not --data");
  trainer.data = options.data;
  if (options.samples) trainer.samples = parse_count("--samples", *options.samples);
  if (options.weights && options.resume)
    throw InputError("--weights and --resume", "exclude each other: a checkpoint has weights");
  choice.weights = options.weights;
  if (choice.weights && !is_onnx(*choice.weights)) trainer.weights_file = choice.weights;
  trainer.resume = options.resume;
  choice.checkpoint = options.checkpoint;
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
