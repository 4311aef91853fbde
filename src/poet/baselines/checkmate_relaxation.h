#pragma once

#include <vector>

#include "poet/baselines/method.h"

namespace poet {

inline constexpr int kMostRelaxationRows = 500'000;

enum class RelaxationStatus { solved, infeasible, too_large, stopped };

/// S of Checkmate's linear relaxation.
struct Relaxation {
  RelaxationStatus status = RelaxationStatus::stopped;
  int rows = 0;
  double joules = 0;  // the relaxation's optimum, a bound on schedules that page nothing within the budget

  /// How much of the value is in RAM at the start of the stage, from 0 to 1.
  [[nodiscard]] double retained(OpId stage, ValueId value) const {
    const auto v = static_cast<std::size_t>(value.index);
    const auto t = static_cast<std::size_t>(stage.index);
    return v < s.size() && t >= first[v] && t < first[v] + s[v].size() ? s[v][t - first[v]] : 0.0;
  }

  std::vector<std::size_t> first;      // per value: the stage after its production
  std::vector<std::vector<double>> s;  // per value, per stage from there on
};

/// Problem (9) of the paper with integrality dropped, for ops with any number of results: R per op and stage,
/// S and Free per value. Free is bounded as in the authors' code, Free <= 1 - S', Free <= 1 - R of each later
/// user, sum of Free <= 1, which is tighter than the paper's hazard rows and has the same integer points.
/// `budget`: bytes for what a schedule decides about. O(ops * (ops + edges)) columns; the time limit and
/// interruption are those of the request's options.
[[nodiscard]] Relaxation checkmate_relaxation(const MethodRequest& request, Bytes budget);

}  // namespace poet
