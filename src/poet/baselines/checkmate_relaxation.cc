#include "poet/baselines/checkmate_relaxation.h"

#include <algorithm>

#include "poet/base/numbers.h"
#include "poet/optimize/milp/model.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {
namespace {

class RelaxedCheckmate {
 public:
  RelaxedCheckmate(const Problem& problem, std::int64_t budget)
      : p_(problem), unit_(static_cast<double>(std::max<std::int64_t>(budget, 1))) {
    add_columns();
    for (int t = 0; t < p_.ops && model.rows() <= kMostRelaxationRows; ++t) {
      add_dependencies(t);
      add_memory(t);
    }
  }

  Model model;

  void read(const std::vector<double>& x, Relaxation& relaxation) const {
    relaxation.first.assign(at(p_.values), 0);
    relaxation.s.resize(at(p_.values));
    for (int v = 0; v < p_.values; ++v) {
      if (p_.active[at(v)] == 0) continue;
      relaxation.first[at(v)] = at(p_.producer[at(v)]) + 1;
      for (const int column : retain_[at(v)]) relaxation.s[at(v)].push_back(x[at(column)]);
    }
  }

 private:
  void add_columns() {
    compute_.resize(at(p_.ops));
    retain_.resize(at(p_.values));
    for (int i = 0; i < p_.ops; ++i) {
      const double cost = p_.objective_scale * (p_.joules[at(i)] + p_.idle_watts * p_.seconds[at(i)]);
      for (int t = i + 1; t <= p_.recompute_until[at(i)]; ++t)
        compute_[at(i)].push_back(model.add_column(0, 1, cost, false));
    }
    for (int v = 0; v < p_.values; ++v) {
      if (p_.active[at(v)] == 0) continue;
      for (int t = p_.producer[at(v)] + 1; t <= p_.horizon[at(v)]; ++t)
        retain_[at(v)].push_back(model.add_column(0, 1, 0, false));
    }
  }

  [[nodiscard]] Term computed(int t, int op) const {
    if (op == t) return Term::fixed(1);
    const auto& columns = compute_[at(op)];
    const auto i = at(t - op - 1);
    return op < t && i < columns.size() ? Term::of(columns[i]) : Term::fixed(0);
  }
  [[nodiscard]] Term retained(int t, int value) const {
    const auto& columns = retain_[at(value)];
    const int first = p_.producer[at(value)] + 1;
    return t >= first && at(t - first) < columns.size() ? Term::of(columns[at(t - first)]) : Term::fixed(0);
  }

  // (1b): an op's operands are in RAM or computed in the same stage. (1c): what is retained was there before.
  void add_dependencies(int t) {
    for (int op = 0; op <= t; ++op) {
      const Term r = computed(t, op);
      if (r.is_zero()) continue;
      for (const int v : p_.reads[at(op)])
        model.at_most(Linear().add(1, r).add(-1, retained(t, v)).add(-1, computed(t, p_.producer[at(v)])), 0);
    }
    for (int v = 0; v < p_.values && t > 0; ++v) {
      const Term s = retained(t, v);
      if (s.is_zero()) continue;
      const Term before = computed(t - 1, p_.producer[at(v)]);
      model.at_most(Linear().add(1, s).add(-1, retained(t - 1, v)).add(-1, before), 0);
    }
  }

  // Section 4.6: U after each op of the stage, less what is freed before the next one.
  void add_memory(int t) {
    const auto weight = [&](int v) { return static_cast<double>(p_.bytes[at(v)]) / unit_; };
    Linear in_ram;
    for (int v = 0; v < p_.values; ++v)
      if (const Term s = retained(t, v); !s.is_zero()) in_ram.add(weight(v), s);
    std::vector<Linear> freed(at(p_.values));  // per value, in this stage
    for (int op = 0; op <= t; ++op) {
      const Term r = computed(t, op);
      if (r.is_zero()) continue;
      Linear balance;
      const Term used = Term::of(model.add_column(0, 1, 0, false));
      balance.add(1, used).add(in_ram, -1);
      for (const int v : p_.writes[at(op)]) balance.add(-weight(v), r);
      model.add_row(balance, 0, 0);
      const double workspace = static_cast<double>(p_.workspace[at(op)]) / unit_;
      if (workspace > 0) model.at_most(Linear().add(1, used).add(workspace, r), 1);
      in_ram = Linear().add(1, used);
      for (const auto* values : {&p_.reads[at(op)], &p_.writes[at(op)]})
        for (const int v : *values) {
          const Term free = add_free(t, op, v);
          in_ram.add(-weight(v), free);
          freed[at(v)].add(1, free);
        }
    }
    for (const Linear& times : freed)
      if (times.terms().size() > 1) model.at_most(times, 1);
  }

  Term add_free(int t, int op, int v) {
    const Term free = Term::of(model.add_column(0, 1, 0, false));
    if (const Term r = computed(t, op); r.is_column()) model.at_most(Linear().add(1, free).add(-1, r), 0);
    if (const Term s = retained(t + 1, v); s.is_column()) model.at_most(Linear().add(1, free).add(1, s), 1);
    for (const int user : p_.users[at(v)])
      if (const Term r = computed(t, user); user > op && user <= t && !r.is_zero())
        model.at_most(Linear().add(1, free).add(1, r), 1);
    return free;
  }

  const Problem& p_;
  const double unit_;
  std::vector<std::vector<int>> compute_;  // per op: columns of the stages after its own
  std::vector<std::vector<int>> retain_;   // per value: columns of the stages after its production
};

}  // namespace

Relaxation checkmate_relaxation(const MethodRequest& request, Bytes budget) {
  SolveOptions options = request.options;
  options.paging = false;
  options.rematerialization = true;
  const Problem problem = make_problem({request.instance, request.limits, request.semantics}, options);
  const RelaxedCheckmate program(problem, budget.value());
  Relaxation relaxation;
  relaxation.rows = program.model.rows();
  if (relaxation.rows > kMostRelaxationRows) {
    relaxation.status = RelaxationStatus::too_large;
    return relaxation;
  }
  if (budget <= Bytes(0) || program.model.contradiction()) {
    relaxation.status = RelaxationStatus::infeasible;
    return relaxation;
  }
  LpOptions lp_options;
  lp_options.time_limit_seconds = options.time_limit_seconds;
  lp_options.stop = options.interrupted;
  lp_options.perturb = true;
  const LpResult lp = solve_lp(program.model, lp_options);
  if (lp.status != LpStatus::optimal) {
    relaxation.status =
        lp.status == LpStatus::infeasible ? RelaxationStatus::infeasible : RelaxationStatus::stopped;
    return relaxation;
  }
  relaxation.status = RelaxationStatus::solved;
  relaxation.joules = problem.baseline_joules + lp.objective / problem.objective_scale;
  program.read(lp.x, relaxation);
  return relaxation;
}

}  // namespace poet
