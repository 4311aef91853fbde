#pragma once

// Options of hyperparameters and learning-rate schedule, and their parsing.

#include <optional>
#include <string>

#include "poet/runtime/training/hyperparameters.h"
#include "poet/runtime/training/learning_rate.h"

namespace poet::cli {

class Parser;

/// As typed; absent if not given.
struct OptimizerOptions {
  std::optional<std::string> learning_rate, momentum, beta1, beta2, eps, weight_decay;
  bool nesterov = false;
  std::optional<std::string> lr_schedule, lr_warmup, lr_step_size, lr_gamma, lr_length, lr_least;
};

void add_optimizer_options(const Parser& group, OptimizerOptions& options);

/// Throw InputError naming the option.
[[nodiscard]] runtime::Hyperparameters read_hyperparameters(const OptimizerOptions& options);
[[nodiscard]] runtime::LearningRateSchedule read_schedule(const OptimizerOptions& options);

}  // namespace poet::cli
