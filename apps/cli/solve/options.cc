#include "apps/cli/solve/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "apps/shared/amounts.h"
#include "apps/shared/output.h"
#include "apps/shared/parser.h"
#include "poet/base/error.h"
#include "poet/optimize/search/synchronous.h"
#include "poet/optimize/solvers/command.h"
#include "poet/optimize/solvers/solver.h"

namespace poet::cli {

void add_input_options(const Parser& parser, InputOptions& options) {
  const Parser group = parser.group("What to schedule");
  add_network_options(group, options);
  group.option("--instance", options.instance, "or a graph with its costs, from a file", "FILE");
  group.option("--platform", options.platform, "the device: a name (poet devices) or a profile",
               "DEVICE|FILE.json");
  group.option("--persistent", options.persistent,
               "auto (default): each parameter and optimiser state is in RAM from step to step or at home on "
               "storage, whichever costs less energy; resident (default of compare): all are in RAM; "
               "excluded: they live elsewhere, as "
               "do the parameters' gradients",
               "auto|resident|excluded");
  group.option(
      "--split", options.split,
      "auto (default): operators in parts, where the RAM budget is small beside the largest operator; off: "
      "as they are; or in parts of at most so many bytes: 32KiB",
      "auto|off|BYTES");
  group.option(
      "--semantics", options.semantics,
      "device (default): RAM and time as the device has them; staged, published: the paper's rules, with "
      "--model on its "
      "published instance; staged is the default for an instance file without a device",
      "device|staged|published");
}

void add_limit_options(const Parser& parser, LimitOptions& options) {
  const Parser group = parser.group("Limits");
  group.option(
      "--ram-budget", options.ram_budget,
      "RAM for everything the step needs: 737719, 300KiB, 2MB; 50%, of what keeping everything takes; or "
      "least, for which a plan is known (default: the device's RAM)",
      "BYTES|PART%|least");
  group.flag("--beyond-device-ram", options.beyond_device_ram,
             "plan for a RAM budget above the device's RAM, which is refused without this");
  group.option(
      "--runtime-budget", options.runtime_budget,
      "deadline as a multiple of the time the step takes without limits, as in 1.3 (default: no deadline)",
      "FACTOR");
  group.option("--deadline", options.deadline,
               "or the deadline of one step: 50ms, 2s, 1.5min; bare numbers are seconds", "TIME");
  group.option("--total-deadline", options.total_deadline, "or the deadline of --steps steps together",
               "TIME");
  group.option("--steps", options.steps, "how many steps --total-deadline is for", "N");
  group.option("--max-bytes-written", options.max_bytes_written,
               "wear: at most so many bytes written to storage per step (default: no limit)", "BYTES");
}

void add_effort_options(const Parser& parser, SolverOptions& options, const std::string& time_limit) {
  const Parser group = parser.group("Solving");
  group.option(
      "--gap", options.gap,
      "stop when the gap is proven to be at most this part of the overhead, the energy above the step "
      "without limits (default 1%; a MIP's gap is relative to the whole energy)",
      "PART");
  group.option("--time-limit", options.time_limit, time_limit, "TIME");
  group.option("--solve-threads", options.solve_threads, "threads of the solver (default 1)", "N");
  group.option("--op-limit", options.op_limit,
               "refuse networks whose training step has more ops, as servers do (default: no limit)", "N");
  group.flag("--quiet", options.quiet, "no progress on stderr");
}

namespace {

void add_solver_options(const Parser& parser, SolverOptions& options) {
  const Parser group = parser.group("Solving");
  group.flag("--no-paging", options.no_paging,
             "recompute only; implies --persistent resident --split off where they are not given");
  group.flag("--no-remat", options.no_remat, "page only");
  group
      .option(
          "--order", options.order,
          "of the ops: given (default), the network's; best: also one of less RAM, which takes a quarter of "
          "the time, and the better plan of the two; its bound holds for every order",
          "given|best")
      .one_of({"given", "best"});
  add_effort_options(parser, options,
                     "of the solver on this machine (default 2min); without an answer as much again, some 5 "
                     "s at most, to try what would help");
  group
      .option("--solver", options.solver,
              "who searches: cbc (default), highs where the build has it, or file: any program, through the "
              "files below; file implies --persistent resident --split off where they are not given",
              "cbc|highs|file")
      .one_of({"cbc", "highs", "file"});
  group.option("--mps", options.mps, "with --solver file: write the model here", "FILE.mps");
  group.option("--solution", options.solution,
               "with --solver file: read the answer to the model in --mps from here", "FILE");
  group.option(
      "--solver-command", options.solver_command,
      "with --solver file: run this on the model instead, as in \"cbc {mps} sec {seconds} solve solution "
      "{solution}\"",
      "COMMAND");
  group.option(
      "--progress-out", options.progress_out,
      "write what the search has found so far here, a line of JSON each time, for other programs to follow",
      "FILE");
  group
      .option("--formulation", options.formulation,
              "tight (default), or published: the paper's Algorithm 1, with --semantics published",
              "tight|published")
      .one_of({"tight", "published"});
}

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
    throw InputError("--solution", "is the answer to the model in --mps, and excludes --solver-command");
  if (options.formulation && *options.formulation == "published")
    throw InputError("--solver", "file writes the tight formulation, not --formulation published");
  if (options.mps) check_writable("--mps", *options.mps);
  out.file.mps = options.mps.value_or("");
  out.file.solution = options.solution.value_or("");
  out.file.command = options.solver_command.value_or("");
  if (options.solver_command) (void)expand_command(out.file.command, "", "", 1);
}

/// Why parameters stay in RAM and operators whole unless the options say otherwise; empty: they do not.
std::string keeps_in_ram(const ProblemOptions& options) {
  if (!options.resident_for.empty()) return options.resident_for;
  if (options.solver.solver == "file") return "--solver file";  // which solves one model
  if (options.solver.no_paging) return "--no-paging";
  return "";
}

bool has_device_defaults(const Policy& policy, const ProblemOptions& options) {
  return policy.semantics.value_or(Semantics::device) == Semantics::device && !options.input.instance;
}

}  // namespace

void add_problem_options(const Parser& parser, ProblemOptions& options) {
  add_input_options(parser, options.input);
  add_limit_options(parser, options.limits);
  parser.group("Limits").option(
      "--on-time", options.limits.on_time,
      "with a deadline: the share of steps that are to end by it although times vary, as in 95%; for devices "
      "whose profile says how they do (poet profile measures that); default: the median step is to",
      "PART");
  add_solver_options(parser, options.solver);
}

std::optional<std::int64_t> read_op_limit(const std::optional<std::string>& typed) {
  return typed ? std::optional(parse_count("--op-limit", *typed)) : std::nullopt;
}

namespace {

/// But for what the RAM budget changes.
Policy policy_as_typed(const ProblemOptions& options) {
  LimitOptions limits = options.limits;
  if (options.ram) limits.ram_budget.reset();
  Policy policy = policy_of(options.input, limits);
  policy.paging = !options.solver.no_paging;
  policy.rematerialization = !options.solver.no_remat;
  const double time_limit = read_solver_options(options.solver).time_limit_seconds;
  policy.split.energy = quick_energy_within(time_limit);
  policy.split.compared_ops = quick_ops(time_limit);
  policy.split.tables = options.resident_for.empty() && policy.paging;
  policy.op_limit = read_op_limit(options.solver.op_limit);
  if (!has_device_defaults(policy, options) || !keeps_in_ram(options).empty()) return policy;
  if (!options.input.persistent) policy.persistent = PersistentPolicy::automatic;
  if (!options.input.split) policy.split.automatic = true;
  return policy;
}

}  // namespace

Policy policy_of(const ProblemOptions& options) {
  Policy policy = policy_as_typed(options);
  if (!options.ram) return policy;
  if (options.ram->least) return with_least_budget(std::move(policy), *options.ram->least);
  policy.ram = options.ram->budget;
  policy.ram.within_device = !options.limits.beyond_device_ram;
  return policy;
}

std::string implied_options(const ProblemOptions& options) {
  const std::string cause = keeps_in_ram(options);
  if (cause.empty() || !has_device_defaults(policy_of(options.input), options)) return "";
  std::vector<std::string> implied;
  if (!options.input.persistent) implied.emplace_back("--persistent resident");
  if (!options.input.split) implied.emplace_back("--split off");
  if (implied.empty()) return "";
  return fmt::format("{} implies {}", cause, fmt::join(implied, " and "));
}

std::optional<double> read_on_time(const LimitOptions& limits) {
  if (!limits.on_time) return std::nullopt;
  if (!limits.deadline && !limits.total_deadline && !limits.runtime_budget)
    throw InputError("--on-time",
                     "is the share of steps that meet a deadline: give --deadline, --total-deadline or "
                     "--runtime-budget, too");
  return parse_fraction("--on-time", *limits.on_time);
}

SolveOptions read_solver_options(const SolverOptions& options) {
  SolveOptions out;
  if (options.gap) out.gap = parse_fraction("--gap", *options.gap);
  if (options.time_limit)
    out.time_limit_seconds = parse_duration("--time-limit", *options.time_limit).value();
  if (options.solve_threads) {
    // More threads than any machine has cores only costs memory.
    out.threads =
        static_cast<int>(std::min<std::int64_t>(parse_count("--solve-threads", *options.solve_threads), 256));
  }
  read_solver(options, out);
  check_order(options);
  if (options.formulation == "published") out.formulation = Formulation::published;
  return out;
}

}  // namespace poet::cli
