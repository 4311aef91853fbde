#pragma once

// Training by a plan on this machine: a plan, weights and data in; steps, losses and what they took out.
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

/// That a run goes over to another plan of its family (plan/file/plan_family.h).
struct PlanRequest {
  std::size_t plan = 0;
  std::string reason;  // for people
};

struct PlanChange {
  std::int64_t step = 0;  // the first by the other plan
  std::size_t from = 0;
  std::size_t to = 0;
  std::string reason;
  std::string declined;  // why it was not carried out; empty: it was
  Seconds took{};
};

/// Steps by one plan, one after the other.
struct Stretch {
  std::size_t plan = 0;
  std::int64_t first_step = 1;
  std::int64_t steps = 0;
  MemoryMap map;  // RAM
  Measured measured;
  Bytes process_peak{};  // in it; where the system does not tell, since the process began
};

/// Of a plan, by the verifier.
struct PlannedFigures {
  Limits limits;
  Report report;
  ArenaReport arena;
  Bytes persistent{};  // resident
};

/// What a trainer found and made before its first step, for people and programs.
struct TrainerSetup {
  Report planned;                     // the verifier's
  ArenaReport arena;                  // the verifier's, of the addresses
  MemoryMap map;                      // RAM
  std::vector<PlannedFigures> plans;  // all that the run may go over to, the present one included
  std::size_t plan = 0;               // of these the present one
  std::string data;                   // what it trains on
  std::string validation;             // what it is measured on; empty: nothing
  Bytes validation_arena{};           // of the arena, what that works in
  std::string kernels;
  bool goes_on = false;              // from the page file that another run has left
  std::int64_t seeded = 0;           // parameters that began with seeded numbers
  std::vector<std::string> notices;  // what else the resumed checkpoint was made with: other bits follow
};

/// Of the storage that a trainer pages to.
struct PagingSetup {
  std::string storage;  // empty: nothing is paged
  bool in_ram = false;  // its file system is: paging saves nothing
  Bytes size{};         // of the file
  Bytes record{};       // written to it after each step, for a run that goes on; 0: no other can
};

struct TrainOptions {
  std::int64_t steps = 1;                             // to have been done at the end, those before included
  std::optional<std::filesystem::path> checkpoint{};  // written at the end, and every so many steps
  std::int64_t checkpoint_every = 0;                  // 0: only at the end
  /// After every so many steps the network is measured on the validation's data; 0: never.
  std::int64_t validate_every = 0;
  /// Where a checkpoint goes whenever that loss is lower than all before.
  std::optional<std::filesystem::path> best{};
  /// The run ends when so many validations in a row were not lower; 0: it does not.
  std::int64_t stop_after = 0;
  std::function<void(const ValidationFigures& found)> on_validation{};  // may be empty
  /// After every step; may be empty.
  std::function<void(const StepFigures& done)> on_step{};
  /// Asked before every step but the first of all, with its number and the present plan, where there are
  /// several: whether to go over to another one. May be empty.
  std::function<std::optional<PlanRequest>(std::int64_t step, std::size_t plan)> choose_plan{};
  /// After every change of plan, and every one that was declined as the machine does not have the memory; may
  /// be empty.
  std::function<void(const PlanChange& change)> on_plan{};
  /// Whether to stop after the step under way; may be empty.
  std::function<bool()> interrupted{};
};

enum class TrainEnd {
  done,
  interrupted,
  no_better,   // `stop_after` validations in a row
  not_finite,  // the last loss or a parameter is infinite or not a number; the checkpoint before it stays
};

struct TrainResult {
  TrainEnd end = TrainEnd::done;
  std::string cause{};          // of an end that is `not_finite`, for people
  bool saved = false;           // a checkpoint was written
  bool best_saved = false;      // and one of the lowest loss on the validation's data
  std::int64_t first_step = 1;  // of those that follow
  std::vector<float> losses;    // of each step
  std::vector<ValidationFigures> validations;
  Measured measured;  // of the last stretch
  std::vector<Stretch> stretches;
  std::vector<PlanChange> changes;  // that were carried out
  double wall_seconds = 0;          // all steps, checkpoints included
  std::optional<Joules> energy;     // of the machine in this time; absent: no sensor
  std::string energy_source;        // the sensor, or why there is none
  Bytes resident_peak{};            // of the process, since it began
};

/// Where `storage` names a file in which parameters are at home, every step is on it once it is complete:
/// however this or the process ends, a trainer with `resume` goes on from there, with the same bits.
///
/// Trains with the mathematics, the memory and the transfers of a plan by a device's rules. Same plan,
/// options and instruction set, same bits; how the plan keeps, pages or recomputes changes none of them.
/// For one thread at a time. Until the first step there is no thread but the caller's; then one carries out
/// transfers, if any, and `kernels.threads` compute. The kernels' instruction set and threads are the
/// process's: one choice for all trainers that it has.
class Trainer {
 public:
  /// Checks the plan with the verifier, takes the memory, and reads weights and checkpoint. Throws InputError
  /// for a plan that breaks a rule, for memory that the machine does not have, and for options, files and
  /// data that do not fit the plan's graph.
  explicit Trainer(PlanFile file, const TrainerOptions& options = {});
  /// By several plans: at first the one that `options.plan` says, or the page file that is resumed.
  explicit Trainer(PlanFamily family, const TrainerOptions& options = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  Trainer(Trainer&&) = delete;
  Trainer& operator=(Trainer&&) = delete;

  /// Opens the file that is paged to, if any, and starts the thread that transfers: what step() and train()
  /// do otherwise. Throws InputError as PageFile.
  void open_storage();
  /// Ends that thread and, unless parameters are at home on it, lets the file go, until the next step: for
  /// whoever forks.
  void close_storage();

  /// Nobody is to go on from the page file: it is removed at the end.
  void discard_storage();

  /// The next step. Throws the InputError of a transfer or a data set that failed; parameters may then be
  /// half updated.
  StepFigures step();

  /// Measures the network as it is after the last step, on the validation's data. Where the loss is lower
  /// than all before, a checkpoint replaces `best`, if it is there. Throws InputError as step() and
  /// write_checkpoint().
  ValidationFigures validate(const std::optional<std::filesystem::path>& best = {});
  /// Where validations come after every so many steps: how many in a row were not lower, up to the last step.
  [[nodiscard]] std::int64_t validations_since_best(std::int64_t every) const;
  /// What a page file does not tell: the lowest loss before, by the checkpoint `best`, where it is there.
  void recall_best(const std::filesystem::path& best);

  /// Steps until `options.steps` are done, measured. Throws as step() and write_checkpoint(), and what a
  /// function of `options` throws. Where that happens after a step, not in a change of plans, a checkpoint
  /// that can be written is written before, and an InputError names it.
  TrainResult train(const TrainOptions& options);

  /// From the next step on by another plan of the family; nothing of what is computed changes. All persistent
  /// values go to the page file, then the memory is released before the other plan's is taken. Throws
  /// InputError before that where the machine does not have the memory, and as PageFile.
  void change_plan(std::size_t plan);

  /// A checkpoint to resume from. Throws InputError when it cannot be written.
  void save(const std::filesystem::path& checkpoint) const;

  /// The plan, its graph with the hyperparameters chosen.
  [[nodiscard]] const PlanFile& file() const;
  [[nodiscard]] const TrainerSetup& setup() const;
  /// Nothing before the storage was opened.
  [[nodiscard]] const PagingSetup& paging() const;
  /// Steps done, seed, the last loss.
  [[nodiscard]] const RunState& state() const;
  /// Of the update that a step does or adds to, by the schedule.
  [[nodiscard]] double learning_rate(std::int64_t step) const;
  /// The contents of a parameter or other persistent value, after the last step and until the next one. Of a
  /// paged one a copy is made in memory of its own. Throws InputError when the storage does not give it back.
  [[nodiscard]] const std::byte* persistent(ValueId v) const;
  /// What in the data of the last step is infinite or no number: "'input' has nan at sample 3". Empty:
  /// nothing.
  [[nodiscard]] std::string not_finite_data() const;
  /// What the plan's steps became, and the seconds that each took in the last training step (while the
  /// storage is open).
  [[nodiscard]] const Program& program() const;
  [[nodiscard]] const std::vector<double>& seconds() const;

 private:
  struct State;
  class Run;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
