#pragma once

// One training run of a plan as the program shows it.

#include <exception>
#include <functional>

#include "apps/shared/training/options.h"
#include "poet/runtime/training/trainer.h"

namespace poet::cli {

struct Session {
  PlanFile file;  // with the hyperparameters chosen
  runtime::TrainerSetup setup;
  runtime::PagingSetup paging;
  runtime::TrainResult result;
  runtime::RunState state;        // after the last step
  std::exception_ptr unfinished;  // what `finish` threw, after training that is not to be lost
};

/// Of the process at its peak, what is neither arena nor persistent values: the program and its libraries.
[[nodiscard]] inline Bytes outside_plan(const Session& session) {
  return session.result.resident_peak - session.setup.map.arena - session.setup.map.persistent;
}

/// Throws InputError where the checkpoint to resume has done the steps.
void check_steps(const RunChoice& training);

/// Sees the trained weights, after everything was measured; not called when they are not finite. May be
/// empty.
using Finish = std::function<void(const runtime::Trainer& trainer)>;

/// Trains. Progress goes to stderr unless `quiet`; Ctrl-C ends the run after the step under way. Throws
/// InputError as the trainer and check_steps().
[[nodiscard]] Session run_session(PlanFile file, const RunChoice& training, bool quiet,
                                  const Finish& finish = {});

}  // namespace poet::cli
