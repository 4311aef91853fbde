#include "poet/optimize/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "poet/optimize/heuristic/local_search.h"
#include "poet/optimize/heuristic/paging_search.h"
#include "poet/optimize/milp/neighbourhoods.h"

namespace poet {
namespace {

// Effort of the first round, in units independent of the clock; doubled from round to round.
constexpr long kWork = 20'000;  // simplex iterations of one MIP

// Solves the MIP restricted to decisions near the uses of values, the incumbent's, and `support`, those of a
// relaxation.
bool search_around_uses(Search& search, int width, const Decisions& support, std::set<int>& exact_stages,
                        long work) {
  Columns columns = just_in_time_columns(search.problem(), 1 + width, width);
  if (search.problem().transfers_take_time()) {  // hiding a transfer may require an early start
    constexpr int kEarly = 4;
    merge(columns, just_in_time_columns(search.problem(), 0, width + kEarly).allowed);
  }
  merge(columns, support);
  if (search.has_incumbent()) merge(columns, search.incumbent().decisions);
  search.enter(fmt::format("restricted MIP, width {}", width));
  return search_restricted(search, columns, exact_stages, work);
}

}  // namespace

FullModel::FullModel(Search& search) : search_(search) {
  const Problem& p = search.problem();
  const bool anytime = !p.transfers_take_ram() || estimated_full_columns(p, false) > kMostFullColumns / 4;
  size_ = estimated_full_columns(p, anytime);
  if (size_ > kMostFullColumns) return;
  columns_ = full_columns(p);
  columns_.page_out_anytime = anytime;
}

bool FullModel::is_small() const {
  constexpr long kSmallModel = 5'000;
  return size_ <= kSmallModel;
}

bool FullModel::go_on(long work, std::set<int>& exact_stages) {
  if (finished_ || size_ > kMostFullColumns) return false;
  if (!root_) {
    search_.enter("root relaxation");
    root_ = solve_root(search_, columns_);
    search_.root_infeasible = root_->lp.status == LpStatus::infeasible;
    if (search_.root_infeasible) finished_ = true;
    if (search_.done() || finished_) return !finished_;
    if (root_->lp.status == LpStatus::optimal)
      search_around_uses(search_, 0, root_->support, exact_stages, work);
  }
  search_.enter("branch and cut");
  finished_ = !search_.done() && prove(search_, columns_, *root_, exact_stages, work);
  return !finished_;
}

Rounds::Rounds(Search& search, Heuristics& heuristics)
    : search_(search), heuristics_(heuristics), windows_(search), clauses_(search), full_(search) {}

bool Rounds::go_on() {
  constexpr int kFruitlessRounds = 3;
  if (ended_ || search_.bound_done() || fruitless_ >= kFruitlessRounds) return false;
  ended_ = !one_round();
  ++round_;
  return true;
}

// Some slices, as long as each pays.
void Rounds::learn_clauses(int doublings) {
  constexpr int kSlices = 8;
  constexpr double kEffort = 0.5;   // of a slice of the first round
  constexpr double kWorthIt = 0.1;  // least improvement, relative to the open gap
  for (int slice = 0; slice < kSlices; ++slice) {
    const double bound = search_.bound();
    const bool has_more = clauses_.go_on(kEffort * static_cast<double>(1L << doublings));
    if (!has_more || search_.bound() - bound < kWorthIt * (search_.best_joules() - bound)) break;
  }
}

// Returns false if it was the last.
bool Rounds::one_round() {
  constexpr double kWorthARound = 0.1;  // least improvement, relative to the open gap
  const Problem& p = search_.problem();
  const bool staged_proven = search_.staged_proven();
  const double bound = search_.bound();
  const double staged_bound = search_.staged_bound();
  const double best = search_.best_joules();
  const int doublings = std::min(round_, 20);
  const long work = kWork << doublings;
  const auto seed = static_cast<unsigned>(round_) + 1;
  if (!p.paging) heuristics_.go_on(doublings, seed);  // better incumbents make the trees smaller
  if (search_.options().tightenings.windows) learn_clauses(doublings);
  const bool more_windows = search_.options().tightenings.windows && windows_.run(work, exact_stages_);
  search_.go_on_synchronously(doublings, seed);
  if (staged_proven) {
    const bool rises = search_.bound() - bound >= kWorthARound * (search_.best_joules() - bound);
    return search_.best_joules() < best || (more_windows && rises);
  }
  if (round_ == 0 && !search_.done()) search_paging_only(search_, evaluations_of_local_search(p) / 4, work);
  const bool more_model = !search_.done() && (full_.is_small() || (round_ > 0 && !more_windows)) &&
                          full_.go_on(5 * work, exact_stages_);
  if (search_.done()) return true;
  if (!search_.synchronous_leads() || !more_windows) {
    if (p.paging) heuristics_.go_on(doublings, seed);
    search_around_uses(search_, std::min(round_, 3), no_decisions(p), exact_stages_, work);
    search_.enter("large neighbourhood search");
    search_neighbourhoods(search_, 2, seed, exact_stages_, work / 2);
  }
  if (search_.bound() > bound || search_.staged_bound() > staged_bound || search_.best_joules() < best)
    fruitless_ = 0;
  else if (full_.is_exhausted())
    return false;
  else if (!more_windows && !more_model)
    ++fruitless_;
  return true;
}

}  // namespace poet
