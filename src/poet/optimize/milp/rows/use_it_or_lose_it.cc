// A use of v at t is R[t,j] for a user j of v. Recomputing op i is useful only if some result is used or
// kept, and some result is not retained already:
//
//   R[t,i] <= sum over results v of i: uses of v at t + S[t+1,v]
//   R[t,i] <= sum over results v of i: 1 - S[t,v]
//
// Keeping needs a use now or later, or a page-out (Stored[v] if the page-out's stage is open):
//
//   S[t,v] <= uses of v at t + S[t+1,v] + Out[t,v]
//
// If transfers take no time, paging in just in time is optimal:
//
//   In[t,v] <= uses of v at t+1

#include "poet/optimize/milp/rows/rows.h"

namespace poet::rows {
namespace {

Linear uses(const Problem& p, const Variables& vars, int value, int stage) {
  Linear sum;
  for (int user : p.users[static_cast<std::size_t>(value)])
    if (user <= stage) sum.add(1, vars.compute(stage, user));
  return sum;
}

}  // namespace

void use_it_or_lose_it(Model& model, const Problem& p, const Variables& vars, bool transfers_may_be_early) {
  for (int op = 0; op < p.ops; ++op)
    for (const auto& [t, column] : vars.recomputes(op)) {
      Linear used;
      used.add(1, Term::of(column));
      Linear missing;
      missing.add(1, Term::of(column));
      for (int v : p.writes[static_cast<std::size_t>(op)]) {
        used.add(uses(p, vars, v, t), -1).add(-1, vars.retain(t + 1, v));
        missing.add(1, vars.retain(t, v));
      }
      model.at_most(used, 0);
      model.at_most(missing, static_cast<double>(p.writes[static_cast<std::size_t>(op)].size()));
    }
  for (int v = 0; v < p.values; ++v) {
    const auto& segments = vars.segments(v);
    for (std::size_t k = 0; k < segments.size(); ++k) {
      // There are no events inside a segment; its last stage decides.
      const int t = k + 1 < segments.size() ? segments[k + 1].first - 1 : vars.last_stage(v);
      Linear kept;
      kept.add(1, Term::of(segments[k].second)).add(uses(p, vars, v, t), -1).add(-1, vars.retain(t + 1, v));
      if (vars.page_outs(v).empty())
        kept.add(vars.stored(v), -1);
      else
        kept.add(-1, vars.page_out(t, v));
      model.at_most(kept, 0);
    }
    if (transfers_may_be_early) continue;
    for (const auto& [t, column] : vars.page_ins(v)) {
      Linear just_in_time;
      model.at_most(just_in_time.add(1, Term::of(column)).add(uses(p, vars, v, t + 1), -1), 0);
    }
  }
}

}  // namespace poet::rows
