#include "poet/optimize/explain.h"

#include <algorithm>
#include <cmath>

#include "poet/base/time_shares.h"
#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/milp/branch.h"
#include "poet/optimize/relaxation/window_ram.h"

namespace poet {
namespace {

// Effort of the search for the least RAM, in simplex iterations.
constexpr long kProofWork = 100'000;

// Searches for the least RAM, in bytes of active values, at the given deadline. Offers the schedules that it
// finds to the search.
class LeastRam {
 public:
  explicit LeastRam(Search& search) : search_(search), p_(search.problem()) {
    for (int t = 0; t < p_.ops; ++t) proven_ = std::max(proven_, static_cast<double>(working_set(p_, t)));
  }

  void run(const Stop& stop) {
    if (stop()) return;
    learn(complete(p_, no_decisions(p_)));
    const Candidate lean = lean_schedule(p_, stop);
    learn(lean);
    if (stop()) return;
    const bool all = estimated_full_columns(p_, p_.semantics == Semantics::published) <= kMostColumns;
    if (!all && search_.root_infeasible) raise_by_full_relaxation(stop);
    const Columns columns = all ? full_columns(p_) : columns_near(lean);
    if (all || estimated_columns(p_, columns) <= kMostColumns) minimize(columns, all, stop);
  }

  /// The least peak of a replayed schedule: an upper bound.
  [[nodiscard]] const std::optional<std::int64_t>& known() const { return known_; }
  /// A lower bound on the peak of staged schedules.
  [[nodiscard]] double proven() const { return proven_; }

 private:
  static constexpr long kMostColumns = 60'000;

  void learn(const Candidate& c) {
    if (!p_.in_time(c.seconds) || c.bytes_written > p_.max_bytes_written) return;
    if (!known_ || c.peak < *known_) known_ = c.peak;
    search_.offer(c);
  }

  // Confirms an infeasible root relaxation by solving the same rows with the budget as the objective.
  void raise_by_full_relaxation(const Stop& stop) {
    TightOptions options;
    options.objective = Objective::ram;
    const TightModel tight = build_tight(p_, full_columns(p_), options);
    const LpResult lp = solve_lp(tight.model, stop.remaining(), stop, kProofWork);
    if (lp.status == LpStatus::optimal)
      proven_ = std::max(proven_, lp.objective * tight.ram_unit * (1 - 1e-7));
  }

  [[nodiscard]] Columns columns_near(const Candidate& lean) const {
    Columns columns = just_in_time_columns(p_, 2, 1);
    merge(columns, lean.decisions);
    return columns;
  }

  // Minimizes the budget over the columns, `all` or some, with lazy exact RAM rows.
  void minimize(const Columns& columns, bool all, const Stop& stop) {
    TightOptions options;
    options.objective = Objective::ram;
    options.tightenings = search_.options().tightenings;
    long work = kProofWork;
    while (!stop() && work > 0 && (!known_ || static_cast<double>(*known_) > proven_ + 0.5)) {
      const TightModel tight = build_tight(p_, columns, options);
      MipOptions mip_options;
      mip_options.time_limit_seconds = stop.remaining();
      mip_options.work_limit = work;
      mip_options.relative_gap = 1e-9;
      mip_options.solver = embedded(search_.options().solver);
      mip_options.keep_going = [&](double, double) { return !stop(); };
      search_.used_solver = true;
      const MipResult mip = solve_mip(tight.model, mip_options);
      work -= mip.work;
      // Keeping everything is feasible for the model, so "infeasible" would be numerical noise.
      if (all && mip.status != MipStatus::infeasible)
        proven_ = std::max(proven_, mip.bound * tight.ram_unit * (1 - 1e-9));
      if (mip.x.empty()) break;
      const Candidate candidate = complete(p_, tight.vars.decisions(p_, mip.x));
      learn(candidate);
      if (!add_exact_stages(candidate, mip.objective * tight.ram_unit, options)) break;
    }
  }

  // Adds exact rows for stages that need more RAM than the model promised. Returns whether any are new.
  bool add_exact_stages(const Candidate& candidate, double promised, TightOptions& options) const {
    bool added = false;
    for (int t = 0; t < p_.ops; ++t)
      if (static_cast<double>(candidate.stage_peak[static_cast<std::size_t>(t)]) > promised * (1 + 1e-9))
        added |= options.exact_stages.insert(t).second;
    return added;
  }

  Search& search_;
  const Problem& p_;
  std::optional<std::int64_t> known_;
  double proven_ = 0;
};

// Repeats the search with seconds as the objective and no deadline.
std::optional<double> find_least_deadline(Search& search, const std::function<void(Search&)>& improve,
                                          const Stop& until) {
  if (until()) return std::nullopt;
  Problem fastest = search.problem();
  fastest.joules = fastest.seconds;
  const bool blocking = fastest.transfers_take_time() && !fastest.concurrent;
  for (auto* column : {&fastest.in_joules, &fastest.out_joules})
    std::fill(column->begin(), column->end(), 0.0);
  if (blocking) {
    fastest.in_joules = fastest.in_seconds;
    fastest.out_joules = fastest.out_seconds;
  }
  fastest.idle_watts = 0;
  fastest.wake_joules = 0;
  fastest.deadline = kInfinity;
  fastest.baseline_joules = fastest.baseline_seconds;
  fastest.objective_scale = objective_scale(fastest);
  SolveOptions options = search.options();
  options.on_progress = nullptr;
  Search timed(fastest, options, until);
  const auto stop = [&] { return timed.must_stop(); };
  std::optional<double> least;
  const auto learn = [&](const Candidate& c) {
    if (c.within(fastest) && (!least || c.seconds < *least)) least = c.seconds;
    timed.offer(c);
    search.offer(complete(search.problem(), c.decisions));
  };
  if (const auto first = greedy(fastest, stop)) learn(*first);
  Problem unhurried = search.problem();
  unhurried.deadline = kInfinity;
  if (const auto cheapest = greedy(unhurried, stop)) learn(complete(fastest, cheapest->decisions));
  improve(timed);
  if (timed.has_incumbent()) learn(timed.incumbent());
  return least;
}

}  // namespace

Explanation ram_floor(const Problem& problem) {
  Explanation explanation;
  std::int64_t floor = -1;
  for (int t = 0; t < problem.ops; ++t)
    if (const std::int64_t bytes = working_set(problem, t); bytes > floor) {
      floor = bytes;
      explanation.binding_op = OpId(t);
    }
  explanation.floor_ram = Bytes(std::max<std::int64_t>(floor, 0) + problem.persistent);
  return explanation;
}

bool explain_impossible(const Problem& p, Explanation& explanation) {
  if (p.budget < 0) {
    explanation.reason = p.persistent_of + " alone exceed the RAM budget";
  } else if (explanation.floor_ram->value() - p.persistent > p.budget) {
    explanation.reason =
        p.persistent > 0 ? (p.persistent_of == CostTable().persistent_of ? "parameters" : p.persistent_of) +
                               " and one op's operands and results alone exceed the RAM budget"
                         : "one op's operands and results alone exceed the RAM budget";
  } else if (!p.in_time(p.baseline_seconds)) {
    explanation.reason = "the deadline is shorter than computing every op once";
  }
  return !explanation.reason.empty();
}

double seconds_for_reason(const SolveOptions& options) {
  if (!options.explain) return 0;
  const double limit = options.time_limit_seconds;
  const double least = std::min(kShares.reason_of_short * limit, kShares.reason_at_least);
  return std::clamp(kShares.reason * limit, least, kShares.reason_at_most);
}

bool explain_no_answer(Search& search, Explanation& why, const std::function<void(Search&)>& improve) {
  const Problem& p = search.problem();
  const bool cancelled = search.stop().cancelled();
  const bool timed_out = search.remaining() <= 0;
  constexpr double kMoment = kShares.reason_after_limit;
  constexpr int kSearches = 3;  // share what is left after the limit
  const double share = seconds_for_reason(search.options()) / (timed_out ? kSearches : 1);
  const Stop end = search.stop().at_least(kSearches * kMoment);
  const auto stop = [&] { return end.at_most(std::max(share, kMoment)); };
  const bool by_argument = !why.reason.empty();
  const bool asks = !cancelled && search.has_a_moment();
  double proven = 0;
  if (!by_argument && asks) proven = prove_least_ram(search, kProofWork, stop());
  LeastRam least(search);
  if (asks) least.run(stop());
  if (least.known()) why.least_ram = Bytes(*least.known() + p.persistent);
  const bool ram_may_do = why.floor_ram->value() - p.persistent <= p.budget;
  if (ram_may_do && asks) {
    if (const auto seconds = find_least_deadline(search, improve, stop()))
      why.least_deadline = Seconds(*seconds);
  }
  if (by_argument) return true;
  const double too_much = static_cast<double>(p.budget) + 0.5;
  if (proven > too_much) {
    why.reason = p.deadline < kInfinity || p.max_bytes_written < std::numeric_limits<std::int64_t>::max()
                     ? "no plan fits the RAM budget together with the other limits"
                     : "no plan fits the RAM budget";
    why.proven_ram = Bytes(static_cast<std::int64_t>(std::ceil(proven - 0.5)) + p.persistent);
    return true;
  }
  why.reason =
      cancelled ? "interrupted before a plan was found"
      : asks && least.proven() > too_much
          ? "no staged schedule is within the limits, and no other plan was found or proven impossible"
      : timed_out ? "no plan was found or proven impossible within the time limit"
                  : "no plan was found or proven impossible, and the search has nothing left to try";
  return false;
}

std::optional<Bytes> least_ram(const SolveRequest& request, const SolveOptions& options) {
  const Problem problem = make_problem(request, options);
  Search search(problem, options);
  LeastRam least(search);
  least.run(search.stop());
  if (!least.known()) return std::nullopt;
  return Bytes(*least.known() + problem.persistent);
}

}  // namespace poet
