#pragma once

// Training by a plan on this machine: from plan, weights and data to steps, losses and measured figures.
//
//   Trainer trainer(read_plan("my.plan"), {.data = "cifar-10-batches-bin"});
//   const TrainResult result = trainer.train({.steps = 200, .checkpoint = "my.safetensors"});

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "poet/plan/file/plan_family.h"
#include "poet/plan/file/plan_file.h"
#include "poet/runtime/executor/memory_map.h"
#include "poet/runtime/training/measured.h"
#include "poet/runtime/training/trainer_options.h"
#include "poet/runtime/training/validation.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"

namespace poet::runtime {

class Program;

/// A switch to another plan of a run's family (plan/file/plan_family.h).
struct PlanRequest {
  std::size_t plan = 0;
  std::string reason;  // for display
};

struct PlanChange {
  std::int64_t step = 0;  // the first step by the other plan
  std::size_t from = 0;
  std::size_t to = 0;
  std::string reason;
  std::string declined;  // why the switch was declined; empty: it was made
  Seconds took{};
};

/// Consecutive steps by one plan.
struct Stretch {
  std::size_t plan = 0;
  std::int64_t first_step = 1;
  std::int64_t steps = 0;
  MemoryMap map;  // RAM
  Measured measured;
  Bytes process_peak{};  // during the steps, or since the process began if the system cannot reset it
};

/// Figures of a plan from the verifier.
struct PlannedFigures {
  Limits limits;
  Report report;
  ArenaReport arena;
  Bytes persistent{};  // resident
};

/// The state of a trainer before its first step, for display and programs.
struct TrainerSetup {
  Report planned;                     // the verifier's
  ArenaReport arena;                  // the verifier's, of the addresses
  MemoryMap map;                      // RAM
  std::vector<PlannedFigures> plans;  // all between which the run may switch, the present one included
  std::size_t plan = 0;               // index of the present one
  std::string data;                   // description of the training data
  std::string validation;             // description of the validation data; empty: none
  Bytes validation_arena{};           // the part of the arena that validation uses
  std::string kernels;
  bool goes_on = false;     // resumes from the page file of another run
  std::int64_t seeded = 0;  // number of parameters with seeded initial values
  /// The settings that differ from those of the resumed checkpoint and change the bits.
  std::vector<std::string> notices;
};

/// The storage that a trainer pages to.
struct PagingSetup {
  std::string storage;  // empty: nothing is paged
  bool in_ram = false;  // its file system is in RAM: paging saves nothing
  Bytes size{};         // of the file
  Bytes record{};       // written after each step, for resuming; 0: the run cannot be resumed
};

struct TrainOptions {
  std::int64_t steps = 1;  // total number at the end, including those before a resumption
  std::optional<std::filesystem::path> checkpoint{};  // written at the end and every `checkpoint_every` steps
  std::int64_t checkpoint_every = 0;                  // 0: only at the end
  /// Number of steps between validations; 0: none.
  std::int64_t validate_every = 0;
  /// File for a checkpoint whenever the validation loss is lower than all before.
  std::optional<std::filesystem::path> best{};
  /// Early stopping: ends the run after this many validations in a row without a lower loss; 0: never.
  std::int64_t stop_after = 0;
  std::function<void(const ValidationFigures& found)> on_validation{};  // may be empty
  /// Called after every step; may be empty.
  std::function<void(const StepFigures& done)> on_step{};
  /// Called before every step but the first one, with its number and the present plan, if there are several
  /// plans; requests a switch. May be empty.
  std::function<std::optional<PlanRequest>(std::int64_t step, std::size_t plan)> choose_plan{};
  /// Called after every switch, and every one declined for lack of memory; may be empty.
  std::function<void(const PlanChange& change)> on_plan{};
  /// Returns whether to stop after the current step; may be empty.
  std::function<bool()> interrupted{};
};

enum class TrainEnd {
  done,
  interrupted,
  no_better,   // `stop_after` validations in a row
  not_finite,  // the last loss or a parameter is not finite; the checkpoint before is kept
};

struct TrainResult {
  TrainEnd end = TrainEnd::done;
  std::string cause{};          // of the end `not_finite`, for display
  bool saved = false;           // a checkpoint was written
  bool best_saved = false;      // and one of the lowest validation loss
  std::int64_t first_step = 1;  // of the losses below
  std::vector<float> losses;    // of each step
  std::vector<ValidationFigures> validations;
  Measured measured;  // of the last Stretch
  std::vector<Stretch> stretches;
  std::vector<PlanChange> changes;  // switches that were made
  double wall_seconds = 0;          // all steps, checkpoints included
  std::optional<Joules> energy;     // of the machine during this time; absent: no sensor
  std::string energy_source;        // the sensor, or the reason for its absence
  Bytes resident_peak{};            // of the process, since it began
};

/// Trains with the computations, memory and transfers of a plan of device semantics. Deterministic to the bit
/// for the same plan, options and instruction set; keeping, paging or recomputing values does not change the
/// bits. To be used by one thread at a time. The first step starts a thread for transfers, if any, and
/// `kernels.threads` compute. All trainers of a process share the kernels' instruction set and threads.
///
/// If `storage` names a file and parameters are at home in it, every complete step is stored there. However
/// the trainer or the process ends, a trainer with `resume` continues from there, with the same bits.
class Trainer {
 public:
  /// Verifies the plan, allocates the memory, and reads weights and checkpoint. Throws InputError for an
  /// invalid plan, for lack of memory, and for options, files and data that do not fit the plan's graph.
  explicit Trainer(PlanFile file, const TrainerOptions& options = {});
  /// Trains by several plans; begins with that of `options.plan` or of the resumed page file.
  explicit Trainer(PlanFamily family, const TrainerOptions& options = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  Trainer(Trainer&&) = delete;
  Trainer& operator=(Trainer&&) = delete;

  /// Opens the page file, if any, and starts the transfer thread, as step() and train() do otherwise. Throws
  /// InputError as PageFile.
  void open_storage();
  /// Ends that thread and, unless parameters are at home in the file, closes the file until the next step.
  /// For callers that fork.
  void close_storage();

  /// Removes the page file at the end, so that it cannot be resumed.
  void discard_storage();

  /// Runs the next step. Throws the InputError of a failed transfer or data set; parameters may then be
  /// partly updated.
  StepFigures step();

  /// Validates the network after the last step. If the loss is lower than all before, a checkpoint replaces
  /// `best`, if given. Throws InputError as step() and write_checkpoint().
  ValidationFigures validate(const std::optional<std::filesystem::path>& best = {});
  /// Returns the number of consecutive validations without a lower loss up to the last step, for this
  /// interval of steps.
  [[nodiscard]] std::int64_t validations_since_best(std::int64_t every) const;
  /// Reads the lowest loss so far, which a page file does not have, from the checkpoint `best`, if it exists.
  void recall_best(const std::filesystem::path& best);

  /// Runs and measures steps until `options.steps` are done. Throws as step() and write_checkpoint(), and
  /// what a function of `options` throws. If that happens after a step and not in a change of plans, a
  /// checkpoint is written before, if it can be, and an InputError names it.
  TrainResult train(const TrainOptions& options);

  /// Changes to another plan of the family from the next step on; nothing of what is computed changes. All
  /// persistent values go to the page file, then the memory is released, then the other plan's is taken.
  /// Throws InputError before all that if the machine does not have the memory, and as PageFile.
  void change_plan(std::size_t plan);

  /// Writes a checkpoint to resume from. Throws InputError if it cannot be written.
  void save(const std::filesystem::path& checkpoint) const;

  /// Returns the plan; its graph has the hyperparameters that were chosen.
  [[nodiscard]] const PlanFile& file() const;
  [[nodiscard]] const TrainerSetup& setup() const;
  /// Returns the storage, which is empty until it has been opened.
  [[nodiscard]] const PagingSetup& paging() const;
  /// Returns the number of steps done, the seed and the last loss.
  [[nodiscard]] const RunState& state() const;
  /// Returns the schedule's learning rate of the update that a step does or adds to.
  [[nodiscard]] double learning_rate(std::int64_t step) const;
  /// Returns the contents of a parameter or other persistent value after the last step; they are valid until
  /// the next one. A paged value is copied into memory of its own. Throws InputError if the storage does not
  /// give it back.
  [[nodiscard]] const std::byte* persistent(ValueId v) const;
  /// Returns what in the data of the last step is infinite or no number: "'input' has nan at sample 3"; empty
  /// if nothing is.
  [[nodiscard]] std::string not_finite_data() const;
  /// Returns what the plan's steps became.
  [[nodiscard]] const Program& program() const;
  /// Returns the seconds that each of them took in the last training step, while the storage is open.
  [[nodiscard]] const std::vector<double>& seconds() const;

 private:
  struct State;
  class Run;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
