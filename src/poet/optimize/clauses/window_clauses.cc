#include "poet/optimize/clauses/window_clauses.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

class ClauseBuilder {
 public:
  ClauseBuilder(const Problem& problem, const StageWindows& windows, int paid)
      : p_(problem), w_(windows), paid_(paid) {
    m_.kept.assign(at(w_.count()), std::vector<Literal>(at(p_.values)));
    m_.recompute.assign(at(w_.count()), std::vector<Literal>(at(p_.ops)));
    m_.twice.resize(at(p_.ops));
    constexpr double kCosts = 1e7;  // of the whole step
    m_.joules_per_cost = p_.baseline_joules / kCosts;
  }

  WindowClauses build() {
    add_variables();
    for (int k = 1; k < w_.count(); ++k) {
      add_window(k);
      if (k + 1 < w_.count()) add_ram_while_recomputing(k);
    }
    for (int k = 0; k + 1 < w_.count(); ++k) add_ram(k);
    for (int op = 0; op < p_.ops; ++op) add_cost(op);
    add_deadline();
    return std::move(m_);
  }

 private:
  Literal variable(bool first_value, double weight = 0) {
    return Literal::of(m_.solver->add_variable(first_value, weight));
  }

  void add_variables() {
    for (int v = 0; v < p_.values; ++v) {
      if (p_.active[at(v)] == 0 || p_.users[at(v)].empty()) continue;
      for (int k = w_.of(p_.producer[at(v)]); k < w_.count() && w_.last_stage(k) < p_.horizon[at(v)]; ++k)
        m_.kept[at(k)][at(v)] = variable(true);
    }
    for (int op = 0; op < p_.ops; ++op)
      for (int k = w_.of(op) + 1; k < w_.count() && w_.first_stage(k) <= p_.recompute_until[at(op)]; ++k)
        m_.recompute[at(k)][at(op)] = variable(false);
  }

  [[nodiscard]] bool made_before(int k, int v) const { return w_.of(p_.producer[at(v)]) < k; }
  [[nodiscard]] Literal recomputed(int k, int v) const { return m_.recompute[at(k)][at(p_.producer[at(v)])]; }

  // v, made before window k, is there in it, or none of `unless` holds.
  void add_available(int k, int v, Clause unless) {
    for (const Literal literal : {m_.kept[at(k - 1)][at(v)], recomputed(k, v)})
      if (literal.exists()) unless.push_back(literal);
    m_.solver->add_clause(std::move(unless));
  }

  void add_window(int k) {
    std::vector<char> is_read(at(p_.values), 0);
    for (int t = w_.first_stage(k); t <= w_.last_stage(k); ++t)
      for (const int v : p_.reads[at(t)]) is_read[at(v)] = 1;
    for (int v = 0; v < p_.values; ++v) {
      if (p_.active[at(v)] == 0 || !made_before(k, v)) continue;
      if (is_read[at(v)] != 0) add_available(k, v, {});
      if (const Literal kept = m_.kept[at(k)][at(v)]; kept.exists()) add_available(k, v, {~kept});
    }
    for (int op = 0; op < p_.ops; ++op) {
      const Literal again = m_.recompute[at(k)][at(op)];
      if (!again.exists()) continue;
      for (const int u : p_.reads[at(op)])
        if (made_before(k, u)) add_available(k, u, {~again});
      add_use(k, op, is_read);
    }
  }

  // What nothing in the window reads and nobody keeps is not recomputed.
  void add_use(int k, int op, const std::vector<char>& is_read) {
    Clause use{~m_.recompute[at(k)][at(op)]};
    for (const int v : p_.writes[at(op)]) {
      if (is_read[at(v)] != 0) return;
      if (const Literal kept = m_.kept[at(k)][at(v)]; kept.exists()) use.push_back(kept);
      for (const int user : p_.users[at(v)])
        if (const Literal again = m_.recompute[at(k)][at(user)]; again.exists()) use.push_back(again);
    }
    m_.solver->add_clause(std::move(use));
  }

  void add_ram(int k) {
    const int op = w_.breakpoints()[at(k)];
    std::vector<WeightedLiteral> terms;
    for (int v = 0; v < p_.values; ++v)
      if (m_.kept[at(k)][at(v)].exists() && !works_on(op, v))
        terms.push_back({p_.bytes[at(v)], m_.kept[at(k)][at(v)]});
    if (const Literal all = all_kept(k); all.exists())
      terms.push_back({p_.bytes[at(p_.first_result[at(op)])], all});
    m_.solver->add_at_most(std::move(terms), p_.budget - working_set(p_, op));
  }

  [[nodiscard]] bool works_on(int op, int v) const {
    return contains(p_.reads[at(op)], v) || contains(p_.writes[at(op)], v);
  }

  // True if every operand is kept that the breakpoint op may write its first result over; none: never.
  Literal all_kept(int k) {
    const std::vector<int>& operands = p_.overwritable[at(w_.breakpoints()[at(k)])];
    if (operands.empty()) return {};
    Clause clause;
    for (const int v : operands) {
      if (!m_.kept[at(k)][at(v)].exists()) return {};
      clause.push_back(~m_.kept[at(k)][at(v)]);
    }
    const Literal all = variable(false);
    clause.push_back(all);
    m_.solver->add_clause(std::move(clause));
    return all;
  }

  // What is in RAM from one breakpoint to the next is there while something is recomputed in between
  // (relaxation/recomputation_ram.h).
  void add_ram_while_recomputing(int k) {
    const int end = w_.breakpoints()[at(k)];
    std::vector<Literal> stays(at(p_.values));
    for (int v = 0; v < p_.values; ++v) {
      const Literal before = m_.kept[at(k - 1)][at(v)];
      const Literal after = m_.kept[at(k)][at(v)];
      const bool is_read_at_end = contains(p_.reads[at(end)], v);
      if (!before.exists() || (!after.exists() && !is_read_at_end)) continue;
      stays[at(v)] = variable(false);
      Clause clause{stays[at(v)], ~before};
      if (!is_read_at_end) clause.push_back(~after);
      if (recomputed(k, v).exists()) clause.push_back(recomputed(k, v));
      m_.solver->add_clause(std::move(clause));
    }
    for (int op = 0; op < p_.ops; ++op) {
      const Literal again = m_.recompute[at(k)][at(op)];
      if (!again.exists()) continue;
      std::vector<WeightedLiteral> terms;
      for (int v = 0; v < p_.values; ++v)
        if (stays[at(v)].exists() && !works_on(op, v)) terms.push_back({p_.bytes[at(v)], stays[at(v)]});
      m_.solver->add_at_most(std::move(terms), p_.budget - working_set(p_, op), ~again);
    }
  }

  // count[q] of a window: the op was recomputed in more than q windows so far.
  void add_cost(int op) {
    const double joules = p_.joules[at(op)] + p_.idle_watts * p_.seconds[at(op)];
    const auto cost = static_cast<std::int64_t>(std::floor(joules / m_.joules_per_cost));
    std::vector<Literal> before(at(paid_));
    for (int k = w_.of(op) + 1; k < w_.count(); ++k) {
      const Literal again = m_.recompute[at(k)][at(op)];
      if (!again.exists()) continue;
      std::vector<Literal> count;
      for (std::size_t q = 0; q < before.size(); ++q) {
        if (q > 0 && !before[q - 1].exists()) break;
        count.push_back(variable(false, 1e-6 * static_cast<double>(cost)));
        if (before[q].exists()) m_.solver->add_clause({~before[q], count[q]});
        Clause one_more{~again, count[q]};
        if (q > 0) one_more.push_back(~before[q - 1]);
        m_.solver->add_clause(std::move(one_more));
        if (q > 0) m_.solver->add_clause({~count[q], count[q - 1]});
      }
      count.resize(before.size());
      before = std::move(count);
    }
    if (before.front().exists() && cost > 0) before.push_back(m_.twice[at(op)] = variable(false));
    for (const Literal literal : before)
      if (literal.exists()) {
        m_.cost.push_back({cost, literal});
        payer_.push_back(op);
      }
  }

  void add_deadline() {
    if (!std::isfinite(p_.deadline) || p_.baseline_seconds <= 0) return;
    const double unit = p_.baseline_seconds / 1e9;
    std::vector<WeightedLiteral> terms;
    for (std::size_t i = 0; i < payer_.size(); ++i)
      terms.push_back(
          {static_cast<std::int64_t>(std::floor(p_.seconds[at(payer_[i])] / unit)), m_.cost[i].literal});
    const double most = (p_.latest() - p_.baseline_seconds) / unit;
    if (most < 1e15) m_.solver->add_at_most(std::move(terms), static_cast<std::int64_t>(std::ceil(most)));
  }

  const Problem& p_;
  const StageWindows& w_;
  int paid_;
  WindowClauses m_;
  std::vector<int> payer_;  // the op of each literal of the cost
};

}  // namespace

WindowClauses build_window_clauses(const Problem& problem, const StageWindows& windows, int paid) {
  return ClauseBuilder(problem, windows, paid).build();
}

}  // namespace poet
