#include "poet/runtime/training/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "poet/base/amounts.h"
#include "poet/runtime/training/hyperparameters.h"

namespace poet::runtime {
namespace {

/// Returns a note on the last steps if their gradients have not updated the parameters yet; else empty.
std::string update_note(const Graph& training, const RunSummary& run) {
  const std::int64_t every = steps_per_update(training);
  const std::int64_t last = run.state.step;
  const std::int64_t left = last % every;
  if (left == 0 || last < run.first_step) return "";
  const bool none = last / every == (run.first_step - 1) / every;
  std::string text =
      none ? fmt::format(
                 "no update was done: `accumulate` {} updates after every {} steps, and {} of them "
                 "{} done",
                 every, every, left, left == 1 ? "is" : "are")
           : fmt::format("the last {} did no update: `accumulate` {} updates after every {}",
                         counted(left, "step"), every, every);
  if (run.saved)
    text += "; the checkpoint has the sum of their gradients, for `resume`";
  else if (run.resumable)
    text += "; the page file has the sum of their gradients, for `resume`";
  else if (!run.saves)
    text += "; without `checkpoint` the sum of their gradients is gone";
  return text;
}

/// Returns a note if sums over parts of operators are in an order of their own, which decides last bits; else
/// empty.
std::string parts_note(const Graph& training, const KernelOptions& kernels) {
  if (parts_sum_as_whole(kernels)) return "";
  const bool sums = std::any_of(training.ops.begin(), training.ops.end(),
                                [](const Op& op) { return op.attributes.contains("accumulate"); });
  if (!sums) return "";
  return "with these kernels, operators in parts (`split`) sum in another order than whole ones, so last "
         "bits differ from runs without parts; with `kernels` reference they do not";
}

/// Returns why `best` was not written; empty if it was, or was not asked for.
std::string best_note(const RunSummary& run) {
  if (!run.best || run.best_saved) return "";
  const std::string text = fmt::format("`best` {} was not written: ", run.best->string());
  if (run.validations.empty())
    return text + fmt::format("the network is measured after every {}, and the run ended before",
                              counted(run.validate_every, "step"));
  if (run.state.best_step >= 0)
    return text + fmt::format("no validation had a lower loss than the {:.4g} after step {}",
                              run.state.best_loss, format_count(run.state.best_step));
  const bool any = std::any_of(run.validations.begin(), run.validations.end(),
                               [](const auto& one) { return std::isfinite(one.loss); });
  return text + (any ? "a parameter was not finite" : "the loss of no validation was a finite number");
}

}  // namespace

std::vector<std::string> notes_of(const Graph& training, const RunSummary& run) {
  std::vector<std::string> notes = run.notices;
  for (std::string note : {parts_note(training, run.kernels), update_note(training, run), best_note(run)})
    if (!note.empty()) notes.push_back(std::move(note));
  return notes;
}

std::string not_finite_text(float loss) { return std::isnan(loss) ? "nan" : fmt::format("{}", loss); }

std::string not_finite_note(const Graph& training, const RunState& state, std::string_view cause) {
  constexpr const char* kSmaller = "; try a smaller `learning_rate`";
  if (std::isfinite(state.loss))
    return fmt::format("after step {} a parameter is not finite", format_count(state.step)) + kSmaller;
  const std::string text =
      fmt::format("at step {} the loss is {}", format_count(state.step), not_finite_text(state.loss));
  if (!cause.empty()) return fmt::format("{}: {}", text, cause);
  // Before the first update the learning rate has had no effect yet.
  const bool before_any_update = state.step <= steps_per_update(training);
  if (!before_any_update) return text + kSmaller;
  const bool of_probabilities = std::any_of(training.ops.begin(), training.ops.end(),
                                            [](const Op& op) { return op.kind == "bce_loss"; });
  if (of_probabilities)
    return text + ": `loss` bce takes probabilities, from 0 to 1; of other numbers there is bce-with-logits";
  return text +
         ", before any update, although data and weights are finite: check the network and their scale";
}

}  // namespace poet::runtime
