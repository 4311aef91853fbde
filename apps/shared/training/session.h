#pragma once

// A training run of a plan.

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/shared/training/options.h"
#include "poet/plan/timing/variation.h"
#include "poet/runtime/training/trainer.h"

namespace poet::cli {

struct Session {
  PlanFile file;  // with the chosen hyperparameters; with several plans, the last one used
  runtime::TrainerSetup setup;
  runtime::PagingSetup paging;
  runtime::TrainResult result;
  std::vector<double> rates;  // learning rate of each step
  /// The gradient norm of each update; nullopt in other steps, empty without clipping.
  std::vector<std::optional<float>> norms;
  std::vector<double> ends;                // end of each step, in seconds since the first began
  std::optional<SimulatedSteps> expected;  // of `file`, if it says how times vary
  runtime::RunState state;                 // after the last step
  std::filesystem::path storage;           // as named, or what is resumed
  bool resumable = false;                  // the page file is kept for --resume
  int stopped_by = 0;                      // the signal (interrupt.h) that ended it early; 0: none did
  std::vector<std::string> notes;          // runtime/training/notes.h, with option names
  std::exception_ptr unfinished;           // what `finish` threw, after training succeeded
};

/// Returns the process's peak memory, since the last change of plan if any, without arena and persistent
/// values: the program and its libraries.
[[nodiscard]] inline Bytes outside_plan(const Session& session) {
  return session.result.stretches.back().process_peak - session.setup.map.arena -
         session.setup.map.persistent;
}

/// Throws InputError for options of switching plans if there is only one plan.
void check_several(std::size_t plans, const RunChoice& training);

/// Throws InputError if the resumed run has already done the steps; a page file may have done exactly these.
void check_steps(const RunChoice& training);

/// Called with the trained weights after all measurements, unless they are not finite. May be empty.
using Finish = std::function<void(const runtime::Trainer& trainer)>;

/// Trains; with several plans, by those that training.watch selects. Progress goes to stderr unless `quiet`;
/// Ctrl-C ends the run after the current step. Throws InputError as the trainer and check_steps().
[[nodiscard]] Session run_session(PlanFamily plans, const RunChoice& training, bool quiet,
                                  const Finish& finish = {});

}  // namespace poet::cli
