#include "poet/optimize/clauses/window_answer.h"

#include "poet/base/numbers.h"
#include "poet/optimize/clauses/stage_transition.h"
#include "poet/optimize/problem/sorted.h"
#include "poet/optimize/relaxation/window_decisions.h"

namespace poet {
namespace {

bool holds(const WindowClauses& model, Literal literal) {
  return literal.exists() && model.solver->is_true(literal);
}

// What happens between the first computations of ops t - 1 and t, of which the window consists.
StageTransition transition_of(const Problem& p, const WindowClauses& m, int window, int t) {
  StageTransition made{t, {}, {}, {}, p.reads[at(t)]};
  for (int op = 0; op < t; ++op) {
    if (!holds(m, m.recompute[at(window)][at(op)])) continue;
    made.recomputed.push_back(op);
    if (!m.twice[at(op)].exists() || holds(m, m.twice[at(op)])) made.repeated.push_back(op);
  }
  for (int v = 0; v < p.values; ++v) {
    if (holds(m, m.kept[at(window - 1)][at(v)])) made.before.push_back(v);
    if (p.producer[at(v)] < t && holds(m, m.kept[at(window)][at(v)])) insert_sorted(made.after, v);
  }
  return made;
}

Clause clause_of(const Problem& p, const WindowClauses& m, int window, const StageTransition& transition,
                 const Obstacle& obstacle) {
  Clause clause;
  const auto add = [&](Literal literal) {
    if (literal.exists()) clause.push_back(literal);
  };
  for (const int v : obstacle.needed)
    if (!contains(p.reads[at(transition.stage)], v)) clause.push_back(~m.kept[at(window)][at(v)]);
  for (const int v : obstacle.absent) add(m.kept[at(window - 1)][at(v)]);
  for (const int op : obstacle.not_done) add(m.recompute[at(window)][at(op)]);
  for (const int op : transition.recomputed)
    if (!contains(transition.repeated, op)) add(m.twice[at(op)]);
  return clause;
}

}  // namespace

WindowAnswer check_answer(const Problem& p, const StageWindows& windows, const WindowClauses& m) {
  WindowAnswer answer;
  answer.orders.resize(at(windows.count()));
  for (int k = 1; k + 1 < windows.count(); ++k) {
    if (windows.first_stage(k) != windows.last_stage(k)) continue;
    const StageTransition transition = transition_of(p, m, k, windows.last_stage(k));
    if (transition.recomputed.empty()) continue;
    TransitionAnswer found = find_order(p, transition);
    if (found.obstacle) answer.broken.push_back(clause_of(p, m, k, transition, *found.obstacle));
    answer.orders[at(k)] = std::move(found.order);
    answer.states += found.states;
  }
  return answer;
}

std::vector<int> ops_of_answer(const Problem& p, const StageWindows& windows, const WindowClauses& m,
                               const WindowAnswer& answer) {
  WindowDecisions decided;
  decided.recompute.resize(m.recompute.size());
  decided.page_in.resize(m.recompute.size());
  for (std::size_t k = 0; k < m.recompute.size(); ++k)
    for (int op = 0; op < p.ops; ++op)
      if (holds(m, m.recompute[k][at(op)])) decided.recompute[k].push_back(op);
  const Decisions once = taken_once(p, windows, decided);
  std::vector<int> ops;
  for (int t = 0; t < p.ops; ++t) {
    const auto& order = answer.orders[at(windows.of(t))];
    const std::vector<int>& again = order ? *order : once.recompute[at(t)];
    ops.insert(ops.end(), again.begin(), again.end());
    ops.push_back(t);
  }
  return ops;
}

}  // namespace poet
