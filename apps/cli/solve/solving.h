#pragma once

// From options as typed to a compiled result, with progress on stderr and Ctrl-C: what solve and explain have
// in common.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/solve/options.h"
#include "apps/shared/inputs.h"
#include "poet/compile.h"
#include "poet/pipeline/pose.h"

namespace poet::cli {

struct Solved {
  Workload workload;  // without the instance, which is in the request
  Figures figures;
  CompileRequest request;
  CompileResult result;
  bool interrupted = false;
  std::vector<std::string> other_ways;   // out, where there is no answer: each has been tried
  std::optional<Bytes> floor_elsewhere;  // the RAM floor with --persistent excluded, where that may matter
};

/// Whether there is a schedule.
[[nodiscard]] bool has_answer(const Solved& solved);

/// Whether the search was ended by its time limit, and not by itself.
[[nodiscard]] bool ran_out_of_time(const Solved& solved);

/// kAnswer or kNoAnswer.
[[nodiscard]] int exit_code(const Solved& solved);

/// What is to be changed or checked about an instance before anything is derived from it; may be empty.
using Adjustment = std::function<void(Instance& instance, Semantics semantics)>;

/// Another way to pose the problem, and what the user is to do for it.
struct Alternative {
  std::string way;
  Adjustment adjust;
};

struct Solving {
  bool synchronous = true;  // also plans that are no staged schedules
  Adjustment adjust;
  std::vector<Alternative> alternatives;  // tried where the RAM is too little for any plan
  const char* on_interrupt = "stopping with the best schedule so far";  // what the first Ctrl-C says
};

/// The request without a result; no progress, no interruption. Throws InputError.
[[nodiscard]] Solved pose_problem(const ProblemOptions& options, const Adjustment& adjust = {});

/// Reads every option before it starts to solve. Throws InputError.
[[nodiscard]] Solved solve_problem(const ProblemOptions& options, const Solving& how = {});

}  // namespace poet::cli
