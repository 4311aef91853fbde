#pragma once

// The process that solves one case and tells its parent, in messages of JSON:
//   {"prepared": {"ops":, "least":, "most":, "budget":, "deadline":, "baseline":}}   once, before the solve
//   {"point": [seconds, joules, bound]}                                             when the solver knows
//   more
//   {"result": {...}} or {"error": {"status":, "message":}}                         last

#include <optional>

#include "bench/cases.h"
#include "bench/configurations.h"
#include "poet/base/process/child.h"

namespace poet::bench {

/// The RAM of a case, as far as an earlier solve has found it out.
struct KnownRam {
  std::optional<RamRange> range;
  std::optional<Bytes> budget;
};

struct ChildOptions {
  double gap = 0.01;
  int threads = 1;
  std::string solver_command;  // for Solver::file
};

/// Errors are told, not thrown.
void solve_for(Parent& parent, const Case& one, const Configuration& configuration, const KnownRam& ram,
               const ChildOptions& options);

}  // namespace poet::bench
