#include "apps/shared/training/session.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include "apps/shared/interrupt.h"
#include "apps/shared/option_names.h"
#include "apps/shared/training/event_file.h"
#include "apps/shared/training/loss_file.h"
#include "apps/shared/training/plan_choice.h"
#include "apps/shared/training/progress.h"
#include "poet/base/error.h"
#include "poet/runtime/training/notes.h"

namespace poet::cli {
namespace {

/// Into `session`, which has no result yet. Where that fails, it has losses and validations so far.
void train(runtime::Trainer& trainer, PlanChoice& choice, const RunChoice& training, bool quiet,
           Session& session) {
  const InterruptGuard guard("stopping after this step");  // before the trainer's threads
  TrainingProgress progress(quiet ? nullptr : stderr, trainer.state().step + 1, training.steps);
  runtime::TrainOptions options;
  options.steps = training.steps;
  options.checkpoint = training.checkpoint;
  options.checkpoint_every = training.checkpoint_every;
  options.validate_every = training.validate_every;
  options.best = training.best;
  options.stop_after = training.stop_after;
  options.interrupted = [&guard] { return guard.interrupted(); };
  std::optional<EventFile> events;
  if (training.tensorboard) events.emplace(*training.tensorboard);
  const auto began = std::chrono::steady_clock::now();
  session.result.first_step = trainer.state().step + 1;
  options.on_step = [&](const runtime::StepFigures& done) {
    progress.show(done);
    const double rate = trainer.learning_rate(done.number);
    if (training.loss_out) {
      session.result.losses.push_back(done.loss);
      session.rates.push_back(rate);
      session.norms.push_back(done.gradient_norm);
      session.ends.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    }
    if (!events) return;
    Scalars scalars = {{"loss/train", done.loss}, {"learning_rate", static_cast<float>(rate)}};
    if (done.gradient_norm) scalars.emplace_back("gradient_norm", *done.gradient_norm);
    events->add(done.number, scalars);
  };
  options.on_validation = [&](const runtime::ValidationFigures& found) {
    progress.show(found);
    if (training.loss_out) session.result.validations.push_back(found);
    if (!events) return;
    Scalars scalars = {{"loss/validation", static_cast<float>(found.loss)}};
    if (found.accuracy) scalars.emplace_back("accuracy/validation", static_cast<float>(*found.accuracy));
    events->add(found.step, scalars);
  };
  choice.add_to(options, trainer);
  session.result = trainer.train(options);
  session.stopped_by = guard.signal();
}

/// Of a run that has failed: its losses, unless they cannot be written either.
void keep_losses(const runtime::Trainer& trainer, const RunChoice& training, Session& session) {
  if (!training.loss_out || session.result.losses.empty()) return;
  try {
    session.file = trainer.file();
    session.setup = trainer.setup();
    write_losses(session, *training.loss_out);
  } catch (const std::exception&) {  // what came first is what is told
  }
}

std::vector<std::string> notes_of(const Session& session, const RunChoice& training) {
  std::vector<std::string> notes =
      runtime::notes_of(session.file.instance.graph, {.kernels = training.trainer.kernels,
                                                      .notices = session.setup.notices,
                                                      .first_step = session.result.first_step,
                                                      .state = session.state,
                                                      .validate_every = training.validate_every,
                                                      .best = training.best,
                                                      .best_saved = session.result.best_saved,
                                                      .validations = session.result.validations,
                                                      .saves = training.checkpoint.has_value(),
                                                      .saved = session.result.saved,
                                                      .resumable = session.resumable});
  for (std::string& note : notes) note = with_option_names(std::move(note));
  return notes;
}

}  // namespace

void check_several(std::size_t plans, const RunChoice& training) {
  if (plans > 1 || training.given_for_watch.empty()) return;
  throw InputError(training.given_for_watch.front(),
                   "is for a file of several plans (--ram-budget 60MB,30MB); this is one");
}

void check_steps(const RunChoice& training) {
  const runtime::TrainerOptions& trainer = training.trainer;
  const std::int64_t done = runtime::first_state(trainer).step;
  // A run that was killed after its last step may have what follows it still to do.
  const bool may_be_all = runtime::goes_on_from_pages(trainer);
  if (done < training.steps || (may_be_all && done == training.steps)) return;
  throw InputError(Field{"steps"},
                   fmt::format("must be {} {}, the steps that {} has done", may_be_all ? "at least" : "above",
                               done, trainer.resume->string()));
}

Session run_session(PlanFamily plans, const RunChoice& training, bool quiet, const Finish& finish) {
  check_steps(training);
  check_several(plans.plans.size(), training);
  PlanChoice choice(plans, training, quiet);
  runtime::TrainerOptions options = training.trainer;
  options.plan = choice.first(runtime::first_state(options).step + 1);
  runtime::Trainer trainer(std::move(plans), options);
  Session session;
  session.storage = training.trainer.storage.where;
  try {
    train(trainer, choice, training, quiet, session);
  } catch (...) {
    keep_losses(trainer, training, session);
    throw;
  }
  session.file = trainer.file();
  if (session.file.instance.costs.timing.variation)
    session.expected = simulate(session.file.instance, session.file.plan);
  session.setup = trainer.setup();
  session.paging = trainer.paging();
  session.state = trainer.state();
  trainer.close_storage();  // no thread of ours is left but this one; those of OpenMP wait for work
  if (finish && session.result.end != runtime::TrainEnd::not_finite) {
    try {
      finish(trainer);
    } catch (...) {
      session.unfinished = std::current_exception();
    }
  }
  const bool is_over = session.result.end != runtime::TrainEnd::interrupted || session.result.saved;
  session.resumable = session.paging.record > Bytes(0) && (!is_over || session.unfinished);
  if (!session.resumable) trainer.discard_storage();
  session.notes = notes_of(session, training);
  return session;
}

}  // namespace poet::cli
