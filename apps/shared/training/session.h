#pragma once

// One training run of a plan as the program shows it.

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
  PlanFile file;  // with the hyperparameters chosen; of several plans the last one that it trained by
  runtime::TrainerSetup setup;
  runtime::PagingSetup paging;
  runtime::TrainResult result;
  std::vector<double> rates;                // the learning rate of each of its steps
  std::vector<std::optional<float>> norms;  // of the gradients in each; nothing where none are clipped
  std::vector<double> ends;                 // when each had ended, in seconds since the first began
  std::optional<SimulatedSteps> expected;   // of `file`, where it says how times vary
  runtime::RunState state;                  // after the last step
  std::filesystem::path storage;            // as named, or what is resumed
  bool resumable = false;                   // the page file stays, to be resumed
  std::vector<std::string> notes;           // notes.h
  std::exception_ptr unfinished;            // what `finish` threw, after training that is not to be lost
};

/// Of the process at its peak, since the last change of plan if there was one, what is neither arena nor
/// persistent values: the program and its libraries.
[[nodiscard]] inline Bytes outside_plan(const Session& session) {
  return session.result.stretches.back().process_peak - session.setup.map.arena -
         session.setup.map.persistent;
}

/// Throws InputError for options about changes of plan where there is one plan only.
void check_several(std::size_t plans, const RunChoice& training);

/// Throws InputError where what is resumed has done the steps; a page file may have done exactly these.
void check_steps(const RunChoice& training);

/// Sees the trained weights, after everything was measured; not called when they are not finite. May be
/// empty.
using Finish = std::function<void(const runtime::Trainer& trainer)>;

/// Trains. Progress goes to stderr unless `quiet`; Ctrl-C ends the run after the step under way. Throws
/// InputError as the trainer and check_steps().
/// Of several plans, as training.watch says.
[[nodiscard]] Session run_session(PlanFamily plans, const RunChoice& training, bool quiet,
                                  const Finish& finish = {});

}  // namespace poet::cli
