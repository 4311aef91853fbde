#include "apps/shared/training/optimizer_options.h"

#include "apps/shared/amounts.h"
#include "apps/shared/number.h"
#include "apps/shared/parser.h"

namespace poet::cli {

void add_optimizer_options(const Parser& group, OptimizerOptions& options) {
  group.option("--learning-rate", options.learning_rate,
               "learning rate (default: the plan's; SGD and momentum 0.01, Adam 0.001)", "NUMBER");
  group.option("--momentum", options.momentum, "momentum only: momentum factor (default 0.9)", "NUMBER");
  group.flag("--nesterov", options.nesterov, "momentum only: Nesterov momentum");
  group.option("--beta1", options.beta1, "adam and adamw only: decay rate of the first moment (default 0.9)",
               "NUMBER");
  group.option("--beta2", options.beta2,
               "adam and adamw only: decay rate of the second moment (default 0.999)", "NUMBER");
  group.option("--eps", options.eps, "adam and adamw only: term added to the denominator (default 1e-8)",
               "NUMBER");
  group.option("--weight-decay", options.weight_decay,
               "weight decay, added to the gradient; decoupled with adamw (default 0, adamw 0.01)", "NUMBER");
  group.option("--lr-schedule", options.lr_schedule,
               "learning-rate schedule: constant (default), step: times --lr-gamma every --lr-step-size "
               "updates, or cosine: annealed over --lr-length updates",
               "NAME");
  group.option("--lr-warmup", options.lr_warmup, "linear warm-up over N updates (default 0)", "N");
  group.option("--lr-step-size", options.lr_step_size, "step schedule only: updates between two decays", "N");
  group.option("--lr-gamma", options.lr_gamma, "step schedule only: decay factor (default 0.1)", "NUMBER");
  group.option("--lr-length", options.lr_length,
               "cosine schedule only: number of updates until the lowest rate", "N");
  group.option("--lr-least", options.lr_least,
               "cosine schedule only: lowest rate, as a fraction of the learning rate (default 0)", "NUMBER");
}

runtime::Hyperparameters read_hyperparameters(const OptimizerOptions& options) {
  runtime::Hyperparameters chosen;
  chosen.learning_rate = parse_real("--learning-rate", options.learning_rate);
  chosen.momentum = parse_real("--momentum", options.momentum);
  chosen.beta1 = parse_real("--beta1", options.beta1);
  chosen.beta2 = parse_real("--beta2", options.beta2);
  chosen.eps = parse_real("--eps", options.eps);
  chosen.weight_decay = parse_real("--weight-decay", options.weight_decay);
  if (options.nesterov) chosen.nesterov = true;
  return chosen;
}

runtime::LearningRateSchedule read_schedule(const OptimizerOptions& options) {
  runtime::ScheduleChoice choice;
  choice.kind = options.lr_schedule;
  if (options.lr_warmup)
    choice.warmup = static_cast<std::int64_t>(parse_word("--lr-warmup", *options.lr_warmup));
  if (options.lr_step_size) choice.step_size = parse_count("--lr-step-size", *options.lr_step_size);
  if (options.lr_length) choice.length = parse_count("--lr-length", *options.lr_length);
  choice.gamma = parse_real("--lr-gamma", options.lr_gamma);
  choice.least = parse_real("--lr-least", options.lr_least);
  return runtime::schedule_of(choice);
}

}  // namespace poet::cli
