#pragma once

// Options of training runs, as typed and as parsed.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/shared/training/optimizer_options.h"
#include "poet/runtime/training/plan_watch.h"
#include "poet/runtime/training/trainer_options.h"

namespace poet::cli {

class Parser;

/// As typed; absent if not given.
struct RunOptions {
  bool no_shuffle = false;
  std::optional<std::string> steps, seed, data, samples, weights, resume, checkpoint, checkpoint_every;
  OptimizerOptions optimizer;
  std::optional<std::string> validate, validate_every, best, stop_after;
  std::optional<std::string> loss_out, tensorboard;
  std::optional<std::string> control, pressure, cgroup, calm;
};

/// As typed: kernels and storage, for run and profile.
struct MachineOptions {
  std::optional<std::string> kernels, threads, isa, storage;
  bool encrypt = false;
};

struct MachineChoice {
  runtime::KernelOptions kernels;
  runtime::PageFileOptions storage;  // without `where` if not given
};

struct RunChoice {
  std::int64_t steps = 0;  // in total
  /// Without `weights` if the file is an ONNX file, which the caller reads.
  runtime::TrainerOptions trainer;
  std::optional<std::filesystem::path> weights, checkpoint, best, loss_out, tensorboard;
  std::int64_t checkpoint_every = 0;         // 0: at the end only
  std::int64_t validate_every = 0;           // 0: there is no validation
  std::int64_t stop_after = 0;               // validations; 0: never
  runtime::PlanWatchOptions watch;           // for plan files with several plans
  std::vector<std::string> given_for_watch;  // options of it
};

[[nodiscard]] inline bool is_onnx(const std::filesystem::path& file) { return file.extension() == ".onnx"; }

/// How a run's result is printed.
struct RunOutput {
  bool report = false;
  bool json = false;
};

/// Adds all options but --steps, which the caller adds, as solving has it, too.
void add_run_options(const Parser& parser, RunOptions& options);
/// All but --threads.
void add_machine_options(const Parser& parser, MachineOptions& options);
void add_kernel_threads_option(const Parser& parser, MachineOptions& options);
void add_run_output_options(const Parser& parser, RunOutput& output);

/// Throw InputError naming the option.
[[nodiscard]] MachineChoice read_machine_options(const MachineOptions& options);
[[nodiscard]] RunChoice read_run_options(const RunOptions& options, const MachineOptions& machine);

}  // namespace poet::cli
