#include "apps/shared/option_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace poet::cli {
namespace {

/// Fields that are options; the names of most differ by their dashes alone.
constexpr std::array kOptions = {"all",
                                 "accumulate",
                                 "allow_opaque",
                                 "batch_size",
                                 "best",
                                 "beyond_device_ram",
                                 "beta1",
                                 "beta2",
                                 "checkpoint",
                                 "checkpoint_every",
                                 "clip_norm",
                                 "data",
                                 "encrypt",
                                 "eps",
                                 "deadline",
                                 "formulation",
                                 "gap",
                                 "huber_delta",
                                 "isa",
                                 "kernels",
                                 "label_smoothing",
                                 "learning_rate",
                                 "loss",
                                 "loss_output",
                                 "lr_gamma",
                                 "lr_least",
                                 "lr_length",
                                 "lr_schedule",
                                 "lr_step_size",
                                 "lr_warmup",
                                 "max_bytes_written",
                                 "model",
                                 "momentum",
                                 "nesterov",
                                 "on_time",
                                 "op_limit",
                                 "onnx",
                                 "optimizer",
                                 "persistent",
                                 "precision",
                                 "split",
                                 "platform",
                                 "ram_budget",
                                 "resume",
                                 "samples",
                                 "seed",
                                 "semantics",
                                 "sequence_length",
                                 "solver",
                                 "steps",
                                 "stop_after",
                                 "storage",
                                 "text",
                                 "threads",
                                 "trainable",
                                 "validate",
                                 "weight_decay",
                                 "weights"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kOtherwise = {
    {{"deadline.factor", "--runtime-budget"},
     {"deadline.time", "--deadline"},
     {"time_limit_seconds", "--time-limit"},
     {"input_shapes", "--input-shape"},
     {"input_values", "--input-value"},
     {"weights_file", "--weights"},
     {"out", "-o"},
     {"file.command", "--solver-command"},
     {"file.mps", "--mps"},
     {"file.solution", "--solution"}}};

std::optional<std::string> option_of(std::string_view field) {
  for (const auto& [name, option] : kOtherwise)
    if (name == field) return std::string(option);
  if (std::find(kOptions.begin(), kOptions.end(), field) == kOptions.end()) return std::nullopt;
  std::string option = "--" + std::string(field);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

}  // namespace

InputError with_option_names(const InputError& error) {
  const std::optional<std::string> option = error.is_field() ? option_of(error.place()) : std::nullopt;
  return {option.value_or(std::string(error.place())), with_option_names(std::string(error.rule())),
          std::string(error.hint())};
}

std::string with_option_names(std::string text) {
  for (std::size_t begin = text.find('`'); begin != std::string::npos;) {
    const std::size_t end = text.find('`', begin + 1);
    if (end == std::string::npos) break;
    if (const auto option = option_of(std::string_view(text).substr(begin + 1, end - begin - 1))) {
      text.replace(begin, end + 1 - begin, *option);
      begin = text.find('`', begin + option->size());
    } else {
      begin = end;  // which may begin the next
    }
  }
  return text;
}

}  // namespace poet::cli
