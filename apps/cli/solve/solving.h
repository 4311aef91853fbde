#pragma once

// From options as typed to a compiled result, with progress on stderr and Ctrl-C: what solve and explain have
// in common.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/solve/options.h"
#include "apps/shared/inputs.h"
#include "apps/shared/interrupt.h"
#include "poet/answer/answer.h"
#include "poet/plan/file/plan_file.h"

namespace poet::cli {

/// Suggestions if there is no plan: other limits and problem options, each with a plan that was found.
struct Suggestions {
  std::optional<Bytes> ram;    // all other options unchanged, here and below
  bool ram_keeps_all = false;  // with this RAM nothing is paged or recomputed
  std::optional<Seconds> deadline;
  std::optional<double> on_time;
  bool any_deadline = false;                      // a plan exists without a deadline, but for no known one
  std::optional<std::pair<Bytes, Seconds>> both;  // RAM and deadline of the step without limits
  std::optional<Bytes> max_bytes_written;
  std::string split;  // "off" or bytes: what has to be typed with these four, as they were tried with it
  std::optional<std::int64_t> batch_size;
  std::vector<std::string> others;  // as texts
};

struct Solved : Answer {
  Solved() = default;
  explicit Solved(Answer answer) : Answer(std::move(answer)) {}

  std::string implied_options;           // as implied_options()
  int stopped_by = 0;                    // the signal (interrupt.h) that interrupted the search; 0: none
  Suggestions suggestions;               // without an answer; of a solve that was not interrupted
  std::optional<Bytes> floor_elsewhere;  // the RAM floor with --persistent excluded, where that may matter
};

/// Whether any parameters or optimiser state stay in RAM between steps.
[[nodiscard]] bool counts_persistent(const Solved& solved);

/// Returns " in parts of 32 KiB" if the graph is split: a RAM floor, or a proof that no plan exists, holds
/// for these parts only.
[[nodiscard]] std::string in_parts(const Workload& workload);

/// Whether no plan meets the RAM budget with any deadline; whether none meets the deadline with any RAM.
[[nodiscard]] bool ram_hopeless(const Solved& solved);
[[nodiscard]] bool deadline_hopeless(const Solved& solved);

/// Whether the RAM budget is hopeless, and the explanation's least RAM is one for which a quick search has a
/// plan with addresses.
[[nodiscard]] bool knows_a_little_more_ram(const Solved& solved);

/// Whether the time limit ended the search.
[[nodiscard]] bool ran_out_of_time(const Solved& solved);

/// kAnswer or kNoAnswer.
[[nodiscard]] int exit_code(const Solved& solved);

/// Changes or checks an instance before it is used; may be empty.
using Adjustment = std::function<void(Instance& instance, Semantics semantics)>;

/// Another form of the problem, and its options.
struct Alternative {
  std::string change;
  Adjustment adjust;
};

struct Solving {
  bool synchronous = true;   // also plans that are no staged schedules
  bool look_further = true;  // search for suggestions if there is no plan
  bool parts_fixed = false;  // with other limits the graph comes in the same parts
  Adjustment adjust;
  std::vector<Alternative> alternatives;  // tried where the RAM is too little for any plan
  const InterruptGuard* guard = nullptr;  // of a search of several solves; none: each has its own
  const char* on_interrupt = "stopping with what was found so far";  // what the first Ctrl-C says
};

/// The plan of an answer that has one, with what it is for.
[[nodiscard]] PlanFile plan_file_of(const Solved& solved);

/// The request without a result; no progress, no interruption. Throws InputError.
[[nodiscard]] Solved pose_problem(const ProblemOptions& options, const Adjustment& adjust = {});

/// The same problem, the parts of its graph included, within another RAM budget: that of `options`. `other`
/// is solved, and its graph is taken. Throws InputError.
[[nodiscard]] Solved with_budget(const Solved& other, const ProblemOptions& options);

/// As solve_problem(), for a posed problem.
[[nodiscard]] Solved solve_posed(Solved posed, const ProblemOptions& options, const Solving& how = {});

/// Reads every option before it starts to solve. Where there is no answer, suggestions are searched, for 5
/// seconds or the time limit if that is less, and a second or two beyond it at most. Throws InputError.
[[nodiscard]] Solved solve_problem(const ProblemOptions& options, const Solving& how = {});

}  // namespace poet::cli
