#include "poet/optimize/search.h"

#include <algorithm>
#include <cmath>

#include "poet/optimize/model.h"
#include "poet/optimize/retime.h"

namespace poet {

Search::Search(const Problem& problem, const SolveOptions& options)
    : problem_(problem),
      options_(options),
      start_(std::chrono::steady_clock::now()),
      bound_(problem.baseline_joules) {}

bool Search::offer(const Candidate& proposed) {
  const Candidate candidate = retime(problem_, proposed, [this] { return must_stop(); });
  if (!candidate.within(problem_)) return false;
  if (incumbent_ && candidate.joules >= incumbent_->joules) return false;
  if (!incumbent_) seconds_to_incumbent = elapsed();
  incumbent_ = candidate;
  report(bound_);
  return true;
}

void Search::raise_bound(double joules) {
  if (joules <= bound_) return;
  bound_ = joules;
  report(bound_);
}

double Search::gap() const {
  double best = incumbent_ ? incumbent_->joules : kInfinity;
  if (options_.known_joules) best = std::min(best, *options_.known_joules);
  if (best == kInfinity) return kInfinity;
  const double open = best - bound_;
  if (open <= 1e-9 * problem_.baseline_joules) return 0;
  return open / (best - problem_.baseline_joules);
}

double Search::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Search::interrupted() const { return options_.interrupted && options_.interrupted(); }

bool Search::must_stop() const { return remaining() <= 0 || interrupted(); }

void Search::enter(const std::string& phase) {
  phase_ = phase;
  report(bound_);
}

void Search::report(double bound_joules) const {
  if (!options_.on_progress) return;
  Progress progress;
  progress.phase = phase_;
  const double bound = std::max(bound_, bound_joules);
  progress.bound_joules = bound;
  std::optional<double> best = options_.known_joules;
  if (incumbent_) best = std::min(incumbent_->joules, best.value_or(incumbent_->joules));
  if (best) {
    progress.incumbent_joules = best;
    progress.bound_joules = std::min(bound, *best);
  }
  progress.elapsed_seconds = elapsed();
  options_.on_progress(progress);
}

}  // namespace poet
