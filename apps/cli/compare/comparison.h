#pragma once

// The results of `poet compare` as text, JSON and CSV.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/solve/solving.h"
#include "poet/study/run_method.h"

namespace poet::cli {

struct Comparison {
  struct Row {
    const Method* method = nullptr;
    Judged judged;
  };
  Solved posed;  // without a result
  std::vector<Row> rows;
  bool interrupted = false;
  std::string suggestion;         // a command that finds a plan, if no method does
  bool persistent_typed = false;  // --persistent; else the suggestion may also keep parameters on storage
  bool split_typed = false;       // --split; else the suggestion may also split operators

  /// The plan of `poet solve` with its defaults: operators in parts, parameters in RAM or on storage.
  struct InParts {
    Report report;
    std::string command;  // may be empty
  };
  std::optional<InParts> in_parts;  // if it needs less energy than every method's plan
};

/// Returns the least energy of the methods' plans within the limits; nullopt if there is none.
[[nodiscard]] std::optional<Joules> least_energy(const Comparison& comparison);
/// Whether any method's plan is within the limits.
[[nodiscard]] bool any_holds(const Comparison& comparison);
/// Returns a sentence about `in_parts`, without the command, or "".
[[nodiscard]] std::string in_parts_text(const Comparison& comparison);

[[nodiscard]] std::string comparison_text(const Comparison& comparison);
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison);
/// One line per method under a heading; figures in SI units, empty where there are none.
[[nodiscard]] std::string comparison_csv(const Comparison& comparison);

/// Every method with its source.
[[nodiscard]] std::string methods_text();
[[nodiscard]] nlohmann::ordered_json methods_json();

}  // namespace poet::cli
