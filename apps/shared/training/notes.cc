#include "apps/shared/training/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "poet/base/amounts.h"
#include "poet/runtime/training/hyperparameters.h"

namespace poet::cli {
namespace {

/// Steps at the end whose gradients have updated nothing yet (--accumulate); empty: there are none.
std::string update_note(const Session& session, const RunChoice& training) {
  const std::int64_t every = runtime::steps_per_update(session.file.instance.graph);
  const std::int64_t left = session.state.step % every;
  if (left == 0 || session.result.losses.empty()) return "";
  const bool none = session.state.step / every == (session.result.first_step - 1) / every;
  std::string text =
      none ? fmt::format(
                 "no update was done: --accumulate {} updates after every {} steps, and {} of them "
                 "{} done",
                 every, every, left, left == 1 ? "is" : "are")
           : fmt::format("the last {} did no update: --accumulate {} updates after every {}",
                         counted(left, "step"), every, every);
  if (session.result.saved)
    text += "; the checkpoint has the sum of their gradients, for --resume";
  else if (session.resumable)
    text += "; the page file has the sum of their gradients, for --resume";
  else
    text += training.checkpoint ? "" : "; without --checkpoint the sum of their gradients is gone";
  return text;
}

/// Sums over parts of operators, whose order decides their last bits; empty: there are none, or it does not.
std::string parts_note(const Session& session, const RunChoice& training) {
  if (runtime::parts_sum_as_whole(training.trainer.kernels)) return "";
  const auto& ops = session.file.instance.graph.ops;
  const bool sums =
      std::any_of(ops.begin(), ops.end(), [](const Op& op) { return op.attributes.contains("accumulate"); });
  if (!sums) return "";
  return "with these kernels, operators in parts (--split) sum in another order than whole ones, so last "
         "bits differ from runs without parts; with --kernels reference they do not";
}

/// Why --best was not written; empty: it was, or is not asked for.
std::string best_note(const Session& session, const RunChoice& training) {
  if (!training.best || session.result.best_saved) return "";
  const std::vector<runtime::ValidationFigures>& found = session.result.validations;
  const std::string text = fmt::format("--best {} was not written: ", training.best->string());
  if (found.empty())
    return text + fmt::format("the network is measured after every {}, and the run ended before",
                              counted(training.validate_every, "step"));
  if (session.state.best_step >= 0)
    return text + fmt::format("no validation had a lower loss than the {:.4g} after step {}",
                              session.state.best_loss, format_count(session.state.best_step));
  const bool any =
      std::any_of(found.begin(), found.end(), [](const auto& one) { return std::isfinite(one.loss); });
  return text + (any ? "a parameter was not finite" : "the loss of no validation was a finite number");
}

}  // namespace

std::vector<std::string> notes_of(const Session& session, const RunChoice& training) {
  std::vector<std::string> notes = session.setup.notices;
  for (std::string note :
       {parts_note(session, training), update_note(session, training), best_note(session, training)})
    if (!note.empty()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace poet::cli
