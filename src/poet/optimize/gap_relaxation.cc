#include "poet/optimize/gap_relaxation.h"

#include <algorithm>
#include <cmath>

#include "poet/optimize/model.h"
#include "poet/optimize/solvers/cbc.h"

namespace poet {
namespace {

struct GapModel {
  Model model;
  std::vector<Linear> resident;      // per op: bytes that stay across it, in budgets
  std::vector<std::int64_t> always;  // per op: bytes of gaps that cannot be emptied
  Linear recompute_seconds;
};

double share_of_producer(const Problem& p, int v) {
  const auto& siblings = p.writes[static_cast<std::size_t>(p.producer[static_cast<std::size_t>(v)])];
  double all = 0;
  for (int w : siblings) all += static_cast<double>(p.bytes[static_cast<std::size_t>(w)]);
  return static_cast<double>(p.bytes[static_cast<std::size_t>(v)]) / all;
}

// Columns and RAM entries for value v waiting from op `from` to op `to`.
void add_gap(GapModel& g, const Problem& p, int v, int from, int to, Term stored, double scale) {
  if (to - from < 2) return;  // no op runs in between
  const auto i = static_cast<std::size_t>(v);
  const auto producer = static_cast<std::size_t>(p.producer[i]);
  const bool can_page = p.paging && to - 1 > from && to - 1 >= p.producer[i] + 2;
  const bool can_recompute = p.recompute_until[producer] > std::max(from, p.producer[i]);
  const double unit = static_cast<double>(std::max<std::int64_t>(p.budget, 1));
  const double weight = static_cast<double>(p.bytes[i]) / unit;
  Linear stays;
  stays.add(1, Term::fixed(1));
  if (can_page) {
    const Term paged = Term::of(g.model.add_binary(scale * p.in_joules[i]));
    stays.add(-1, paged);
    g.model.at_most(Linear().add(1, paged).add(-1, stored), 0);
  }
  if (can_recompute) {
    const double share = share_of_producer(p, v);
    const Term again = Term::of(
        g.model.add_binary(scale * share * (p.joules[producer] + p.idle_watts * p.seconds[producer])));
    stays.add(-1, again);
    g.recompute_seconds.add(share * p.seconds[producer], again);
  }
  if (can_page && can_recompute) g.model.at_least(stays, 0);
  for (int t = from + 1; t < to; ++t) g.resident[static_cast<std::size_t>(t)].add(stays, weight);
}

}  // namespace

double gap_relaxation(Search& search) {
  const Problem& p = search.problem();
  const double scale = p.baseline_joules > 0 ? 1e4 / p.baseline_joules : 1.0;
  const double unit = static_cast<double>(std::max<std::int64_t>(p.budget, 1));
  GapModel g;
  g.resident.resize(static_cast<std::size_t>(p.ops));
  for (int v = 0; v < p.values; ++v) {
    const auto i = static_cast<std::size_t>(v);
    if (!p.active[i] || p.users[i].empty()) continue;
    const Term stored = p.paging ? Term::of(g.model.add_binary(scale * p.out_joules[i])) : Term::fixed(0);
    int from = p.producer[i];
    for (int user : p.users[i]) {
      add_gap(g, p, v, from, user, stored, scale);
      from = user;
    }
  }
  for (int t = 0; t < p.ops; ++t)
    g.model.at_most(g.resident[static_cast<std::size_t>(t)],
                    static_cast<double>(p.budget - working_set(p, t)) / unit);
  if (!std::isinf(p.deadline) && p.baseline_seconds > 0)
    g.model.at_most(Linear().add(g.recompute_seconds, 1 / p.baseline_seconds),
                    p.deadline / p.baseline_seconds - 1);

  MipOptions options;
  options.time_limit_seconds = std::min(0.1 * search.options().time_limit_seconds, search.remaining());
  options.relative_gap = 1e-4;
  options.keep_going = [&search](double, double) {
    return !(search.options().interrupted && search.options().interrupted());
  };
  const MipResult mip = solve_mip(g.model, options);
  search.nodes += mip.nodes;
  search.used_solver = true;
  double bound = mip.bound;
  if (mip.bound == -kInfinity) {
    const LpResult lp = solve_lp(g.model, search.remaining());
    if (lp.status == LpResult::Status::optimal) bound = lp.objective - 1e-7 * std::abs(lp.objective);
  }
  return p.baseline_joules + std::max(0.0, bound) / scale;
}

}  // namespace poet
