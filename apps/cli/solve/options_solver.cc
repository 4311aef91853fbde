// What the options of the solver say.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "apps/cli/solve/options.h"
#include "apps/shared/amounts.h"
#include "apps/shared/output.h"
#include "poet/base/cores.h"
#include "poet/base/error.h"
#include "poet/optimize/solvers/command.h"
#include "poet/optimize/solvers/external.h"
#include "poet/optimize/solvers/solver.h"

namespace poet::cli {
namespace {

void check_order(const SolverOptions& options) {
  if (!options.order || *options.order == "given") return;
  if (options.solver.value_or("cbc") == "file")
    throw InputError("--order", "best solves two problems; --solver file solves one");
}

void read_solver(const SolverOptions& options, SolveOptions& out) {
  const std::string name = options.solver.value_or("cbc");
  if (name == "highs") {
    out.solver = Solver::highs;
    if (!has_solver(Solver::highs)) throw InputError("--solver", no_highs());
  } else if (name == "file") {
    out.solver = Solver::file;
  }
  if (out.solver != Solver::file) {
    for (const auto& [option, text] :
         {std::pair("--mps", &options.mps), std::pair("--solution", &options.solution),
          std::pair("--solver-command", &options.solver_command)})
      if (*text) throw InputError(option, "is for --solver file only");
    return;
  }
  if (!options.mps && !options.solver_command)
    throw InputError("--solver", "file needs --mps FILE.mps to write the model to, or --solver-command");
  if (options.solution && (!options.mps || options.solver_command))
    throw InputError("--solution",
                     "is the answer to the model in --mps, and cannot be combined with --solver-command");
  if (options.formulation && *options.formulation == "published")
    throw InputError("--solver", "file writes the tight formulation, not --formulation published");
  if (options.mps) check_writable("--mps", *options.mps);
  out.file.mps = options.mps.value_or("");
  out.file.solution = options.solution.value_or("");
  out.file.command = options.solver_command.value_or("");
  check_answer_files(out.file);
  if (options.solver_command) (void)expand_command(out.file.command, "", "", 1);
}

}  // namespace

std::optional<std::int64_t> read_op_limit(const std::optional<std::string>& typed) {
  return typed ? std::optional(parse_count("--op-limit", *typed)) : std::nullopt;
}

SolveOptions read_solver_options(const SolverOptions& options) {
  SolveOptions out;
  if (options.gap) out.gap = parse_fraction("--gap", *options.gap);
  if (options.time_limit)
    out.time_limit_seconds = parse_duration("--time-limit", *options.time_limit).value();
  constexpr std::int64_t kMostThreads = 256;
  out.threads = options.threads
                    ? static_cast<int>(std::min(parse_count("--threads", *options.threads), kMostThreads))
                    : usable_cores();
  read_solver(options, out);
  check_order(options);
  if (options.formulation == "published") out.formulation = Formulation::published;
  return out;
}

}  // namespace poet::cli
