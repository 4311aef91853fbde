#pragma once

// The options that solve and explain share, as they are declared. Everything is kept as typed and read
// later, so that every message has one style and names the option.

#include <optional>
#include <string>

#include "apps/shared/inputs.h"
#include "poet/answer/least_budget.h"
#include "poet/optimize/outcome.h"

namespace poet::cli {

class Parser;

/// As typed.
struct SolverOptions {
  bool no_paging = false;
  bool no_remat = false;
  bool quiet = false;
  std::optional<std::string> gap, time_limit, threads, solver, formulation, order;
  std::optional<std::string> mps, solution, solver_command;  // of --solver file
  std::optional<std::string> progress_out, op_limit;
};

struct ProblemOptions {
  InputOptions input;
  LimitOptions limits;
  SolverOptions solver;
  /// What needs parameters in RAM and operators whole, unless the options say otherwise; empty: nothing.
  std::string resident_for;
  std::optional<SettledRam> ram;  // what --ram-budget comes to (ram_budget.h), once that is known
  int stopped_by = 0;             // the signal that interrupted the search for the least budget; 0: none
};

/// As policy_of() of their parts, with the mechanisms that the solver may use. On a device, unless the
/// options say otherwise, persistent values may live on storage and operators be split.
/// The RAM budget is the settled one; until there is one, none is set.
[[nodiscard]] Policy policy_of(const ProblemOptions& options);

/// Where an option changes the defaults of others: "--no-paging implies --split off"; else empty.
[[nodiscard]] std::string implied_options(const ProblemOptions& options);

/// Adds the options to `parser`; `options` must outlive the parsing. All of them, or group by group.
void add_problem_options(const Parser& parser, ProblemOptions& options);
void add_input_options(const Parser& parser, InputOptions& options);
void add_limit_options(const Parser& parser, LimitOptions& options);
/// --gap, --time-limit, --threads and --quiet: of whatever solves. `time_limit` says what the limit is
/// of, and its default.
void add_effort_options(const Parser& parser, SolverOptions& options, const std::string& time_limit);

/// What --op-limit says, as it was typed. Throws InputError.
[[nodiscard]] std::optional<std::int64_t> read_op_limit(const std::optional<std::string>& typed);

/// The share of steps that --on-time names. Throws InputError for one without a deadline.
[[nodiscard]] std::optional<double> read_on_time(const LimitOptions& limits);

/// Without progress and interruption, which the caller adds, and without the policy's part. Throws
/// InputError.
[[nodiscard]] SolveOptions read_solver_options(const SolverOptions& options);

}  // namespace poet::cli
