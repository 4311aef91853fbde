#pragma once

// How a plan is to be trained here: options as typed, and as read.

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

/// As typed; absent where the user said nothing.
struct RunOptions {
  std::optional<std::string> steps, seed, data, samples, weights, resume, checkpoint, checkpoint_every;
  OptimizerOptions optimizer;
  std::optional<std::string> validate, validate_every, best, stop_after;
  std::optional<std::string> loss_out, tensorboard;
  std::optional<std::string> control, pressure, cgroup, calm;
};

/// As typed: what computes and pages, for run and profile.
struct MachineOptions {
  std::optional<std::string> kernels, threads, isa, storage;
  bool encrypt = false;
};

struct MachineChoice {
  runtime::KernelOptions kernels;
  runtime::PageFileOptions storage;  // without `where` if the user named none
};

struct RunChoice {
  std::int64_t steps = 0;  // to be done in all
  /// Its `weights` are left to whoever can read the file: of `weights`, if that is an ONNX file.
  runtime::TrainerOptions trainer;
  std::optional<std::filesystem::path> weights, checkpoint, best, loss_out, tensorboard;
  std::int64_t checkpoint_every = 0;         // 0: at the end only
  std::int64_t validate_every = 0;           // 0: there is no validation
  std::int64_t stop_after = 0;               // validations; 0: never
  runtime::PlanWatchOptions watch;           // of a plan file with several plans
  std::vector<std::string> given_for_watch;  // options of it
};

[[nodiscard]] inline bool is_onnx(const std::filesystem::path& file) { return file.extension() == ".onnx"; }

/// How a run's answer is printed.
struct RunOutput {
  bool report = false;
  bool json = false;
};

/// All but --steps, which solving has as well: whoever calls adds it.
void add_run_options(const Parser& parser, RunOptions& options);
void add_machine_options(const Parser& parser, MachineOptions& options);
void add_run_output_options(const Parser& parser, RunOutput& output);

/// Throw InputError naming the option.
[[nodiscard]] MachineChoice read_machine_options(const MachineOptions& options);
[[nodiscard]] RunChoice read_run_options(const RunOptions& options, const MachineOptions& machine);

}  // namespace poet::cli
