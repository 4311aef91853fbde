#include "apps/shared/training/session.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "apps/shared/interrupt.h"
#include "apps/shared/training/progress.h"
#include "poet/base/error.h"

namespace poet::cli {
namespace {

runtime::TrainResult train(runtime::Trainer& trainer, const RunChoice& training, bool quiet) {
  const InterruptGuard guard("stopping after this step");  // before the trainer's threads
  TrainingProgress progress(quiet ? nullptr : stderr, trainer.state().step + 1, training.steps);
  runtime::TrainOptions options;
  options.steps = training.steps;
  options.checkpoint = training.checkpoint;
  options.checkpoint_every = training.checkpoint_every;
  options.interrupted = [&guard] { return guard.interrupted(); };
  options.on_step = [&progress](const runtime::StepFigures& done) { progress.show(done); };
  return trainer.train(options);
}

}  // namespace

void check_steps(const RunChoice& training) {
  const std::int64_t done = runtime::first_state(training.trainer).step;
  if (done >= training.steps)
    throw InputError(Field{"steps"}, fmt::format("must be above {}, the steps that {} has done", done,
                                                 training.trainer.resume->string()));
}

Session run_session(PlanFile file, const RunChoice& training, bool quiet, const Finish& finish) {
  check_steps(training);
  runtime::Trainer trainer(std::move(file), training.trainer);
  Session session;
  session.result = train(trainer, training, quiet);
  session.file = trainer.file();
  session.setup = trainer.setup();
  session.paging = trainer.paging();
  session.state = trainer.state();
  trainer.close_storage();  // no thread of ours is left but this one; those of OpenMP wait for work
  if (!finish || session.result.end == runtime::TrainEnd::not_finite) return session;
  try {
    finish(trainer);
  } catch (...) {
    session.unfinished = std::current_exception();
  }
  return session;
}

}  // namespace poet::cli
