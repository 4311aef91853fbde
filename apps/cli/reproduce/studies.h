#pragma once

// The sweeps behind the reproduction: data/reproduction/*.json, smaller ones in quick/.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "poet/study/sweep_result.h"
#include "poet/study/sweep_spec.h"

namespace poet::cli {

struct Study {
  std::string name;  // of its file, without folder and extension: "figure3_published"
  std::vector<SweepPoint> points;
  std::vector<SweepResult> results;  // as many, once they are there
};

/// Table 3, and POET within the limits of POFO's plans there, a study that follows from its results.
inline constexpr const char* kTable3 = "table3";
inline constexpr const char* kTable3InTime = "in_time_of_table3";

/// Every study in a file, without results. Throws InputError where a file is missing or wrong.
[[nodiscard]] std::vector<Study> read_studies(bool quick);

/// Every point once, although studies share some.
[[nodiscard]] std::vector<SweepPoint> points_of(const std::vector<Study>& studies);

/// Fills in the results. Each point must have one among `results`.
void distribute(const std::vector<SweepResult>& results, std::vector<Study>& studies);

/// The results of all studies whose name begins so: "figure3_published" has one for small networks and one
/// for BERT.
[[nodiscard]] std::vector<SweepResult> results_of(const std::vector<Study>& studies,
                                                  const std::string& prefix);

/// The result's plan is within its limits.
[[nodiscard]] bool holds(const SweepResult& result);

/// The result of `method` at the same instance and limits as `other`; null without one that holds.
[[nodiscard]] const SweepResult* beside(const std::vector<SweepResult>& results, const SweepResult& other,
                                        const std::string& method);

/// Least and most of a figure over results for which there is one.
struct Range {
  double least = 0;
  double most = 0;
  std::size_t count = 0;

  void add(double figure);
};

/// By how much the method's energy is above that of `reference` at the same limits, in parts of the latter,
/// over points at which both hold and `chosen`.
[[nodiscard]] Range energy_above(const std::vector<SweepResult>& results, const std::string& method,
                                 const std::string& reference,
                                 const std::function<bool(const SweepResult&)>& chosen);

/// "12% to 45%", "12%" where they are the same, "-" without any.
[[nodiscard]] std::string describe(const Range& range, int digits = 3);

}  // namespace poet::cli
