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
#include "poet/optimize/quick_energy.h"
#include "poet/optimize/solvers/command.h"
#include "poet/optimize/solvers/external.h"
#include "poet/optimize/solvers/solver.h"

namespace poet::cli {

void add_input_options(const Parser& parser, InputOptions& options) {
  const Parser group = parser.group("What to schedule");
  add_network_options(group, options);
  group.option("--instance", options.instance, "instance file (graph with costs); instead of --model",
               "FILE");
  group.option("--platform", options.platform, "device: a name (poet devices lists them) or a profile file",
               "DEVICE|FILE.json");
  group.option("--persistent", options.persistent,
               "where parameters and optimiser state are kept between steps: auto (default): each in RAM or "
               "on storage, whichever costs less energy; resident (default of compare): all in RAM; "
               "excluded: outside the plan, like the parameters' gradients",
               "auto|resident|excluded");
  group.option("--split", options.split,
               "split operators into parts: auto (default): if the RAM budget is small relative to the "
               "largest operator; off: never; BYTES: into parts of at most this size, as in 32KiB",
               "auto|off|BYTES");
  group.option(
      "--semantics", options.semantics,
      "rules for RAM and time: device (default): the device's; staged, published: the paper's, with --model "
      "on its published instance; staged is the default for an instance file without a device",
      "device|staged|published");
}

void add_limit_options(const Parser& parser, LimitOptions& options) {
  const Parser group = parser.group("Limits");
  group.option("--ram-budget", options.ram_budget,
               "RAM for everything the step needs: 737719, 300KiB, 2MB; 50%: of what keeping everything "
               "takes; least: the smallest budget with a known plan (default: the device's RAM)",
               "BYTES|PART%|least");
  group.flag("--beyond-device-ram", options.beyond_device_ram, "accept a RAM budget above the device's RAM");
  group.option("--runtime-budget", options.runtime_budget,
               "deadline as a multiple of the step's time without limits, as in 1.3 (default: no deadline)",
               "FACTOR");
  group.option("--deadline", options.deadline,
               "deadline of one step: 50ms, 2s, 1.5min; bare numbers are seconds (default: no deadline)",
               "TIME");
  group.option("--total-deadline", options.total_deadline,
               "deadline of --steps steps together (default: no deadline)", "TIME");
  group.option("--steps", options.steps, "number of steps that --total-deadline covers", "N");
  group.option("--max-bytes-written", options.max_bytes_written,
               "limit on the bytes written to storage per step, against wear (default: no limit)", "BYTES");
}

void add_effort_options(const Parser& parser, SolverOptions& options, const std::string& time_limit) {
  const Parser group = parser.group("Solving");
  group.option("--gap", options.gap,
               "stop when the gap to the lower bound is at most this fraction of the overhead, the energy "
               "above the step without limits (default 1%; a MIP's gap is relative to the total energy)",
               "PART");
  group.option("--time-limit", options.time_limit, time_limit, "TIME");
  group.option("--solve-threads", options.solve_threads, "threads of the solver (default 1)", "N");
  group.option("--op-limit", options.op_limit,
               "reject networks whose training step has more ops (default: no limit)", "N");
  group.flag("--quiet", options.quiet, "no progress on stderr");
}

namespace {

void add_solver_options(const Parser& parser, SolverOptions& options) {
  const Parser group = parser.group("Solving");
  group.flag("--no-paging", options.no_paging,
             "recompute only, never page; implies --persistent resident --split off unless they are given");
  group.flag("--no-remat", options.no_remat, "page only, never recompute");
  group
      .option("--order", options.order,
              "order of the ops: given (default): the network's; best: spend a quarter of the time on an "
              "order of less RAM and return the better of the two plans; the bound holds for every order",
              "given|best")
      .one_of({"given", "best"});
  add_effort_options(parser, options,
                     "time limit of the solver (default 2min); without a plan, up to as much again, at most "
                     "about 5 s, is spent on testing suggestions");
  group
      .option("--solver", options.solver,
              "MIP solver: cbc (default), highs if the build has it, or file: any program, with --mps and "
              "--solution or --solver-command; file implies --persistent resident --split off unless they "
              "are given",
              "cbc|highs|file")
      .one_of({"cbc", "highs", "file"});
  group.option("--mps", options.mps, "--solver file only: write the model to this file", "FILE.mps");
  group.option("--solution", options.solution,
               "--solver file only: read the solution of the model in --mps from this file", "FILE");
  group.option("--solver-command", options.solver_command,
               "--solver file only: command that solves the model, instead of --mps and --solution, as in "
               "\"cbc {mps} sec {seconds} solve solution {solution}\"",
               "COMMAND");
  group.option("--progress-out", options.progress_out,
               "append the search's progress to this file, one JSON object per line", "FILE");
  group
      .option("--formulation", options.formulation,
              "MIP formulation: tight (default), or published: the paper's Algorithm 1, with --semantics "
              "published",
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
      "share of steps that must meet the deadline although times vary, as in 95%; for device profiles that "
      "say how times vary (poet profile measures it) (default: the median step)",
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
