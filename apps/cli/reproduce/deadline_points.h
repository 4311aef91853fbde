#pragma once

// Table 3 compares POET with POFO at POFO's time: what POET is asked for follows from POFO's results.

#include <string>
#include <vector>

#include "poet/study/sweep_point.h"
#include "poet/study/sweep_result.h"

namespace poet::cli {

/// Limits of POET next to a plan of POFO's: parts of its RAM and of its time.
struct NextToPofo {
  double ram = 1;
  double time = 1;
};

/// The paper's figures: 8.3% less RAM, 13% more throughput.
inline constexpr double kLessRam = 0.083;
inline constexpr double kMoreThroughput = 0.13;

/// Equal RAM and time; the RAM of the claim, the time of the claim, and both.
[[nodiscard]] const std::vector<NextToPofo>& next_to_pofo();

/// The limits that these are of a plan, rounded down to whole bytes.
[[nodiscard]] RamBudget ram_of(const SweepResult& pofos, const NextToPofo& limits);
[[nodiscard]] StepDeadline deadline_of(const SweepResult& pofos, const NextToPofo& limits);

/// POET's points within the RAM and the time of every plan of POFO's among `results`, which are those of
/// `points`, each once.
[[nodiscard]] std::vector<SweepPoint> deadline_points(const std::vector<SweepPoint>& points,
                                                      const std::vector<SweepResult>& results);

}  // namespace poet::cli
