#include "poet/optimize/relaxation/recomputation_ram.h"

#include <algorithm>

#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

class WindowRam {
 public:
  WindowRam(const Problem& problem, const StageWindows& windows, const WindowModel& model,
            const std::vector<double>& x)
      : p_(problem), w_(windows), m_(model), x_(x), bytes_(at(problem.values)) {}

  std::vector<Linear> run(double least) {
    for (int k = 1; k < w_.count(); ++k) {
      find_what_stays(k);
      for (int op = 0; op < p_.ops; ++op) {
        const double recomputed = value_of(m_.recompute[at(k)][at(op)]);
        if (recomputed <= 0) continue;
        double sum = all_ + recomputed * static_cast<double>(working_set(p_, op));
        for (const auto* values : {&p_.reads[at(op)], &p_.writes[at(op)]})
          for (int v : *values) sum -= bytes_[at(v)];
        if (sum > static_cast<double>(p_.budget) * (1 + least)) cuts_.push_back(row(k, op));
      }
    }
    return std::move(cuts_);
  }

 private:
  [[nodiscard]] double value_of(int column) const { return column >= 0 ? x_[at(column)] : 0; }

  [[nodiscard]] Linear stays(int k, int v) const {
    Linear sum;
    sum.add(1, Term::of(m_.kept[at(k - 1)][at(v)]));
    sum.add(-1, Term::of(m_.recompute[at(k)][at(p_.producer[at(v)])]));
    sum.add(-1, Term::of(m_.page_in[at(k)][at(v)]));
    if (!is_read_at_end(k, v)) sum.add(1, Term::of(m_.kept[at(k)][at(v)])).add(-1, Term::fixed(1));
    return sum;
  }

  [[nodiscard]] bool is_read_at_end(int k, int v) const {
    return w_.first_stage(k) <= w_.last_stage(k) && contains(p_.reads[at(w_.last_stage(k))], v);
  }

  void find_what_stays(int k) {
    all_ = 0;
    for (int v = 0; v < p_.values; ++v) {
      bytes_[at(v)] = 0;
      if (!p_.active[at(v)] || m_.kept[at(k - 1)][at(v)] < 0) continue;
      double part = value_of(m_.kept[at(k - 1)][at(v)]) -
                    value_of(m_.recompute[at(k)][at(p_.producer[at(v)])]) -
                    value_of(m_.page_in[at(k)][at(v)]);
      if (!is_read_at_end(k, v)) part += value_of(m_.kept[at(k)][at(v)]) - 1;
      if (part <= 0) continue;
      bytes_[at(v)] = part * static_cast<double>(p_.bytes[at(v)]);
      all_ += bytes_[at(v)];
    }
  }

  // Returns 1 + (the rest of the budget) / budget.
  [[nodiscard]] Linear row(int k, int op) const {
    const double unit = 1 / static_cast<double>(std::max<std::int64_t>(p_.budget, 1));
    Linear sum;
    sum.add(2, Term::fixed(1));
    sum.add(-unit * static_cast<double>(working_set(p_, op)), Term::of(m_.recompute[at(k)][at(op)]));
    for (int v = 0; v < p_.values; ++v) {
      if (bytes_[at(v)] <= 0 || contains(p_.reads[at(op)], v) || contains(p_.writes[at(op)], v)) continue;
      sum.add(stays(k, v), -unit * static_cast<double>(p_.bytes[at(v)]));
    }
    return sum;
  }

  const Problem& p_;
  const StageWindows& w_;
  const WindowModel& m_;
  const std::vector<double>& x_;
  std::vector<double> bytes_;  // per value: bytes that stay throughout the current window
  double all_ = 0;
  std::vector<Linear> cuts_;
};

}  // namespace

std::vector<Linear> recomputation_ram_cuts(const Problem& problem, const StageWindows& windows,
                                           const WindowModel& model, const std::vector<double>& x,
                                           double least) {
  ensure(problem.residents.empty(), "rows of RAM while recomputing know of no residents");
  return WindowRam(problem, windows, model, x).run(least);
}

}  // namespace poet
