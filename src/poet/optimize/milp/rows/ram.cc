// B: budget, b_v: bytes. When stage t starts (with In only if transfers take RAM during their stage):
//
//   sum_v S[t,v] b_v + In[t,v] b_v <= B
//
// While op t runs, last in its stage: its working set, and the other values that are kept, K[t,v]:
//
//   working_set(t) + sum over v not in reads(t), writes(t) of K[t,v] b_v <= B
//
// If op t may write its first result over operands (overwritable(t), in device semantics), working_set(t)
// counts result and operand once. If all of these operands are kept, one more is counted:
//
//   Z[t] b on the left,  Z[t] >= sum over v in overwritable(t) of K[t,v] - (|overwritable(t)| - 1),
//   Z[t] >= 0
//
// with one such operand Z = K[t,v].
//
// In published semantics K = S[t+1,v] - In[t,v]: a paged-in value takes RAM from the next stage on; K is 0/1
// since In <= S[t+1]. Else K = S[t+1,v] + E[t,v] with E >= Out[t,v] - S[t+1,v]: a value that is paged out
// takes RAM until the transfer has ended. Both rows are exact in stages that recompute nothing, and
// relaxations elsewhere.
//
// Tensor sizes are few and large, so each row is strengthened by rounding: for a size d, over 0/1 quantities
// x_v,
//
//   sum floor(b_v / d) x_v <= floor((B - constants) / d)

#include <algorithm>
#include <set>

#include "poet/optimize/milp/rows/rows.h"
#include "poet/optimize/problem/sorted.h"

namespace poet::rows {
namespace {

// One 0/1 quantity of a RAM row.
struct Load {
  Linear quantity;
  std::int64_t bytes;
};

class RamRows {
 public:
  RamRows(Model& model, const Problem& problem, const Budget& budget, bool rounding)
      : model_(model), budget_(budget) {
    if (!rounding || !budget.is_fixed()) return;
    std::set<std::int64_t> sizes;
    for (int v = 0; v < problem.values; ++v)
      if (problem.active[static_cast<std::size_t>(v)])
        sizes.insert(problem.bytes[static_cast<std::size_t>(v)]);
    constexpr std::int64_t kMostCopies = 40;  // rounding to smaller sizes gains almost nothing
    constexpr std::size_t kMostSizes = 6;
    for (auto d = sizes.rbegin(); d != sizes.rend() && round_to_.size() < kMostSizes; ++d)
      if (budget.bytes / *d <= kMostCopies) round_to_.push_back(*d);
  }

  void at_most_budget(const std::vector<Load>& loads, std::int64_t constant) {
    const std::int64_t free = budget_.bytes - constant;
    Linear row;
    std::int64_t most = 0;
    for (const Load& load : loads) {
      row.add(load.quantity, static_cast<double>(load.bytes) / budget_.unit);
      most += load.bytes;
    }
    if (budget_.is_fixed() && most <= free) return;
    row.add(-1, budget_.amount);
    model_.at_most(row, static_cast<double>(-constant) / budget_.unit);
    for (std::int64_t d : round_to_) {
      if (free < 0) break;
      Linear rounded;
      std::int64_t count = 0;
      bool exact = free % d == 0;
      for (const Load& load : loads) {
        if (load.bytes < d) continue;
        const std::int64_t whole = load.bytes / d;
        rounded.add(load.quantity, static_cast<double>(whole));
        count += whole;
        exact = exact && load.bytes % d == 0;
      }
      const std::int64_t room = free / d;
      if (!exact && count > room) model_.at_most(rounded, static_cast<double>(room));
    }
  }

 private:
  Model& model_;
  const Budget& budget_;
  std::vector<std::int64_t> round_to_;
};

// Values whose retention has a column at the start of each stage.
std::vector<std::vector<int>> retainable(const Problem& p, const Variables& vars) {
  std::vector<std::vector<int>> at(static_cast<std::size_t>(p.ops) + 1);
  for (int v = 0; v < p.values; ++v) {
    if (vars.segments(v).empty()) continue;
    for (int t = vars.segments(v).front().first; t <= vars.last_stage(v); ++t)
      at[static_cast<std::size_t>(t)].push_back(v);
  }
  return at;
}

// Returns K[t,v]: 1 if v, not an operand or result of op t, is kept while op t runs.
Linear kept(Model& model, const Problem& p, const Variables& vars, int t, int v) {
  Linear quantity;
  quantity.add(1, vars.retain(t + 1, v));
  if (!p.transfers_take_ram()) return quantity.add(-1, vars.page_in(t, v));
  const Term out = vars.page_out(t, v);
  if (out.is_zero()) return quantity;
  const Term leaving = Term::of(model.add_column(0, 1, 0, false));
  Linear until_it_left;
  model.at_least(until_it_left.add(1, leaving).add(-1, out).add(1, vars.retain(t + 1, v)), 0);
  return quantity.add(1, leaving);
}

// Returns Z[t]: 1 if all operands are kept that op t may overwrite with its first result.
Linear all_kept(Model& model, const Problem& p, const Variables& vars, int t) {
  const std::vector<int>& operands = p.overwritable[static_cast<std::size_t>(t)];
  Linear sum;
  for (int v : operands) {
    if (vars.retain(t + 1, v).is_zero() && vars.page_out(t, v).is_zero()) return {};
    sum.add(kept(model, p, vars, t, v), 1);
  }
  if (operands.size() < 2) return sum;
  const Term all = Term::of(model.add_column(0, 1, 0, false));
  model.at_most(sum.add(-1, all), static_cast<double>(operands.size() - 1));
  return Linear().add(1, all);
}

}  // namespace

void ram(Model& model, const Problem& p, const Variables& vars, const Budget& budget, bool rounding) {
  RamRows rows(model, p, budget, rounding);
  std::vector<std::vector<int>> arriving(static_cast<std::size_t>(p.ops));
  for (int v = 0; v < p.values; ++v)
    for (const auto& [t, column] : vars.page_ins(v)) arriving[static_cast<std::size_t>(t)].push_back(v);
  const std::vector<std::vector<int>> live = retainable(p, vars);
  for (int t = 0; t < p.ops; ++t) {
    const auto stage = static_cast<std::size_t>(t);
    std::vector<Load> start;
    for (int v : live[stage])
      start.push_back({Linear().add(1, vars.retain(t, v)), p.bytes[static_cast<std::size_t>(v)]});
    if (p.transfers_take_ram())
      for (int v : arriving[stage])
        start.push_back({Linear().add(1, vars.page_in(t, v)), p.bytes[static_cast<std::size_t>(v)]});
    rows.at_most_budget(start, 0);

    std::vector<Load> running;
    std::vector<int> beside = live[stage + 1];
    for (int v : live[stage])  // paged out in this stage and not kept after it
      if (vars.page_out(t, v).is_column() && !contains(live[stage + 1], v)) beside.push_back(v);
    for (int v : beside) {
      if (contains(p.reads[stage], v) || contains(p.writes[stage], v)) continue;
      running.push_back({kept(model, p, vars, t, v), p.bytes[static_cast<std::size_t>(v)]});
    }
    if (const Linear all = all_kept(model, p, vars, t); !all.terms().empty())
      running.push_back({all, p.bytes[static_cast<std::size_t>(p.first_result[stage])]});
    rows.at_most_budget(running, working_set(p, t));
  }
}

}  // namespace poet::rows
