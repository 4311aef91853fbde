#include "poet/optimize/milp/model.h"

#include <cmath>

namespace poet {

Linear& Linear::add(double coefficient, Term term) {
  if (term.is_column())
    terms_.emplace_back(term.column, coefficient);
  else
    constant_ += coefficient * term.constant;
  return *this;
}

Linear& Linear::add(const Linear& other, double factor) {
  for (const auto& [column, coefficient] : other.terms_) terms_.emplace_back(column, factor * coefficient);
  constant_ += factor * other.constant_;
  return *this;
}

int Model::add_column(double low, double high, double unit_cost, bool is_integer) {
  lower.push_back(low);
  upper.push_back(high);
  cost.push_back(unit_cost);
  integer.push_back(is_integer ? 1 : 0);
  return columns() - 1;
}

void Model::add_row(const Linear& expression, double low, double high) {
  scratch_.resize(lower.size(), 0.0);
  scratch_columns_.clear();
  for (const auto& [column, coefficient] : expression.terms()) {
    auto& sum = scratch_[static_cast<std::size_t>(column)];
    if (sum == 0) scratch_columns_.push_back(column);
    sum += coefficient;
    if (sum == 0) sum = 1e-300;  // cancelled, but already listed
  }
  const double new_low = low - expression.constant();
  const double new_high = high - expression.constant();
  double least = 0;
  double most = 0;
  const std::size_t start = entry_column.size();
  for (int column : scratch_columns_) {
    const auto i = static_cast<std::size_t>(column);
    const double coefficient = scratch_[i];
    scratch_[i] = 0;
    if (std::abs(coefficient) < 1e-200) continue;
    entry_column.push_back(column);
    entry_value.push_back(coefficient);
    least += coefficient * (coefficient > 0 ? lower[i] : upper[i]);
    most += coefficient * (coefficient > 0 ? upper[i] : lower[i]);
  }
  const double slack = 1e-12;
  if (least >= new_low - slack && most <= new_high + slack) {
    entry_column.resize(start);
    entry_value.resize(start);
    return;
  }
  if (entry_column.size() == start) {
    contradiction_ = true;
    return;
  }
  row_lower.push_back(new_low);
  row_upper.push_back(new_high);
  row_start.push_back(entry_column.size());
}

double cost_of(const Model& model, const double* x) {
  double sum = model.cost_constant;
  for (std::size_t c = 0; c < model.cost.size(); ++c) sum += model.cost[c] * x[c];
  return sum;
}

}  // namespace poet
