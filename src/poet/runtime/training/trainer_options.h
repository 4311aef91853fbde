#pragma once

// The options of a training run, and their checks before a plan exists.

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
  /// Seed of weights, data order and dropout. Absent: that of the resumed checkpoint, or 0.
  std::optional<std::uint64_t> seed{};

  bool shuffle = true;  // the samples, anew for every epoch

  // The data: the first that is given.
  const Dataset* dataset = nullptr;             // must outlive the trainer
  std::optional<std::filesystem::path> data{};  // as open_dataset() takes it
  std::int64_t samples = 1024;                  // of synthetic_dataset()

  // The validation data: the first that is given.
  const Dataset* validation_set = nullptr;            // must outlive the trainer
  std::optional<std::filesystem::path> validation{};  // as open_dataset() takes it
  /// The validation plan for each plan of the trainer, in its memory (pipeline/evaluation.h); empty: no
  /// validation.
  std::vector<PlanFile> validation_plans{};

  // The weights: all of a resumed run; otherwise each persistent value from the first source that has it, of
  // `weights_file`, `weights` and InitialWeights.
  /// A checkpoint of the same network, or the page file that a run by the same plan and under the same
  /// options has left: then also the storage.
  std::optional<std::filesystem::path> resume{};
  WeightSource weights{};                                 // called in the order of persistent_values()
  std::optional<std::filesystem::path> weights_origin{};  // what `weights` reads, for errors
  std::optional<std::filesystem::path> weights_file{};    // safetensors, by name

  /// The plan of a family to begin with; smaller ones are used for lack of memory.
  std::optional<std::size_t> plan{};

  Hyperparameters hyperparameters{};
  LearningRateSchedule schedule{};
  KernelOptions kernels{};
  PageFileOptions storage{};
};

/// Returns the initial state, or that of `resume`. Throws InputError as read_run_state() and
/// look_at_left_run(), and for a seed other than the one there.
[[nodiscard]] RunState first_state(const TrainerOptions& options);

/// Returns whether `resume` is a page file.
[[nodiscard]] bool goes_on_from_pages(const TrainerOptions& options);

/// Returns `storage`, or the resumed page file. Throws InputError if another one is named, or if pages are to
/// be encrypted.
[[nodiscard]] PageFileOptions storage_of(const TrainerOptions& options);

/// Throws InputError if early stopping does not know the lowest loss so far, which is known only from the
/// best checkpoint of a run that resumes from a page file.
void check_early_stop(bool goes_on_from_pages, bool keeps_best);

/// Returns the settings besides plan, seed and weights that determine the bits of a run, by name.
[[nodiscard]] std::map<std::string, std::string> circumstances_of(const Graph& training, const Dataset& data,
                                                                  const TrainerOptions& options);

/// "CIFAR-10, 50,000 images of 3x32x32, 10 classes, not shuffled".
[[nodiscard]] std::string describe_data(const Dataset& data, const TrainerOptions& options);

/// Throws InputError unless the semantics is `device`: others cannot be executed.
void check_rules(Semantics semantics);

/// Opens a storage that is named or encrypted, even for plans without paging, so that errors show at once.
/// Throws InputError as PageFile.
void check_storage(const PageFileOptions& storage);

/// Whether data, weights, checkpoint, hyperparameters and, if one is named or encrypted or resumed,
/// storage fit a training graph and this machine: what a Trainer would find wrong only after its plan was
/// solved for. Asks `weights` for every persistent value, and reads of data sets the targets, of checkpoints
/// the headers. Throws InputError as the Trainer would.
void check_trainable(const Graph& training, const TrainerOptions& options);

}  // namespace poet::runtime
