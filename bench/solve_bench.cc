// The benchmark of the optimiser: sets of instances, solved by every configuration asked for, side by side.
// Progress goes to stderr, tables to stdout, everything to a JSON file.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "apps/shared/amounts.h"
#include "apps/shared/output.h"
#include "apps/shared/parser.h"
#include "bench/cases.h"
#include "bench/compare.h"
#include "bench/configurations.h"
#include "bench/report.h"
#include "bench/run_file.h"
#include "bench/runner.h"
#include "poet/base/error.h"

namespace poet::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kRegressed = 1;
constexpr int kBadInput = 2;
constexpr int kInternal = 3;
constexpr int kInterrupted = 130;

/// As typed.
struct Options {
  CaseOptions cases;
  std::vector<std::string> formulations = {"tight"};
  std::vector<std::string> solvers = {"cbc"};
  std::vector<std::string> without;
  std::optional<std::string> time_limit, memory_limit, solver_command;
  std::string gap = "1%", mark = "1%", energy_mark = "0.1%", tolerance = "1%";
  std::string random_semantics = "published";
  int threads = 1;
  double grace = 60;
  fs::path best_known;
  std::optional<std::string> json, old_run;
  bool resume = false;
  bool list = false;
};

void declare(const cli::Parser& parser, Options& o) {
  const cli::Parser what = parser.group("What is solved");
  what.option("--set", o.cases.sets, "published (default), recompute, random, layered, layered_share, zoo",
              "NAME,...")
      .separated_by(',');
  what.option("--only", o.cases.only, "cases in whose set/name one of these parts occurs", "PART,...")
      .separated_by(',');
  what.option("--fractions", o.cases.fractions, "f: RAM is least + f (most - least); default: each set's own",
              "F,...")
      .separated_by(',');
  what.option("--deadline", o.cases.deadline, "factor on the step with everything computed once", "FACTOR");
  what.option("--recompute", o.cases.recompute_folder, "where the set recompute is", "DIR");
  what.option("--random-ops", o.cases.random_ops, "sizes of random graphs (default 1000,10000)", "N,...")
      .separated_by(',');
  what.option("--layered-ops", o.cases.layered_ops, "sizes of layered graphs (default 100,250,500,1000,2000)",
              "N,...")
      .separated_by(',');
  what.option("--random-seeds", o.cases.random_seeds, "one graph of each size per seed (default 1)", "N,...")
      .separated_by(',');
  what.option("--random-semantics", o.random_semantics, "published (default), staged or device", "RULES");
  what.option("--expected", o.best_known, "best energies known, for the column missed", "CSV");
  what.flag("--list", o.list, "show the cases and their RAM, solve nothing");

  const cli::Parser how = parser.group("How it is solved");
  how.option("--formulation", o.formulations, "tight (default), published", "NAME,...").separated_by(',');
  how.option("--solver", o.solvers, "cbc (default), highs, file", "NAME,...").separated_by(',');
  how.option("--solver-command", o.solver_command,
             "of the solver file, run by the shell: {mps}, {solution} and {seconds} are replaced", "COMMAND");
  how.option(
         "--without", o.without,
         fmt::format("also with these tightenings off, one at a time, a+b both, each: every one alone ({})",
                     fmt::join(tightening_names(), ", ")),
         "NAME,...")
      .separated_by(',');
  how.option("--gap", o.gap, "that a solve is to prove (default 1%)", "PART");
  how.option("--mark", o.mark, "gap whose time is reported (default 1%)", "PART");
  how.option("--energy-mark", o.energy_mark, "energy gap whose time is reported (default 0.1%)", "PART");
  how.option("--time-limit", o.time_limit, "of each solve; default: each set's own, 60 s for published",
             "TIME");
  how.option("--threads", o.threads, "of the solver (default 1)", "N");
  how.option("--grace", o.grace, "seconds beyond the time limit, then a solve is killed (default 60)", "S");
  how.option("--memory-limit", o.memory_limit, "of each solve's address space (default: none)", "BYTES");

  const cli::Parser where = parser.group("What comes out");
  where.option("--json", o.json, "everything, written after every solve", "FILE");
  where.flag("--resume", o.resume, "continue the run in --json FILE: what is in it is not solved again");
  where.option(
      "--compare", o.old_run,
      "an older run; its RAM budgets are used where it has the case; exit code 1 when an energy got worse or "
      "an answer was lost",
      "FILE");
  where.option("--tolerance", o.tolerance, "of --compare, a share of the overhead (default 1%)", "PART");
}

Semantics semantics(const std::string& name) {
  for (Semantics s : {Semantics::published, Semantics::staged, Semantics::device})
    if (name == to_string(s)) return s;
  throw InputError("--random-semantics", fmt::format("\"{}\" is none of published, staged, device", name));
}

void check(const Options& o) {
  for (double f : o.cases.fractions)
    if (!(f >= 0 && f <= 1)) throw InputError("--fractions", fmt::format("{} is not from 0 to 1", f));
  for (int ops : o.cases.random_ops)
    if (ops < 16) throw InputError("--random-ops", "must be at least 16");
  for (int ops : o.cases.layered_ops)
    if (ops < 4) throw InputError("--layered-ops", "must be at least 4");
  if (o.cases.deadline && !(*o.cases.deadline > 0)) throw InputError("--deadline", "must be > 0");
  if (o.threads < 1) throw InputError("--threads", "must be >= 1");
  if (!(o.grace >= 0)) throw InputError("--grace", "must be >= 0");
  if (o.resume && !o.json) throw InputError("--resume", "needs --json FILE, the run to continue");
  const bool with_file = std::count(o.solvers.begin(), o.solvers.end(), "file") > 0;
  if (with_file && !o.solver_command) throw InputError("--solver file", "needs --solver-command COMMAND");
  if (o.json) cli::check_writable("--json", *o.json);
}

RunOptions run_options(const Options& o) {
  RunOptions run;
  run.marks = {cli::parse_fraction("--gap", o.gap), cli::parse_fraction("--mark", o.mark),
               cli::parse_fraction("--energy-mark", o.energy_mark)};
  run.child.gap = run.marks.gap;
  run.child.threads = o.threads;
  run.child.solver_command = o.solver_command.value_or("");
  if (o.memory_limit) run.memory_limit = cli::parse_bytes("--memory-limit", *o.memory_limit);
  run.grace_seconds = o.grace;
  return run;
}

void note(const std::string& text) { fmt::print(stderr, "solve_bench: {}\n", text); }

void list_cases(const std::vector<Case>& all) {
  for (const Case& one : all) {
    const Subject subject = one.load(true);
    fmt::print("{}: {} ops, RAM {} of {} to {} bytes, {:g} s\n", title(one),
               subject.instance.graph.ops.size(), subject.ram.at(one.fraction).value(),
               subject.ram.least.value(), subject.ram.most.value(), one.time_limit_seconds);
    std::fflush(stdout);
  }
}

/// What decides about results besides case and configuration: a run is continued with the same only.
nlohmann::ordered_json options_json(const Options& o, const RunOptions& run) {
  const auto figure = [](const std::optional<double>& f) {
    return f ? nlohmann::ordered_json(*f) : nlohmann::ordered_json("as usual for the set");
  };
  return {{"gap", run.marks.gap},
          {"mark", run.marks.mark},
          {"energy_mark", run.marks.energy_mark},
          {"threads", run.child.threads},
          {"time_limit_seconds", figure(o.cases.time_limit_seconds)},
          {"deadline_factor", figure(o.cases.deadline)}};
}

/// What is known of RAM before anything is solved: the budgets of earlier runs, by title.
std::map<std::string, KnownRam> known_ram(const std::vector<Measurement>& results) {
  std::map<std::string, KnownRam> known;
  for (const Measurement& m : results) {
    KnownRam& ram = known[case_key(m)];
    if (m.ram_budget_bytes) ram.budget = Bytes(*m.ram_budget_bytes);
    if (m.least_ram_bytes && m.most_ram_bytes)
      ram.range = RamRange{Bytes(*m.least_ram_bytes), Bytes(*m.most_ram_bytes)};
  }
  return known;
}

/// Results of the file to continue; none when it does not exist yet.
std::vector<Measurement> results_so_far(const Options& o, const nlohmann::ordered_json& options) {
  if (!o.resume || !fs::exists(*o.json)) return {};
  Run run = read_run(*o.json);
  if (run.options != options)
    throw InputError("--resume",
                     fmt::format("{} was made with other options: {}", *o.json, run.options.dump()));
  return std::move(run.results);
}

int run(Options o) {
  check(o);
  o.cases.random_semantics = semantics(o.random_semantics);
  if (o.time_limit) o.cases.time_limit_seconds = cli::parse_duration("--time-limit", *o.time_limit).value();
  const double tolerance = cli::parse_fraction("--tolerance", o.tolerance);
  const RunOptions options = run_options(o);
  const std::vector<Configuration> how = configurations(o.formulations, o.solvers, o.without);
  const std::vector<Case> all = cases(o.cases, note);
  if (all.empty()) throw InputError("no case is left", "see --set, --only and --list");
  if (o.list) {
    list_cases(all);
    return 0;
  }
  std::vector<Measurement> before;
  if (o.old_run) before = read_run(*o.old_run).results;
  const std::map<std::string, double> best_known = read_best_known(o.best_known);

  const nlohmann::ordered_json machine = machine_facts();
  const nlohmann::ordered_json file_options = options_json(o, options);
  std::vector<Measurement> results = results_so_far(o, file_options);
  std::map<std::string, KnownRam> ram = known_ram(before);
  for (auto& [name, known] : known_ram(results)) ram[name] = known;
  std::set<std::string> done;
  for (const Measurement& m : results) done.insert(key(m));

  std::size_t count = 0;
  std::size_t total = 0;
  for (const Case& one : all)
    for (const Configuration& configuration : how) total += applies(configuration, one);
  KnownRam latest;
  std::string latest_name;
  for (const Case& one : all) {
    // The fractions of an instance follow each other and share its range of RAM.
    if (latest_name != one.set + "/" + one.name) latest = {};
    latest_name = one.set + "/" + one.name;
    KnownRam& known = ram[title(one)];
    if (!known.range) known.range = latest.range;
    for (const Configuration& configuration : how) {
      if (!applies(configuration, one) || interrupted()) continue;
      ++count;
      if (done.contains(title(one) + " " + label(configuration))) continue;
      std::optional<Measurement> m = measure(one, configuration, known, options);
      if (!m) continue;
      add_best_known(best_known, *m);
      results.push_back(*m);
      fmt::print(stderr, "[{}/{}] {}\n", count, total, progress_line(*m));
      if (o.json) write_run(*o.json, machine, file_options, results, false);
    }
    latest.range = known.range;
  }
  const bool stopped = interrupted();
  if (o.json) write_run(*o.json, machine, file_options, results, !stopped);

  std::string text = report(results, options.marks);
  int exit_code = 0;
  if (o.old_run) {
    const Comparison comparison = compare(results, before, tolerance);
    text += "\n" + comparison.text;
    if (comparison.regressed()) exit_code = kRegressed;
  }
  if (stopped) note(fmt::format("interrupted; {} of {} solves are done", results.size(), total));
  cli::print_answer(text);
  return stopped ? kInterrupted : exit_code;
}

int main(int argc, char** argv) {
  const fs::path shared = fs::path(POET_BENCH_REPOSITORY).parent_path() / "shared" / "instances";
  Options options;
  options.cases.recompute_folder = shared / "recompute";
  options.best_known = shared / "expected.csv";
  cli::CommandLine program("solve_bench", "Solves sets of instances and says how fast and how well.");
  declare(program.parser(), options);
  try {
    if (const auto answer = program.parse(argc, argv)) {
      cli::print_answer(*answer);
      return 0;
    }
    (void)interrupted();  // from here on Ctrl-C ends the run in good order
    return run(options);
  } catch (const InputError& error) {
    note(error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    note(fmt::format("internal error: {}", error.what()));
    return kInternal;
  }
}

}  // namespace
}  // namespace poet::bench

int main(int argc, char** argv) { return poet::bench::main(argc, argv); }
