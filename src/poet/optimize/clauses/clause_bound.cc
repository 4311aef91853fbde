#include "poet/optimize/clauses/clause_bound.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/sequence.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

constexpr double kStepsPerSecond = 1e8;
constexpr double kSecondsPerState = 1e-6;
constexpr std::int64_t kFirstPatience = 20'000'000;
constexpr std::int64_t kNoAnswer = std::numeric_limits<std::int64_t>::max();

// The stages from the first to the last in which RAM cannot hold everything that is still to be read.
std::vector<int> stages_of_pressure(const Problem& p) {
  const std::vector<std::int64_t> ram = complete(p, no_decisions(p)).stage_peak;
  std::vector<int> over, all;
  for (int t = 0; t < p.ops; ++t)
    if (ram[at(t)] > p.budget) over.push_back(t);
  if (!over.empty())
    for (int t = over.front(); t <= over.back(); ++t) all.push_back(t);
  return all;
}

}  // namespace

ClauseBound::ClauseBound(Search& search)
    : search_(search), p_(search.problem()), answered_(kNoAnswer), patience_(kFirstPatience) {
  ended_ = p_.paging || !p_.residents.empty();
}

bool ClauseBound::go_on(double effort) {
  if (ended_ || search_.bound_done() || search_.best_joules() == kInfinity) return false;
  search_.enter("clause learning");
  const double end = search_.effort + effort;
  if (!model_) build(stages_of_pressure(p_));
  while (!ended_ && !search_.bound_done() && search_.effort < end) try_next_limit();
  return !ended_;
}

// Ends the search where there is nothing to build, or too much.
void ClauseBound::build(std::vector<int> breakpoints) {
  constexpr int kPaid = 3;
  constexpr std::size_t kMostTerms = 4'000'000;
  constexpr double kSecondsPerTerm = 2e-8;
  const std::size_t terms = breakpoints.size() * at(p_.ops) * at(p_.values);
  ended_ = breakpoints.empty() || terms > kMostTerms;
  if (ended_) return;
  windows_.emplace(p_, std::move(breakpoints));
  model_.emplace(build_window_clauses(p_, *windows_, kPaid));
  search_.effort += kSecondsPerTerm * static_cast<double>(terms);
  answered_ = kNoAnswer;
  limits_.clear();
}

// The limit on the cost rises by a step that is doubled after a proof, and halved where none is found.
void ClauseBound::try_next_limit() {
  constexpr std::int64_t kLeastSteps = 200;  // to what is wanted
  proven_ = std::max(proven_, cost_of(search_.bound()));
  const std::int64_t wanted = std::min(answered_, cost_of(joules_wanted()) + 1);
  ended_ = proven_ >= wanted;
  if (ended_) return;
  const std::int64_t least = std::max<std::int64_t>(1, wanted / kLeastSteps);
  if (step_ == 0) step_ = (wanted - proven_) / 4;
  step_ = std::max(step_, least);
  std::int64_t most = proven_ + step_;
  if (most > wanted - least) most = wanted - 1;
  const Satisfiable answer = solve_within(most);
  if (answer == Satisfiable::yes) return use_answer();
  if (answer == Satisfiable::gave_up) {
    if (step_ > least)
      step_ /= 2;
    else
      patience_ *= 2;
    return;
  }
  step_ *= 2;
  proven_ = most + 1;
  const double overhead = static_cast<double>(proven_) * model_->joules_per_cost;
  search_.raise_bound(p_.baseline_joules + overhead * (1 - 1e-9));
}

Satisfiable ClauseBound::solve_within(std::int64_t most) {
  ClauseSolver& solver = *model_->solver;
  const Literal limit = limit_of(most);
  const std::int64_t before = solver.effort(), conflicts = solver.conflicts();
  const Satisfiable answer = solver.solve(limit, patience_, search_.stop(), [this] {
    answer_ = check_answer(p_, *windows_, *model_);
    search_.effort += kSecondsPerState * static_cast<double>(answer_.states);
    return answer_.broken;
  });
  search_.effort += static_cast<double>(solver.effort() - before) / kStepsPerSecond;
  search_.nodes += static_cast<long>(solver.conflicts() - conflicts);
  if (answer != Satisfiable::no) return answer;
  while (!limits_.empty() && limits_.begin()->first <= most) {
    solver.add_clause({~limits_.begin()->second});
    limits_.erase(limits_.begin());
  }
  return answer;
}

// Returns the literal that says that no more is spent. Who spends less than a limit spends less than a higher
// one.
Literal ClauseBound::limit_of(std::int64_t most) {
  ClauseSolver& solver = *model_->solver;
  const auto [place, is_new] = limits_.try_emplace(most);
  if (!is_new) return place->second;
  const Literal limit = place->second = Literal::of(solver.add_variable(true, 0));
  solver.add_at_most(model_->cost, most, ~limit);
  if (place != limits_.begin()) solver.add_clause({~std::prev(place)->second, limit});
  if (std::next(place) != limits_.end()) solver.add_clause({~limit, std::next(place)->second});
  return limit;
}

// An answer may be a plan. Where it overflows in a window of several stages, these become windows of their
// own.
void ClauseBound::use_answer() {
  answered_ = 0;
  for (const auto& [weight, literal] : model_->cost)
    if (model_->solver->is_true(literal)) answered_ += weight;
  Sequence sequence = measured(p_, ops_of_answer(p_, *windows_, *model_, answer_));
  Decisions decisions = no_decisions(p_);
  std::vector<int> breakpoints = windows_->breakpoints();
  int stage = 0;
  for (std::size_t i = 0; i < sequence.ops.size(); ++i) {
    if (sequence.ram[i] > p_.budget) {
      insert_sorted(breakpoints, std::max(0, stage - 1));
      insert_sorted(breakpoints, stage);
    }
    if (sequence.ops[i] == stage)
      ++stage;
    else
      insert_sorted(decisions.recompute[at(stage)], sequence.ops[i]);
  }
  search_.offer(complete(p_, decisions));
  search_.offer(std::move(sequence));
  if (breakpoints.size() > windows_->breakpoints().size()) build(std::move(breakpoints));
}

// It suffices to prove that no plan is better than the best known by more than the requested gap.
double ClauseBound::joules_wanted() const {
  constexpr double kPartOfGap = 0.95;
  const double overhead = search_.best_joules() - p_.baseline_joules;
  return p_.baseline_joules + overhead * (1 - kPartOfGap * search_.options().gap);
}

std::int64_t ClauseBound::cost_of(double joules) const {
  return static_cast<std::int64_t>(std::floor((joules - p_.baseline_joules) / model_->joules_per_cost));
}

}  // namespace poet
