// Options of training, as they are declared. read_options.cc reads them.

#include "apps/shared/training/options.h"
#include "apps/shared/parser.h"

namespace poet::cli {
namespace {

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
  add_validation_options(parser, options);
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

}  // namespace poet::cli
