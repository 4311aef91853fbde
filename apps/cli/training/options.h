#pragma once

// How a plan is to be trained here: options as typed, and as read.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/storage/page_file.h"
#include "poet/runtime/training/hyperparameters.h"

namespace poet::cli {

/// As typed; absent where the user said nothing.
struct RunOptions {
  std::optional<std::string> steps, seed, data, samples, weights, resume, checkpoint, checkpoint_every;
  std::optional<std::string> learning_rate, momentum, beta1, beta2, eps;
  std::optional<std::string> loss_out;
};

/// As typed: what computes and pages, for run and profile.
struct MachineOptions {
  std::optional<std::string> kernels, threads, isa, storage;
  bool encrypt = false;
};

struct RunChoice {
  std::int64_t steps = 0;                     // to be done in all
  std::optional<std::uint64_t> seed;          // absent: a checkpoint's, or 0
  std::optional<std::filesystem::path> data;  // absent: the synthetic set
  std::int64_t samples = 0;                   // of the synthetic set
  std::optional<std::filesystem::path> weights, resume, checkpoint, loss_out;
  std::int64_t checkpoint_every = 0;  // 0: at the end only
  runtime::Hyperparameters hyperparameters;
};

struct MachineChoice {
  runtime::KernelOptions kernels;
  runtime::PageFileOptions storage;
  bool storage_named = false;  // by the user
};

/// How a run's answer is printed.
struct RunOutput {
  bool report = false;
  bool json = false;
};

/// All but --steps, which solving has as well: whoever calls adds it.
void add_run_options(CLI::App& app, RunOptions& options);
void add_machine_options(CLI::App& app, MachineOptions& options);
void add_run_output_options(CLI::App& app, RunOutput& output);

/// Throw InputError naming the option.
[[nodiscard]] RunChoice read_run_options(const RunOptions& options);
[[nodiscard]] MachineChoice read_machine_options(const MachineOptions& options);

}  // namespace poet::cli
