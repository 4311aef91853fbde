#pragma once

// What a Trainer has. Private to trainer*.cc and training_run.cc.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "poet/runtime/data/batches.h"
#include "poet/runtime/executor/executor.h"
#include "poet/runtime/executor/page_slots.h"
#include "poet/runtime/executor/persistent.h"
#include "poet/runtime/executor/step_log.h"
#include "poet/runtime/storage/left_run.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/training/finite_values.h"
#include "poet/runtime/training/start.h"
#include "poet/runtime/training/trainer.h"
#include "poet/runtime/training/validation.h"

namespace poet::runtime {

struct Trainer::State {
  TrainerSetup setup;
  PagingSetup paging;
  PlanFile file;                       // those below refer to it; by the present plan
  std::vector<FamilyPlan> plans;       // the others; the present one's place is empty
  std::vector<std::uint64_t> digests;  // of each
  PageSlots slots;                     // of all
  PageFileOptions storage;
  KernelOptions kernels;
  std::unique_ptr<Program> program;
  std::unique_ptr<PageFile> pages;  // open as long as values are at home there; else while the storage is
  std::unique_ptr<PersistentValues> persistent;
  Bytes room_for_record{};
  std::unique_ptr<StepLog> log;  // null where no other process could go on
  LearningRateSchedule schedule;
  std::int64_t steps_per_update = 1;
  RunState run;
  ChosenData data;
  std::unique_ptr<Batches> batches;
  std::vector<PlanFile> validation_plans;  // for each plan; empty: there is no validation
  ChosenData validation_data;
  std::unique_ptr<Validation> validation;  // by the present plan; null: none
  std::unique_ptr<Executor> executor;      // null until the storage is open
  bool failed = false;                     // in the step under way, or the last one
  bool unsaved = false;                    // has steps of another process that may be in no checkpoint

  State(PlanFamily family, const TrainerOptions& options);

  [[nodiscard]] bool has_several() const { return plans.size() > 1; }
  /// Values that have homes are there even while no step runs.
  [[nodiscard]] bool keeps_pages() const { return slots.has_homes || has_several(); }

  /// Every plan by the verifier, and what page is whose.
  void judge();

  void use_plan(std::size_t number);
  void put_back();
  [[nodiscard]] Bytes memory_of(std::size_t number) const;
  [[nodiscard]] std::size_t largest_that_fits(std::size_t number) const;
  [[nodiscard]] std::size_t plan_left(const LeftRun& left) const;

  void start(const TrainerOptions& options, const std::map<std::string, std::string>& circumstances);

  /// Nothing is written before everything has been found to be as the last run left it.
  void go_on(const std::map<std::string, std::string>& circumstances);

  [[nodiscard]] StepRecord identity(std::uint64_t seed,
                                    const std::map<std::string, std::string>& circumstances) const;

  /// And how much room records take by any of the plans.
  [[nodiscard]] std::unique_ptr<StepLog> new_log(StepRecord record);

  void open_pages(PageFileUse use = PageFileUse::transient);

  /// In place of none. Throws InputError when the machine does not give the memory.
  void make_program(std::size_t number);

  /// For the present program, where there is one.
  void make_validation();

  /// Takes up where the program before has left.
  void fill_program(std::uint64_t records);

  /// Whether the machine has the memory, once that of the present plan is released; else why not. Kernels'
  /// workspace and what the budget leaves out are about the same by all plans.
  [[nodiscard]] std::optional<std::string> lacks_memory(std::size_t number) const;

  /// Why it stays with the present plan; nothing: it does not.
  std::optional<std::string> change_plan(std::size_t number);

  [[nodiscard]] double rate_factor_of(std::int64_t step) const {
    return rate_factor(schedule, (step - 1) / steps_per_update + 1);
  }

  [[nodiscard]] bool finite() const { return FiniteValues(file.instance.graph).hold(*persistent); }
};

}  // namespace poet::runtime
