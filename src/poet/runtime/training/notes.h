#pragma once

// Notes on a training run, for all programs that train: options stand in backquotes under the library's names
// (`accumulate`), which each program replaces by its own.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/kernels/kernel_options.h"
#include "poet/runtime/training/run_state.h"
#include "poet/runtime/training/validation.h"

namespace poet::runtime {

/// A training run, before its first step or after its last one.
struct RunSummary {
  KernelOptions kernels{};
  std::vector<std::string> notices{};  // of the setup (TrainerSetup)
  std::int64_t first_step = 1;
  RunState state{};  // after the last step

  std::int64_t validate_every = 0;              // steps
  std::optional<std::filesystem::path> best{};  // the file for the checkpoint of the lowest validation loss
  bool best_saved = false;
  std::vector<ValidationFigures> validations{};

  bool saves = false;      // a checkpoint is to be written at the end
  bool saved = false;      // and was
  bool resumable = false;  // the page file is kept, to resume from
};

/// Returns notes on what the figures of a run do not show: those of the setup, last bits that depend on how
/// operators are split, steps at the end that did no update, and why `best` was not written.
[[nodiscard]] std::vector<std::string> notes_of(const Graph& training, const RunSummary& run);

/// Describes the end of a run whose loss or parameters are not finite after its last step. `cause`: the data
/// that are not finite (Trainer::not_finite_data), or empty.
[[nodiscard]] std::string not_finite_note(const Graph& training, const RunState& state,
                                          std::string_view cause);

/// Returns a loss that is not finite as text: "nan" without its sign, which means nothing, "inf" or "-inf".
[[nodiscard]] std::string not_finite_text(float loss);

}  // namespace poet::runtime
