#pragma once

#include <vector>

#include "bench/measurement.h"

namespace poet::bench {

/// 0 for none. Of an even number the mean of the two in the middle.
[[nodiscard]] double median(std::vector<double> values);

/// exp(mean of log(value + shift)) - shift: small times do not rule it, nor large ones. 0 for none.
[[nodiscard]] double shifted_geometric_mean(const std::vector<double>& values, double shift = 1);

/// Time to the gap that was marked; the time limit where it was not reached.
[[nodiscard]] double time_to_gap(const Measurement& m);

/// What a configuration did on a set.
struct Summary {
  std::string set;
  std::string configuration;
  int cases = 0;
  int answered = 0;  // with a schedule that the verifier accepts
  int proven = 0;    // status optimal
  int infeasible = 0;
  int broken = 0;  // rejected, failed, crashed, overrun
  double median_to_gap = 0;
  double mean_to_gap = 0;  // shifted geometric mean
  double worst_overrun_seconds = 0;
  std::int64_t peak_memory_bytes = 0;
  int near_soon = 0;  // within 5% of the final overhead after at most 2 s
  int small = 0;      // answered, at most 200 ops
  int small_near_soon = 0;
  int with_best_known = 0;
  int missed = 0;  // more than 1% of its overhead above the best known energy, or no answer
};

/// One for each set and configuration, in the order of their first appearance.
[[nodiscard]] std::vector<Summary> summaries(const std::vector<Measurement>& results);

/// A configuration next to another one over the cases that both have solved or tried.
struct Ratio {
  std::string set;
  std::string configuration;
  std::string reference;
  int cases = 0;
  double time = 1;  // ratio of the shifted geometric means of the time to gap, shift included
  int faster = 0;   // by 10% and 0.1 s
  int slower = 0;
  int lower = 0;  // energy, by 1e-6 of the overhead
  int higher = 0;
  int answers_won = 0;
  int answers_lost = 0;
  double nodes = 1;  // ratio of the shifted geometric means, shift 1
};

/// `of` against `to`, set by set: results with the same case are compared.
[[nodiscard]] std::vector<Ratio> ratios(const std::vector<const Measurement*>& of,
                                        const std::vector<const Measurement*>& to);

/// How far `now` is above `before`, as a share of the overhead of `before`; differences of rounding are 0,
/// what is above an overhead of 0 is infinite. Both must be answered.
[[nodiscard]] double energy_change(const Measurement& now, const Measurement& before);

}  // namespace poet::bench
