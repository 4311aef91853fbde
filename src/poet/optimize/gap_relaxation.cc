#include "poet/optimize/gap_relaxation.h"

#include <algorithm>
#include <cmath>

#include "poet/optimize/model.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {
namespace {

struct GapModel {
  Model model;
  std::vector<Linear> resident;         // per op: bytes that stay across it, in budgets
  std::vector<Term> paged, recomputed;  // per gap
  Linear recompute_seconds;
};

double share_of_producer(const Problem& p, int v) {
  const auto& siblings = p.writes[static_cast<std::size_t>(p.producer[static_cast<std::size_t>(v)])];
  double all = 0;
  for (int w : siblings) all += static_cast<double>(p.bytes[static_cast<std::size_t>(w)]);
  return static_cast<double>(p.bytes[static_cast<std::size_t>(v)]) / all;
}

// Columns and RAM entries of one gap.
void add_gap(GapModel& g, const Problem& p, const Gap& gap, Term stored, double scale, double unit) {
  g.paged.push_back(Term::fixed(0));
  g.recomputed.push_back(Term::fixed(0));
  if (gap.to >= p.ops || gap.to < gap.from + 2) return;  // no op runs in between
  const auto i = static_cast<std::size_t>(gap.value);
  const auto producer = static_cast<std::size_t>(p.producer[i]);
  const bool can_page = p.paging && gap.to - 1 >= p.producer[i] + 2;
  const bool can_recompute = p.recompute_until[producer] > std::max(gap.from, p.producer[i]);
  Linear stays;
  stays.add(1, Term::fixed(1));
  if (can_page) {
    g.paged.back() = Term::of(g.model.add_binary(scale * p.in_joules[i]));
    stays.add(-1, g.paged.back());
    g.model.at_most(Linear().add(1, g.paged.back()).add(-1, stored), 0);
  }
  if (can_recompute) {
    const double share = share_of_producer(p, gap.value);
    const double joules = p.joules[producer] + p.idle_watts * p.seconds[producer];
    g.recomputed.back() = Term::of(g.model.add_binary(scale * share * joules));
    stays.add(-1, g.recomputed.back());
    g.recompute_seconds.add(share * p.seconds[producer], g.recomputed.back());
  }
  if (can_page && can_recompute) g.model.at_least(stays, 0);
  const double weight = static_cast<double>(p.bytes[i]) / unit;
  for (int t = gap.from + 1; t < gap.to; ++t) g.resident[static_cast<std::size_t>(t)].add(stays, weight);
}

GapModel build(const Problem& p, const Gaps& gaps, double scale) {
  const double unit = static_cast<double>(std::max<std::int64_t>(p.budget, 1));
  GapModel g;
  g.resident.resize(static_cast<std::size_t>(p.ops));
  std::vector<Term> stored(static_cast<std::size_t>(p.values), Term::fixed(0));
  for (int v = 0; p.paging && v < p.values; ++v) {
    const auto i = static_cast<std::size_t>(v);
    if (p.active[i] && !p.users[i].empty()) stored[i] = Term::of(g.model.add_binary(scale * p.out_joules[i]));
  }
  for (const Gap& gap : gaps.all())
    add_gap(g, p, gap, stored[static_cast<std::size_t>(gap.value)], scale, unit);
  for (int t = 0; t < p.ops; ++t)
    g.model.at_most(g.resident[static_cast<std::size_t>(t)],
                    static_cast<double>(p.budget - working_set(p, t)) / unit);
  if (!std::isinf(p.deadline) && p.baseline_seconds > 0)
    g.model.at_most(Linear().add(g.recompute_seconds, 1 / p.baseline_seconds),
                    p.deadline / p.baseline_seconds - 1);
  return g;
}

std::vector<Mode> modes_of(const GapModel& g, const Gaps& gaps, const std::vector<double>& x) {
  std::vector<Mode> modes = gaps.keep_all();
  const auto taken = [&](Term term) {
    return term.is_column() && x[static_cast<std::size_t>(term.column)] > 0.5;
  };
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const Gap& gap = gaps.all()[k];
    if (taken(g.paged[k]) && gaps.possible(gap, Mode::page)) modes[k] = Mode::page;
    if (taken(g.recomputed[k]) && gaps.possible(gap, Mode::recompute)) modes[k] = Mode::recompute;
  }
  return modes;
}

}  // namespace

GapRelaxation gap_relaxation(Search& search, long work) {
  const Problem& p = search.problem();
  const double scale = p.objective_scale;
  const Gaps gaps(p);
  const GapModel g = build(p, gaps, scale);

  MipOptions options;
  options.time_limit_seconds = search.remaining();
  options.work_limit = work;
  options.relative_gap = std::min(1e-4, 0.1 * search.options().gap);
  options.solver = embedded(search.options().solver);
  options.keep_going = [&search](double, double) { return !search.must_stop(); };
  const MipResult mip = solve_mip(g.model, options);
  search.nodes += mip.nodes;
  search.used_solver = true;
  double objective = mip.bound;
  if (mip.bound == -kInfinity) {
    const LpResult lp = solve_lp(g.model, search.remaining(), [&] { return search.must_stop(); });
    if (lp.status == LpResult::Status::optimal) objective = lp.objective;
  }
  objective -= 1e-7 * std::abs(objective);  // solvers' tolerances
  GapRelaxation result;
  result.bound = p.baseline_joules + std::max(0.0, objective) / scale;
  if (!mip.x.empty()) result.modes = modes_of(g, gaps, mip.x);
  return result;
}

}  // namespace poet
