// R[t,j] <= R[t,p(u)] + S[t,u] for every value u that op j reads, as in POET's Algorithm 1.

#include "poet/optimize/milp/rows/rows.h"

namespace poet::rows {
namespace {

void computed_with_operands(Model& model, const Problem& p, const Variables& vars, int stage, int op) {
  for (int u : p.reads[static_cast<std::size_t>(op)]) {
    Linear row;
    row.add(1, vars.compute(stage, op));
    row.add(-1, vars.compute(stage, p.producer[static_cast<std::size_t>(u)]));
    row.add(-1, vars.retain(stage, u));
    model.at_most(row, 0);
  }
}

}  // namespace

void dependencies(Model& model, const Problem& p, const Variables& vars) {
  for (int op = 0; op < p.ops; ++op) {
    computed_with_operands(model, p, vars, op, op);
    for (const auto& [stage, column] : vars.recomputes(op)) computed_with_operands(model, p, vars, stage, op);
  }
}

}  // namespace poet::rows
