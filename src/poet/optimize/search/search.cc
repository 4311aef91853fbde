#include "poet/optimize/search/search.h"

#include <algorithm>
#include <cmath>

#include "poet/optimize/certificate.h"
#include "poet/optimize/heuristic/retime.h"
#include "poet/optimize/milp/model.h"

namespace poet {

Search::Search(const Problem& problem, const SolveOptions& options)
    : problem_(problem),
      options_(options),
      start_(std::chrono::steady_clock::now()),
      bound_(problem.baseline_joules),
      staged_bound_(problem.baseline_joules) {}

bool Search::offer(const Candidate& proposed) {
  const Candidate candidate = retime(problem_, proposed, [this] { return must_stop(); });
  if (!candidate.within(problem_)) return false;
  if (incumbent_ && candidate.joules >= incumbent_->joules) return false;
  if (!incumbent_) seconds_to_incumbent = elapsed();
  incumbent_ = candidate;
  report();
  return true;
}

void Search::raise_bound(double joules) {
  if (joules <= bound_) return;
  bound_ = joules;
  report();
}

void Search::raise_staged_bound(double joules) { staged_bound_ = std::max(staged_bound_, joules); }

double Search::best_joules() const {
  return std::min(incumbent_ ? incumbent_->joules : kInfinity, options_.known_joules.value_or(kInfinity));
}

double Search::gap_to(double bound) const {
  const double best = best_joules();
  return best == kInfinity ? kInfinity : overhead_gap(best, bound, problem_.baseline_joules);
}

double Search::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Search::interrupted() const { return options_.interrupted && options_.interrupted(); }

bool Search::must_stop() const { return remaining() <= 0 || interrupted(); }

void Search::enter(const std::string& phase) {
  phase_ = phase;
  report();
}

void Search::report() const {
  if (!options_.on_progress) return;
  Progress progress;
  progress.phase = phase_;
  progress.bound_joules = bound_;
  progress.staged_bound_joules = staged_bound();
  if (best_joules() < kInfinity) progress.incumbent_joules = best_joules();
  progress.elapsed_seconds = elapsed();
  options_.on_progress(progress);
}

}  // namespace poet
