// S[t+1,v] <= S[t,v] + R[t,p(v)] + In[t,v], as in POET's Algorithm 1.
//
// With provenance S = C + D, where D is a copy read from storage and C one retained since a computation:
//
//   C[t+1,v] <= C[t,v] + R[t,p(v)]
//   D[t+1,v] <= D[t,v] + In[t,v],  D[t,v] <= S[t,v],  D[t+1,v] <= Stored[t,v]
//
// The last row makes the relaxation tight: without it a value could be paged in in small fractions, at the
// page-out cost of the largest fraction only.

#include "poet/optimize/milp/rows/rows.h"

namespace poet::rows {

void retention(Model& model, const Problem& p, const Variables& vars, const Tightenings& tightenings) {
  for (int v = 0; v < p.values; ++v) {
    const int producer = p.producer[static_cast<std::size_t>(v)];
    for (const auto& [start, column] : vars.segments(v)) {
      const int t = start - 1;  // the stage in which the copy was created or retained
      const bool traced = tightenings.provenance && !vars.page_ins(v).empty();
      Linear row;
      row.add(1, vars.retain(start, v)).add(-1, vars.retain(t, v)).add(-1, vars.compute(t, producer));
      if (!traced) {
        model.at_most(row.add(-1, vars.page_in(t, v)), 0);
        continue;
      }
      row.add(-1, vars.from_storage(start, v)).add(1, vars.from_storage(t, v));
      model.at_most(row, 0);
      const Term loaded = vars.from_storage(start, v);
      if (loaded.is_zero()) continue;
      Linear came;
      came.add(1, loaded).add(-1, vars.from_storage(t, v)).add(-1, vars.page_in(t, v));
      model.at_most(came, 0);
      Linear part_of_whole;
      model.at_most(part_of_whole.add(1, loaded).add(-1, vars.retain(start, v)), 0);
      Linear needs_stored;
      model.at_most(needs_stored.add(1, loaded).add(vars.stored(t, v), -1), 0);
    }
  }
}

}  // namespace poet::rows
