#include "apps/cli/solve/options.h"

#include "apps/shared/parser.h"

namespace poet::cli {
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
               "write the search's progress to this file as it proceeds, one JSON object per line", "FILE");
  group
      .option("--formulation", options.formulation,
              "MIP formulation: tight (default), or published: the paper's Algorithm 1, with --semantics "
              "published",
              "tight|published")
      .one_of({"tight", "published"});
}

}  // namespace

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
  group.option("--threads", options.threads,
               "threads of the search, which do not change its answer if it ends before its time limit "
               "(default: the machine's cores)",
               "N");
  group.option("--op-limit", options.op_limit,
               "reject networks whose training step has more ops (default: no limit)", "N");
  group.flag("--quiet", options.quiet, "no progress on stderr");
}

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

}  // namespace poet::cli
