#pragma once

// What a training run is set up with, and whether it can be before there is a plan.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "poet/plan/file/plan_file.h"
#include "poet/plan/limits.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/kernels/kernel_options.h"
#include "poet/runtime/storage/page_file_options.h"
#include "poet/runtime/training/hyperparameters.h"
#include "poet/runtime/training/learning_rate.h"
#include "poet/runtime/training/run_state.h"
#include "poet/runtime/weights/initial_weights.h"

namespace poet::runtime {

struct TrainerOptions {
  /// Of weights, data order and dropout. Absent: the resumed checkpoint's, or 0.
  std::optional<std::uint64_t> seed{};

  // The data: the first that is there.
  const Dataset* dataset = nullptr;             // must outlive the trainer
  std::optional<std::filesystem::path> data{};  // as open_dataset() takes it
  std::int64_t samples = 1024;                  // of synthetic_dataset()

  // What the network is measured on between steps: the first that is there.
  const Dataset* validation_set = nullptr;            // must outlive the trainer
  std::optional<std::filesystem::path> validation{};  // as open_dataset() takes it
  /// For each plan of the trainer's the one that it is measured by in its memory (pipeline/evaluation.h);
  /// empty: nothing is.
  std::vector<PlanFile> validation_plans{};

  // The weights: what is resumed has all. Without one, of each persistent value the first that knows it:
  // `weights_file`, `weights`, InitialWeights.
  /// A checkpoint of the same network, or the page file that a run by the same plan and under the same
  /// options has left: then also the storage.
  std::optional<std::filesystem::path> resume{};
  WeightSource weights{};                                 // asked in the order of persistent_values()
  std::optional<std::filesystem::path> weights_origin{};  // what `weights` reads, for errors
  std::optional<std::filesystem::path> weights_file{};    // safetensors, by name

  /// By which plan of a family to begin, or a smaller one where the machine does not have the memory.
  std::optional<std::size_t> plan{};

  Hyperparameters hyperparameters{};
  LearningRateSchedule schedule{};
  KernelOptions kernels{};
  PageFileOptions storage{};
};

/// What step 1 starts from, or what `resume` says. Throws InputError as read_run_state() and
/// look_at_left_run(), and for a seed other than the one there.
[[nodiscard]] RunState first_state(const TrainerOptions& options);

/// Whether `resume` is a page file.
[[nodiscard]] bool goes_on_from_pages(const TrainerOptions& options);

/// `storage`, or the page file that is resumed. Throws InputError where another one is named, and where
/// pages are to be encrypted.
[[nodiscard]] PageFileOptions storage_of(const TrainerOptions& options);

/// Throws InputError where early stopping would not know the lowest loss so far: that of a run which goes on
/// from a page file is known from its best checkpoint alone.
void check_early_stop(bool goes_on_from_pages, bool keeps_best);

/// What decides the bits of a run besides its plan, seed and weights, by name.
[[nodiscard]] std::map<std::string, std::string> circumstances_of(const Graph& training, const Dataset& data,
                                                                  const TrainerOptions& options);

/// Throws InputError for rules that nothing runs by: a plan is carried out by a device's.
void check_rules(Semantics semantics);

/// Opens a storage that is named or encrypted, as even a plan that pages nothing would have it: a mistake in
/// it is to show at once. Throws InputError as PageFile.
void check_storage(const PageFileOptions& storage);

/// Whether data, weights, checkpoint, hyperparameters and, if one is named or encrypted or resumed,
/// storage fit a training graph and this machine: what a Trainer would find wrong only after its plan was
/// solved for. Asks `weights` for every persistent value, and reads of data sets the targets, of checkpoints
/// the headers. Throws InputError as the Trainer would.
void check_trainable(const Graph& training, const TrainerOptions& options);

}  // namespace poet::runtime
