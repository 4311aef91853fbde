// In[t,v] <= Stored[t,v],  Out[t,v] <= S[t,v],  sum_t Out[t,v] <= 1
//
// A stored copy stays valid, so one page-out per value suffices. If the page-out's stage is left open, the
// value must have been in RAM at the start of some stage before the page-in:
//
//   In[t,v] <= sum_{s<t} S[s,v]
//
// A page-in serves the next stage, and is useless if another copy is in RAM or being computed:
//
//   In[t,v] <= S[t+1,v],  In[t,v] + S[t,v] <= 1,  In[t,v] + R[t,p(v)] <= 1

#include "poet/optimize/milp/rows/rows.h"

namespace poet::rows {

void paging(Model& model, const Problem& p, const Variables& vars) {
  for (int v = 0; v < p.values; ++v) {
    const int producer = p.producer[static_cast<std::size_t>(v)];
    for (const auto& [t, column] : vars.page_ins(v)) {
      const Term in = Term::of(column);
      Linear needs_stored;
      model.at_most(needs_stored.add(1, in).add(vars.stored(t, v), -1), 0);
      if (vars.page_outs(v).empty()) {
        Linear was_in_ram;
        was_in_ram.add(1, in);
        for (const auto& [start, segment] : vars.segments(v))
          if (start < t) was_in_ram.add(-1, Term::of(segment));
        model.at_most(was_in_ram, 0);
      }
      Linear for_next;
      model.at_most(for_next.add(1, in).add(-1, vars.retain(t + 1, v)), 0);
      Linear not_here;
      model.at_most(not_here.add(1, in).add(1, vars.retain(t, v)), 1);
      Linear not_made;
      model.at_most(not_made.add(1, in).add(1, vars.compute(t, producer)), 1);
    }
    if (vars.page_outs(v).empty()) continue;
    Linear once;
    for (const auto& [t, column] : vars.page_outs(v)) {
      once.add(1, Term::of(column));
      Linear from_ram;
      model.at_most(from_ram.add(1, Term::of(column)).add(-1, vars.retain(t, v)), 0);
    }
    model.at_most(once, 1);
  }
}

}  // namespace poet::rows
