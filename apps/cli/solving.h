#pragma once

// From options as typed to a compiled result, with progress on stderr and Ctrl-C: what solve and explain have
// in common.

#include <functional>

#include "apps/cli/inputs.h"
#include "apps/cli/options.h"
#include "poet/compile.h"

namespace poet::cli {

struct Solved {
  Inputs inputs;  // without the instance, which is in the request
  CompileRequest request;
  CompileResult result;
  Bytes floor_ram{};  // no schedule exists below: one op's operands, results and what is persistent
  OpId floor_op;      // the op that needs it; invalid when the graph has no ops
  bool interrupted = false;
};

/// Whether there is a schedule.
[[nodiscard]] bool has_answer(const Solved& solved);

/// Whether the search was ended by its time limit, and not by itself.
[[nodiscard]] bool ran_out_of_time(const Solved& solved);

/// kAnswer or kNoAnswer.
[[nodiscard]] int exit_code(const Solved& solved);

/// What is to be changed or checked about an instance before anything is derived from it; may be empty.
using Adjustment = std::function<void(Instance& instance, Semantics semantics)>;

struct Solving {
  bool between_ops = true;  // plans without a stage form are welcome
  Adjustment adjust;
  const char* on_interrupt = "stopping with the best schedule so far";  // what the first Ctrl-C says
};

/// The request without a result but for result.keep_all; no progress, no interruption. Throws InputError.
[[nodiscard]] Solved pose_problem(const ProblemOptions& options, const Adjustment& adjust = {});

/// Reads every option before it starts to solve. Throws InputError.
[[nodiscard]] Solved solve_problem(const ProblemOptions& options, const Solving& how = {});

}  // namespace poet::cli
