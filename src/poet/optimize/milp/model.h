#pragma once

// A mixed-integer program as plain data: minimise cost.x subject to lower <= rows <= upper. Only the solvers'
// folder translates it to solvers' types.

#include <cstddef>
#include <utility>
#include <vector>

#include "poet/base/numbers.h"

namespace poet {

/// A column, or a constant if the problem already fixes it: row builders need not distinguish them.
struct Term {
  int column = -1;
  double constant = 0;  // when column < 0

  static Term fixed(double value) { return {-1, value}; }
  /// Zero where there is no column (-1).
  static Term of(int column) { return {column, 0}; }
  [[nodiscard]] bool is_column() const { return column >= 0; }
  [[nodiscard]] bool is_zero() const { return column < 0 && constant == 0; }
  bool operator==(const Term&) const = default;
};

/// sum of coefficient * column, plus a constant.
class Linear {
 public:
  Linear& add(double coefficient, Term term);
  Linear& add(const Linear& other, double factor);
  [[nodiscard]] const std::vector<std::pair<int, double>>& terms() const { return terms_; }
  [[nodiscard]] double constant() const { return constant_; }

 private:
  std::vector<std::pair<int, double>> terms_;
  double constant_ = 0;
};

class Model {
 public:
  /// A column in [lower, upper]; returns its index.
  int add_column(double lower, double upper, double cost, bool integer);
  int add_binary(double unit_cost) { return add_column(0, 1, unit_cost, true); }

  /// Adds lower <= expression <= upper. Repeated columns are summed. Redundant rows are dropped; a violated
  /// row without columns makes the model infeasible by contradiction().
  void add_row(const Linear& expression, double lower, double upper);
  void at_most(const Linear& expression, double bound) { add_row(expression, -kInfinity, bound); }
  void at_least(const Linear& expression, double bound) { add_row(expression, bound, kInfinity); }

  [[nodiscard]] int columns() const { return static_cast<int>(lower.size()); }
  [[nodiscard]] int rows() const { return static_cast<int>(row_lower.size()); }
  [[nodiscard]] bool contradiction() const { return contradiction_; }

  // Columns.
  std::vector<double> lower, upper, cost;
  std::vector<char> integer;
  double cost_constant = 0;
  // Rows, in compressed form: row r holds entries [row_start[r], row_start[r + 1]).
  std::vector<double> row_lower, row_upper;
  std::vector<std::size_t> row_start{0};
  std::vector<int> entry_column;
  std::vector<double> entry_value;

 private:
  bool contradiction_ = false;
  std::vector<double> scratch_;  // per column: coefficient of the row being built
  std::vector<int> scratch_columns_;
};

/// Returns the cost of a point.
[[nodiscard]] double cost_of(const Model& model, const double* x);

}  // namespace poet
