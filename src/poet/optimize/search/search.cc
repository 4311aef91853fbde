#include "poet/optimize/search/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/certificate.h"
#include "poet/optimize/heuristic/retime.h"

namespace poet {

Search::Search(const Problem& problem, SolveOptions options, Stop stop)
    : problem_(problem),
      options_(std::move(options)),
      stop_(std::move(stop)),
      bound_(problem.baseline_joules),
      staged_bound_(problem.baseline_joules) {}

bool Search::offer(Candidate candidate) {
  candidate = retime(problem_, std::move(candidate), [this] { return must_stop(); });
  if (!candidate.within(problem_)) return false;
  if (incumbent_ && candidate.joules >= incumbent_->joules) return false;
  if (!incumbent_) seconds_to_incumbent = elapsed();
  incumbent_ = std::move(candidate);
  to_plan_ = true;
  report();
  return true;
}

bool Search::offer(Sequence sequence) {
  if (!accepts_sequences_ || !sequence.within(problem_) || sequence.joules >= best_joules()) return false;
  know(sequence.joules);
  sequence_ = std::move(sequence);
  report();
  return true;
}

void Search::plan_transfers_now() {
  if (plans_ == nullptr || !to_plan_) return;
  plans_->consider(*incumbent_);
  to_plan_ = false;
}

void Search::follow_synchronously(const Decisions& decided, const std::vector<GapMode>& modes) {
  if (synchronous_ == nullptr || bound_done()) return;
  enter("synchronous paging");
  if (synchronous_->follow(decided, modes, [this] { return bound_done(); })) report();
}

void Search::go_on_synchronously(int doublings, std::uint64_t seed) {
  if (synchronous_ == nullptr || bound_done()) return;
  enter("synchronous paging");
  if (synchronous_->go_on(doublings, seed, [this] { return bound_done(); })) report();
}

void Search::raise_bound(double joules) {
  if (joules <= bound_) return;
  bound_ = joules;
  report();
}

void Search::raise_staged_bound(double joules) { staged_bound_ = std::max(staged_bound_, joules); }

double Search::staged_joules() const {
  const double planned = plans_ != nullptr && plans_->best() ? plans_->best()->energy.value() : kInfinity;
  return std::min(incumbent_ ? incumbent_->joules : kInfinity, planned);
}

double Search::synchronous_joules() const {
  return synchronous_ != nullptr && synchronous_->best() ? synchronous_->best()->energy.value() : kInfinity;
}

bool Search::synchronous_leads() const { return synchronous_joules() < staged_joules(); }

double Search::best_joules() const { return std::min({staged_joules(), synchronous_joules(), known_}); }

double Search::gap_to(double bound) const {
  const double best = best_joules();
  return best == kInfinity ? kInfinity : overhead_gap(best, bound, problem_.baseline_joules);
}

void Search::enter(const std::string& phase) {
  plan_transfers_now();
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
