#include "poet/optimize/milp/published.h"

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/optimize/milp/model.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {
namespace {

using Grid = std::vector<std::vector<Term>>;  // [stage][op], zero where structurally impossible

Grid zero_grid(int ops) {
  return Grid(static_cast<std::size_t>(ops),
              std::vector<Term>(static_cast<std::size_t>(ops), Term::fixed(0)));
}

class PublishedModel {
 public:
  PublishedModel(const Problem& problem, double scale) : p_(problem), n_(problem.ops) {
    for (int op = 0; op < n_; ++op) {
      if (p_.writes[at(op)].size() != 1)
        throw InputError(Field{"formulation"}, "published takes ops with one result each");
      value_of_.push_back(p_.writes[at(op)].front());
      op_of_.resize(static_cast<std::size_t>(p_.values), -1);
      op_of_[at(value_of_.back())] = op;
    }
    add_columns(scale);
    add_dataflow_rows();
    for (int t = 0; t < n_; ++t) add_memory_rows(t);
    add_deadline();
  }

  Model model;

  [[nodiscard]] Decisions decisions(const std::vector<double>& x) const {
    Decisions d = no_decisions(p_);
    const auto taken = [&](Term term) { return term.is_column() && x[at(term.column)] > 0.5; };
    for (int t = 0; t < n_; ++t)
      for (int i = 0; i < t; ++i) {
        if (taken(compute_[at(t)][at(i)])) d.recompute[at(t)].push_back(i);
        if (taken(in_[at(t)][at(i)])) d.page_in[at(t)].push_back(value_of_[at(i)]);
        if (taken(out_[at(t)][at(i)])) d.page_out[at(t)].push_back(value_of_[at(i)]);
      }
    for (auto* sets : {&d.page_in, &d.page_out})
      for (auto& set : *sets) std::sort(set.begin(), set.end());
    return d;
  }

 private:
  void add_columns(double scale) {
    compute_ = retain_ = on_storage_ = in_ = out_ = zero_grid(n_);
    for (int t = 0; t < n_; ++t) {
      compute_[at(t)][at(t)] = Term::fixed(1);
      for (int i = 0; i < t; ++i) {
        const auto v = at(value_of_[at(i)]);
        if (t <= p_.recompute_until[at(i)])
          compute_[at(t)][at(i)] = Term::of(model.add_binary(scale * p_.joules[at(i)]));
        retain_[at(t)][at(i)] = Term::of(model.add_binary(0));
        if (!p_.paging) continue;
        on_storage_[at(t)][at(i)] = Term::of(model.add_binary(0));
        in_[at(t)][at(i)] = Term::of(model.add_binary(scale * p_.in_joules[v]));
        out_[at(t)][at(i)] = Term::of(model.add_binary(scale * p_.out_joules[v]));
      }
    }
  }

  void add_dataflow_rows() {
    for (int t = 0; t < n_; ++t) {
      const auto s = at(t);
      for (int j = 0; j <= t; ++j)
        for (int u : p_.reads[at(j)]) {
          const auto i = at(op_of_[at(u)]);
          model.at_most(Linear().add(1, compute_[s][at(j)]).add(-1, compute_[s][i]).add(-1, retain_[s][i]),
                        0);
        }
      for (int k = 0; k < t; ++k) {
        const auto i = at(k);
        model.at_most(Linear().add(1, in_[s][i]).add(-1, on_storage_[s][i]), 0);
        model.at_most(Linear().add(1, out_[s][i]).add(-1, retain_[s][i]), 0);
      }
      if (t == 0) continue;
      for (int k = 0; k < t; ++k) {
        const auto i = at(k);
        const auto& before = s - 1;
        model.at_most(Linear()
                          .add(1, retain_[s][i])
                          .add(-1, retain_[before][i])
                          .add(-1, compute_[before][i])
                          .add(-1, in_[before][i]),
                      0);
        model.at_most(
            Linear().add(1, on_storage_[s][i]).add(-1, on_storage_[before][i]).add(-1, out_[before][i]), 0);
      }
    }
  }

  // Adds Checkmate's U and Free rows of stage t.
  void add_memory_rows(int t) {
    const auto s = at(t);
    const double unit = static_cast<double>(std::max<std::int64_t>(p_.budget, 1));
    const auto weight = [&](int op) { return static_cast<double>(p_.bytes[at(value_of_[at(op)])]) / unit; };
    const double budget = static_cast<double>(p_.budget) / unit;
    Term used;
    Linear before;  // RAM after the previous op of the stage
    for (int i = 0; i < t; ++i) before.add(weight(i), retain_[s][at(i)]);
    for (int k = 0; k <= t; ++k) {
      used = Term::of(model.add_column(0, budget, 0, false));
      Linear balance;
      balance.add(1, used).add(before, -1).add(-weight(k), compute_[s][at(k)]);
      model.add_row(balance, 0, 0);
      before = Linear().add(1, used);
      std::vector<int> may_go{k};
      for (int u : p_.reads[at(k)]) may_go.push_back(op_of_[at(u)]);
      for (int i : may_go) {
        const Term free = Term::of(model.add_binary(0));
        Linear hazards;
        hazards.add(1, Term::fixed(1)).add(-1, compute_[s][at(k)]);
        double most = 1;
        if (t + 1 < n_) {
          hazards.add(1, retain_[s + 1][at(i)]);
          most += 1;
        }
        for (int user : p_.users[at(value_of_[at(i)])])
          if (user > k && user <= t) {
            hazards.add(1, compute_[s][at(user)]);
            most += 1;
          }
        model.at_least(Linear().add(hazards, 1).add(1, free), 1);
        model.at_most(Linear().add(hazards, 1).add(most, free), most);
        before.add(-weight(i), free);
      }
    }
  }

  void add_deadline() {
    if (std::isinf(p_.deadline) || p_.baseline_seconds <= 0) return;
    Linear time;
    for (int t = 0; t < n_; ++t)
      for (int i = 0; i <= t; ++i) time.add(p_.seconds[at(i)] / p_.baseline_seconds, compute_[at(t)][at(i)]);
    model.at_most(time, p_.latest() / p_.baseline_seconds);
  }

  const Problem& p_;
  int n_;
  std::vector<int> value_of_, op_of_;
  Grid compute_, retain_, on_storage_, in_, out_;
};

}  // namespace

void solve_published(Search& search) {
  const Problem& p = search.problem();
  const double scale = p.objective_scale;
  const PublishedModel published(p, scale);
  MipOptions options;
  options.time_limit_seconds = search.remaining();
  options.relative_gap = 0.5 * search.options().gap;
  options.solver = embedded(search.options().solver);
  options.keep_going = [&](double, double) {
    search.report();
    return !search.must_stop();
  };
  const MipResult mip = solve_mip(published.model, options);
  search.used_solver = true;
  search.nodes += mip.nodes;
  if (!mip.x.empty()) search.offer(complete(p, published.decisions(mip.x)));
  // The model never frees a retained value that its stage does not use. Its bound covers only the schedules
  // that it describes, and the exact replay may find less energy.
  const double bound = p.baseline_joules + mip.bound / scale;
  search.raise_staged_bound(search.has_incumbent() ? std::min(bound, search.incumbent().joules) : bound);
}

}  // namespace poet
