#pragma once

// What one solve of one case showed, and its JSON form.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace poet::bench {

/// What was known at a moment of the solve.
struct Point {
  double seconds = 0;
  std::optional<double> joules;  // of the best schedule so far
  std::optional<double> bound;
};

/// Times are seconds since the solve started. What did not happen is absent.
struct Measurement {
  // Which solve.
  std::string set;
  std::string name;
  double fraction = 0;
  std::string configuration;

  // The case.
  std::int64_t ops = 0;
  std::optional<std::int64_t> least_ram_bytes;   // f = 0
  std::optional<std::int64_t> most_ram_bytes;    // f = 1
  std::optional<std::int64_t> ram_budget_bytes;  // absent when the instance could not be made
  std::optional<double> deadline_seconds;
  std::optional<double> baseline_joules;  // everything computed once
  double time_limit_seconds = 0;

  // The answer. Status: optimal, feasible, infeasible, unknown as poet says; rejected by the verifier; failed
  // (an error message); crashed; overrun (killed well after the time limit).
  std::string status;
  std::string message;                   // of what went wrong, or why there is no answer
  std::optional<bool> verifier_accepts;  // absent without a schedule
  std::optional<double> energy_joules;
  std::optional<double> bound_joules;
  std::optional<double> overhead;    // energy / baseline - 1
  std::optional<double> gap;         // (energy - bound) / (energy - baseline)
  std::optional<double> energy_gap;  // (energy - bound) / energy
  std::optional<std::int64_t> peak_ram_bytes;
  std::optional<double> best_known_joules;
  std::optional<double> missed;  // (energy - best known) / (best known - baseline)

  // How it came about.
  std::optional<double> seconds_to_first;       // a schedule
  std::optional<double> first_excess;           // its energy above the baseline / the final one's, less 1
  std::optional<double> seconds_to_near;        // a schedule whose excess is at most 5%
  std::optional<double> seconds_to_gap;         // gap <= --mark
  std::optional<double> seconds_to_energy_gap;  // energy gap <= --energy-mark
  std::optional<double> seconds_to_proof;       // gap <= --gap; only if the status is optimal
  double wall_seconds = 0;                      // of poet::compile, replays included
  double overrun_seconds = 0;                   // beyond the time limit
  double cpu_seconds = 0;                       // of the process, its children and preparations included
  std::int64_t nodes = 0;
  std::int64_t peak_memory_bytes = 0;  // resident, of the process that solves
  std::string solver;                  // as poet names it
  double load = 0;                     // of the machine when the solve started, processes that want to run
  std::vector<Point> trace;            // thinned: every new schedule, and every fall of the gap by a tenth

  [[nodiscard]] bool answered() const { return energy_joules.has_value(); }
};

/// "published/bert.m4 f=0.25": the same for every configuration.
[[nodiscard]] std::string case_key(const Measurement& m);
/// Of the case and the configuration.
[[nodiscard]] std::string key(const Measurement& m);

/// (joules - bound) / (joules - baseline); 0 when they agree to 1e-9 of the baseline.
[[nodiscard]] double gap_of(double joules, double bound, double baseline);

/// Absent figures are null.
[[nodiscard]] nlohmann::ordered_json to_json(const Measurement& m);
/// Throws InputError when a field is missing or of another type.
[[nodiscard]] Measurement measurement_from_json(const nlohmann::ordered_json& json);

struct Marks {
  double gap = 0.01;          // that the solve was asked for
  double mark = 0.01;         // gap of seconds_to_gap
  double energy_mark = 1e-3;  // energy gap of seconds_to_energy_gap
};

/// Fills "how it came about" up to seconds_to_proof, and the trace, from everything that was reported.
void digest(const std::vector<Point>& points, const Marks& marks, Measurement& m);

}  // namespace poet::bench
