// Exact RAM while op k is computed in stage t, for every k that may be: POET's memory rows without big-M.
//
//   sum S[t,v] b_v - sum L[v] b_v              in RAM at the start, less values freed before the first
//                                              computation
//     + sum N[v] b_v                           newly computed results of ops up to k
//     - sum Free[v,j] b_v                      values freed right after an op j < k that read or wrote them
//     + sum In[t,v] b_v                        reserved for arriving values, if transfers take RAM
//     + R[t,k] workspace_k
//     - G[k] b                                 bytes of op k's first result y if it overwrites an operand
//   <= B
//
// G <= N[y] and G <= sum of Free[v,k] over the operands v that y may overwrite (device semantics): one of
// them is freed by the op.
//
// N = R for ops with one result, else N >= R - S + L. Free and L are 1 only if nothing later needs v:
//
//   Free[v,j] <= R[t,j],  Free[v,j] + R[t,k] <= 1 for later users k,  L[v] + R[t,k] <= 1 for all users k
//   Free + K <= 1,  L + K <= 1             K = S[t+1] - In (published) or max(S[t+1], Out)
//   L <= S,  L + sum_j Free <= S + N
//
// Only upper bounds on Free and L are needed, since large values relax the RAM rows.

#include <algorithm>

#include "poet/optimize/milp/rows/rows.h"

namespace poet::rows {
namespace {

class ExactStage {
 public:
  ExactStage(Model& model, const Problem& problem, const Variables& vars, const Budget& budget, int stage)
      : model_(model),
        p_(problem),
        vars_(vars),
        budget_(budget),
        t_(stage),
        created_(static_cast<std::size_t>(problem.values), Term::fixed(0)),
        freed_after_(static_cast<std::size_t>(problem.ops)) {
    for (int op = 0; op <= t_; ++op)
      if (vars_.compute(t_, op).is_column() || op == t_) ops_.push_back(op);
  }

  void add() {
    for (int v = 0; v < p_.values; ++v)
      if (p_.active[static_cast<std::size_t>(v)] && p_.producer[static_cast<std::size_t>(v)] <= t_) trace(v);
    Linear now;  // RAM before the next computation
    now.add(present_, 1);
    for (int op : ops_) {
      const auto k = static_cast<std::size_t>(op);
      for (int v : p_.writes[k]) now.add(weight(v), created_[static_cast<std::size_t>(v)]);
      Linear running;
      running.add(now, 1).add(static_cast<double>(p_.workspace[k]) / budget_.unit, vars_.compute(t_, op));
      write_over(op, running);
      model_.at_most(running.add(-1, budget_.amount), 0);
      for (const auto& [v, column] : freed_after_[k]) now.add(-weight(v), Term::of(column));
    }
  }

 private:
  [[nodiscard]] double weight(int v) const {
    return static_cast<double>(p_.bytes[static_cast<std::size_t>(v)]) / budget_.unit;
  }

  // Lets the op's newly computed first result take the bytes of one operand that is freed.
  void write_over(int op, Linear& running) {
    const auto k = static_cast<std::size_t>(op);
    const std::vector<int>& operands = p_.overwritable[k];
    Linear dying;
    for (const auto& [v, column] : freed_after_[k])
      if (std::find(operands.begin(), operands.end(), v) != operands.end()) dying.add(1, Term::of(column));
    if (dying.terms().empty()) return;
    const int result = p_.first_result[k];
    const Term once = Term::of(model_.add_column(0, 1, 0, false));
    model_.at_most(Linear().add(1, once).add(dying, -1), 0);
    model_.at_most(Linear().add(1, once).add(-1, created_[static_cast<std::size_t>(result)]), 0);
    running.add(-weight(result), once);
  }

  // x + K[t,v] <= 1
  void unless_kept(Term x, int v) {
    Linear row;
    row.add(1, x).add(1, vars_.retain(t_ + 1, v));
    if (!p_.transfers_take_ram()) row.add(-1, vars_.page_in(t_, v));
    model_.at_most(row, 1);
    if (p_.transfers_take_ram()) model_.at_most(Linear().add(1, x).add(1, vars_.page_out(t_, v)), 1);
  }

  void trace(int v) {
    const auto i = static_cast<std::size_t>(v);
    const Term held = vars_.retain(t_, v);
    const Term made = vars_.compute(t_, p_.producer[i]);
    if (held.is_zero() && made.is_zero() && vars_.page_in(t_, v).is_zero()) return;
    present_.add(weight(v), held);
    if (p_.transfers_take_ram()) present_.add(weight(v), vars_.page_in(t_, v));

    Term created = made;
    if (made.is_column() && held.is_column() &&
        p_.writes[static_cast<std::size_t>(p_.producer[i])].size() > 1) {
      created = Term::of(model_.add_column(0, 1, 0, false));
    }
    created_[i] = created;

    std::vector<int> users;
    for (int op : p_.users[i])
      if (!vars_.compute(t_, op).is_zero() && op <= t_) users.push_back(op);
    Linear leaves;
    const auto may_leave_after = [&](int op, Term present) {
      const Term x = Term::of(model_.add_column(0, 1, 0, false));
      model_.at_most(Linear().add(1, x).add(-1, present), 0);
      unless_kept(x, v);
      for (int user : users)
        if (user > op) model_.at_most(Linear().add(1, x).add(1, vars_.compute(t_, user)), 1);
      leaves.add(1, x);
      return x.column;
    };
    Term left_early = Term::fixed(0);
    if (held.is_column()) {
      left_early = Term::of(may_leave_after(-1, held));
      present_.add(-weight(v), left_early);
    }
    if (!(created == made))
      model_.at_least(Linear().add(1, created).add(-1, made).add(1, held).add(-1, left_early), 0);
    std::vector<int> touching = users;
    if (!made.is_zero()) touching.insert(touching.begin(), p_.producer[i]);
    for (int op : touching)
      freed_after_[static_cast<std::size_t>(op)].emplace_back(v, may_leave_after(op, vars_.compute(t_, op)));
    model_.at_most(leaves.add(-1, held).add(-1, created), 0);
  }

  Model& model_;
  const Problem& p_;
  const Variables& vars_;
  const Budget& budget_;
  int t_;
  std::vector<int> ops_;       // may be computed in this stage, increasing
  Linear present_;             // RAM before the first computation, less values freed
  std::vector<Term> created_;  // per value: N
  std::vector<std::vector<std::pair<int, int>>> freed_after_;  // per op: (value, column of Free)
};

}  // namespace

void exact_ram(Model& model, const Problem& p, const Variables& vars, const Budget& budget, int stage) {
  ExactStage(model, p, vars, budget, stage).add();
}

}  // namespace poet::rows
