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
  if (!incumbent_) return kInfinity;
  const double open = incumbent_->joules - bound_;
  if (open <= 1e-9 * problem_.baseline_joules) return 0;
  return open / (incumbent_->joules - problem_.baseline_joules);
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
  if (incumbent_) {
    progress.incumbent_joules = incumbent_->joules;
    progress.bound_joules = std::min(bound, incumbent_->joules);
  }
  progress.elapsed_seconds = elapsed();
  options_.on_progress(progress);
}

}  // namespace poet
