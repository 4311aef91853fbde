// Options of training, as they are declared. read_options.cc reads them.

#include "apps/shared/training/options.h"
#include "apps/shared/parser.h"

namespace poet::cli {
namespace {

void add_watch_options(const Parser& parser, RunOptions& options) {
  const Parser group = parser.group("Switching plans (plan files with several plans)");
  group.option("--control", options.control,
               "file that selects the plan by its RAM, read before every step: lines such as 60MB, 30MB from "
               "step 200, all from step 500",
               "FILE");
  group.option("--pressure", options.pressure,
               "memory-pressure file: a smaller plan at 10%, a larger one after --calm below 1%; off: ignore "
               "pressure (default: /proc/pressure/memory and the control group's memory.pressure)",
               "FILE|off");
  group.option("--cgroup", options.cgroup,
               "control-group folder whose memory.high and memory.max limit the process; off: ignore them "
               "(default: the process's control group and its ancestors)",
               "FOLDER|off");
  group.option("--calm", options.calm,
               "how long memory must be free before a larger plan is taken (default 60s)", "TIME");
}

void add_validation_options(const Parser& parser, RunOptions& options) {
  const Parser group = parser.group("Validation");
  group.option("--validate", options.validate,
               "validation data, in the formats of --data: mean loss and, for a cross-entropy, accuracy are "
               "measured between steps, in the plan's memory, without dropout and with running statistics",
               "PATH");
  group.option("--validate-every", options.validate_every,
               "validate every N steps (default: after the last step)", "N");
  group.option("--best", options.best,
               "write a safetensors checkpoint here whenever the validation loss is the lowest so far",
               "FILE");
  group.option("--stop-after", options.stop_after,
               "early stopping: end after N validations in a row without a lower loss", "N");
}

}  // namespace

void add_run_options(const Parser& parser, RunOptions& options) {
  const Parser group = parser.group("Training");
  group.option("--data", options.data,
               "training data: CIFAR-10 binary files, MNIST IDX files, raw tensors or token ids (default: a "
               "learnable synthetic data set)",
               "PATH");
  group.option("--samples", options.samples, "size of the synthetic data set (default 1024)", "N");
  group.flag("--no-shuffle", options.no_shuffle,
             "take the samples in the order of the data (default: shuffled anew for every epoch, by --seed)");
  group.option("--seed", options.seed,
               "seed of initial weights, data order and dropout (default: 0, or the resumed checkpoint's)",
               "N");
  group.option("--weights", options.weights,
               "initial weights: a safetensors file or the model's ONNX file (default: random, by --seed)",
               "FILE");
  add_optimizer_options(group, options.optimizer);
  group.option("--checkpoint", options.checkpoint,
               "write parameters and optimiser state to this safetensors file", "FILE");
  group.option("--checkpoint-every", options.checkpoint_every,
               "also write the checkpoint every N steps (default: only at the end)", "N");
  group.option("--resume", options.resume,
               "resume from a checkpoint or, with the same plan and options, from the page file (--storage "
               "FILE) of a killed or interrupted run; --steps includes the steps already done",
               "FILE");
  group.option("--loss-out", options.loss_out,
               "write the loss of every step: .csv, or a curve as .svg, .png, .pdf or .gp", "FILE");
  group.option("--tensorboard", options.tensorboard,
               "write loss and learning rate of every step to a new TensorBoard event file in this folder",
               "FOLDER");
  add_watch_options(parser, options);
  add_validation_options(parser, options);
}

void add_machine_options(const Parser& parser, MachineOptions& options) {
  const Parser group = parser.group("This machine");
  group.option("--kernels", options.kernels,
               "kernels: fast (default), lean (less workspace) or reference (plain loops, least workspace); "
               "results differ in the last bits between them",
               "fast|lean|reference");
  group.option("--isa", options.isa,
               "newest instruction set to use, for equal bits on different machines: sse41, avx, avx2, "
               "avx512... (default: the machine's)",
               "NAME");
  group.option("--storage", options.storage,
               "page to a temporary file in this folder, or to this file, from which --resume continues if "
               "parameters are kept on storage (default: TMPDIR, else /var/tmp)",
               "PATH");
  group.flag("--encrypt", options.encrypt, "encrypt pages with a per-process key");
}

void add_kernel_threads_option(const Parser& parser, MachineOptions& options) {
  parser.group("This machine")
      .option("--threads", options.threads, "threads of the kernels (default 1)", "N");
}

void add_run_output_options(const Parser& parser, RunOutput& output) {
  const Parser group = parser.group("Output");
  group.flag("--report", output.report, "print planned and measured figures side by side");
  group.flag("--json", output.json, "print one JSON object instead of text");
}

}  // namespace poet::cli
