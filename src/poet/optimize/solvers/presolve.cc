#include "poet/optimize/solvers/presolve.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace poet {
namespace {

constexpr double kIntegrality = 1e-6;    // solvers' usual tolerance
constexpr double kSlack = 1e-9;          // tolerance of rows, relative to max(1, side)
constexpr std::size_t kMostVisits = 50;  // mean per row: bounds of integers may converge very slowly

double slack_of(double side) { return kSlack * std::max(1.0, std::abs(side)); }

// The minimum or maximum activity of a row. Infinite bounds are counted separately, so that the activity
// without one column can be computed.
struct Activity {
  double finite = 0;
  int infinite = 0;

  void add(double coefficient, double bound) {
    if (std::isfinite(bound))
      finite += coefficient * bound;
    else
      ++infinite;
  }
  // The activity without a column that contributes coefficient * bound, and whether it is finite.
  [[nodiscard]] bool is_finite_without(double bound) const {
    return infinite == (std::isfinite(bound) ? 0 : 1);
  }
  [[nodiscard]] double without(double coefficient, double bound) const {
    return std::isfinite(bound) ? finite - coefficient * bound : finite;
  }
};

class Reduction {
 public:
  explicit Reduction(const Model& model)
      : m_(model),
        lower_(model.lower),
        upper_(model.upper),
        rows_of_(model.lower.size()),
        gone_(model.row_lower.size(), 0),
        infeasible_(model.contradiction()) {
    for (std::size_t c = 0; c < lower_.size(); ++c) round_bounds(c);
    for (std::size_t r = 0; r < gone_.size(); ++r)
      for (std::size_t k = m_.row_start[r]; k < m_.row_start[r + 1]; ++k) rows_of_[column(k)].push_back(r);
  }

  Presolved run() {
    std::vector<std::size_t> all(gone_.size());
    for (std::size_t r = 0; r < all.size(); ++r) all[r] = r;
    queue_ = std::move(all);
    queued_.assign(gone_.size(), 1);
    std::size_t visits = kMostVisits * gone_.size();
    do {
      while (!queue_.empty() && !infeasible_ && visits >= queue_.size()) {
        std::vector<std::size_t> rows;
        rows.swap(queue_);
        visits -= rows.size();
        for (const std::size_t r : rows) queued_[r] = 0;
        for (const std::size_t r : rows) look_at(r);
      }
    } while (!infeasible_ && set_what_only_costs());
    Presolved result;
    result.infeasible = infeasible_;
    if (!infeasible_) build(result);
    return result;
  }

 private:
  [[nodiscard]] std::size_t column(std::size_t entry) const {
    return static_cast<std::size_t>(m_.entry_column[entry]);
  }
  [[nodiscard]] bool is_fixed(std::size_t c) const { return lower_[c] == upper_[c]; }

  void round_bounds(std::size_t c) {
    if (m_.integer[c]) {
      lower_[c] = std::ceil(lower_[c] - kIntegrality);
      upper_[c] = std::floor(upper_[c] + kIntegrality);
    }
    if (lower_[c] > upper_[c]) infeasible_ = true;
  }

  void changed(std::size_t c) {
    for (const std::size_t r : rows_of_[c])
      if (!gone_[r] && !queued_[r]) {
        queued_[r] = 1;
        queue_.push_back(r);
      }
  }

  void look_at(std::size_t r) {
    if (gone_[r] || infeasible_) return;
    Activity least;
    Activity most;
    for (std::size_t k = m_.row_start[r]; k < m_.row_start[r + 1]; ++k) {
      const double a = m_.entry_value[k];
      const std::size_t c = column(k);
      least.add(a, a > 0 ? lower_[c] : upper_[c]);
      most.add(a, a > 0 ? upper_[c] : lower_[c]);
    }
    const double low = m_.row_lower[r];
    const double high = m_.row_upper[r];
    if ((least.infinite == 0 && least.finite > high + slack_of(high)) ||
        (most.infinite == 0 && most.finite < low - slack_of(low))) {
      infeasible_ = true;
      return;
    }
    const bool holds_above =
        high == kInfinity || (most.infinite == 0 && most.finite <= high + slack_of(high));
    const bool holds_below =
        low == -kInfinity || (least.infinite == 0 && least.finite >= low - slack_of(low));
    if (holds_above && holds_below) {
      gone_[r] = 1;
      return;
    }
    for (std::size_t k = m_.row_start[r]; k < m_.row_start[r + 1]; ++k) tighten(k, least, most, low, high);
  }

  // Tightens the bounds of one integer column by the row's activity without it.
  void tighten(std::size_t entry, const Activity& least, const Activity& most, double low, double high) {
    const std::size_t c = column(entry);
    if (!m_.integer[c] || is_fixed(c)) return;
    const double a = m_.entry_value[entry];
    const double lower = lower_[c];
    const double upper = upper_[c];
    const double at_least = a > 0 ? lower : upper;
    const double at_most = a > 0 ? upper : lower;
    double new_lower = lower;
    double new_upper = upper;
    if (high < kInfinity && least.is_finite_without(at_least)) {
      const double limit = (high + slack_of(high) - least.without(a, at_least)) / a;
      if (a > 0)
        new_upper = std::min(new_upper, std::floor(limit + kIntegrality));
      else
        new_lower = std::max(new_lower, std::ceil(limit - kIntegrality));
    }
    if (low > -kInfinity && most.is_finite_without(at_most)) {
      const double limit = (low - slack_of(low) - most.without(a, at_most)) / a;
      if (a > 0)
        new_lower = std::max(new_lower, std::ceil(limit - kIntegrality));
      else
        new_upper = std::min(new_upper, std::floor(limit + kIntegrality));
    }
    if (new_lower > new_upper) {
      infeasible_ = true;
      return;
    }
    if (new_lower == lower && new_upper == upper) return;
    lower_[c] = new_lower;
    upper_[c] = new_upper;
    changed(c);
  }

  // Dual fixing: a column is fixed at a bound if moving it there neither costs more nor violates a row.
  // Returns whether any was fixed.
  bool set_what_only_costs() {
    std::vector<char> may_fall(lower_.size(), 1);
    std::vector<char> may_rise(lower_.size(), 1);
    for (std::size_t r = 0; r < gone_.size(); ++r) {
      if (gone_[r]) continue;
      for (std::size_t k = m_.row_start[r]; k < m_.row_start[r + 1]; ++k) {
        const bool positive = m_.entry_value[k] > 0;
        const std::size_t c = column(k);
        if (m_.row_lower[r] > -kInfinity) (positive ? may_fall : may_rise)[c] = 0;
        if (m_.row_upper[r] < kInfinity) (positive ? may_rise : may_fall)[c] = 0;
      }
    }
    bool any = false;
    for (std::size_t c = 0; c < lower_.size(); ++c) {
      if (is_fixed(c)) continue;
      if (may_fall[c] && m_.cost[c] >= 0 && std::isfinite(lower_[c]))
        upper_[c] = lower_[c];
      else if (may_rise[c] && m_.cost[c] <= 0 && std::isfinite(upper_[c]))
        lower_[c] = upper_[c];
      else
        continue;
      any = true;
      changed(c);
    }
    return any;
  }

  void build(Presolved& result) const {
    result.x.assign(lower_.size(), 0.0);
    result.model.cost_constant = m_.cost_constant;
    std::vector<Term> terms(lower_.size());
    for (std::size_t c = 0; c < lower_.size(); ++c) {
      if (is_fixed(c)) {
        result.x[c] = lower_[c];
        result.model.cost_constant += m_.cost[c] * lower_[c];
        terms[c] = Term::fixed(lower_[c]);
      } else {
        terms[c] = Term::of(result.model.add_column(lower_[c], upper_[c], m_.cost[c], m_.integer[c] != 0));
        result.columns.push_back(static_cast<int>(c));
      }
    }
    for (std::size_t r = 0; r < gone_.size(); ++r) {
      if (gone_[r]) continue;
      Linear row;
      for (std::size_t k = m_.row_start[r]; k < m_.row_start[r + 1]; ++k)
        row.add(m_.entry_value[k], terms[column(k)]);
      result.model.add_row(row, m_.row_lower[r], m_.row_upper[r]);
    }
    result.infeasible = result.model.contradiction();
  }

  const Model& m_;
  std::vector<double> lower_, upper_;
  std::vector<std::vector<std::size_t>> rows_of_;
  std::vector<char> gone_;  // redundant rows
  std::vector<std::size_t> queue_;
  std::vector<char> queued_;
  bool infeasible_;
};

}  // namespace

bool fix_by_reduced_costs(Model& model, const LpResult& relaxation, double target) {
  if (!std::isfinite(target) || relaxation.status != LpStatus::optimal) return false;
  constexpr double kTolerance = 1e-5;
  const auto is_at = [&](std::size_t c, double bound) {
    return bound == std::round(bound) && std::abs(relaxation.x[c] - bound) < kTolerance;
  };
  bool any = false;
  for (std::size_t c = 0; c < relaxation.x.size(); ++c) {
    if (!model.integer[c] || model.lower[c] == model.upper[c]) continue;
    const double lift = relaxation.reduced_costs[c];
    if (relaxation.objective + std::abs(lift) <= target + kTolerance) continue;
    if (lift > 0 && is_at(c, model.lower[c]))
      model.upper[c] = model.lower[c];
    else if (lift < 0 && is_at(c, model.upper[c]))
      model.lower[c] = model.upper[c];
    else
      continue;
    any = true;
  }
  return any;
}

Presolved presolve(const Model& model) { return Reduction(model).run(); }

std::vector<double> restored(const Presolved& presolved, const std::vector<double>& x) {
  std::vector<double> point = presolved.x;
  for (std::size_t c = 0; c < x.size(); ++c) point[static_cast<std::size_t>(presolved.columns[c])] = x[c];
  return point;
}

}  // namespace poet
