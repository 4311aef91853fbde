#include "poet/optimize/solvers/external.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "poet/base/error.h"
#include "poet/base/time_shares.h"
#include "poet/optimize/milp/branch.h"
#include "poet/optimize/solvers/command.h"
#include "poet/optimize/solvers/model_head.h"

namespace poet {
namespace {

// Writes one model and converts its solutions to schedules.
class Writing {
 public:
  Writing(Search& search, const Columns& columns) : search_(search), columns_(columns) {}

  TightModel build(ExternalModel& external) const {
    TightOptions options;
    options.tightenings = search_.options().tightenings;
    options.timing = external.timing;
    options.exact_stages = external.exact_stages;
    TightModel tight = build_tight(search_.problem(), columns_, options);
    external.fingerprint = fingerprint_of(tight.model);
    return tight;
  }

  // Writes the model to the user's file.
  void write(ExternalModel& external) const {
    const TightModel tight = build(external);
    write_mps_file(search_.options().file.mps, tight.model, meaningful_names(search_.problem(), tight),
                   head_of(external));
  }

  enum class Answer { taken, overflows, none };

  // Offers the answer's schedule to the search; changes `external` if another model must be solved.
  Answer take(const TightModel& tight, const SolutionFile& answer, ExternalModel& external) {
    const Problem& p = search_.problem();
    if (!answer.has_solution) {
      if (external.timing == rows::TransferTiming::relaxed) return Answer::none;
      external.timing = rows::TransferTiming::relaxed;  // stages that wait for transfers are too slow
      return Answer::overflows;
    }
    const Candidate candidate = complete(p, tight.vars.decisions(p, answer.x));
    search_.offer(candidate);
    bool more = false;
    for (int t = 0; t < p.ops; ++t)
      if (candidate.stage_peak[static_cast<std::size_t>(t)] > p.budget)
        more |= external.exact_stages.insert(t).second;
    return more ? Answer::overflows : Answer::taken;
  }

 private:
  Search& search_;
  const Columns& columns_;
};

// Returns how often the command was run and what its last answer was worth.
std::string account_of(const Search& search, int runs, const SolutionFile& answer, Writing::Answer taken,
                       bool improved) {
  const std::string times = runs == 1 ? "run once" : fmt::format("run {} times", runs);
  const std::string quoted = answer.claim.empty() ? "" : fmt::format(" \"{}\"", answer.claim);
  if (answer.has_solution)
    return fmt::format("{}; its last answer{} {}", times, quoted,
                       improved                              ? "gave a better schedule"
                       : taken == Writing::Answer::overflows ? "exceeds the RAM budget"
                                                             : "gave no better schedule");
  if (quoted.empty() && search.stop().cancelled()) return times + "; interrupted before it wrote a solution";
  if (quoted.empty() && search.must_stop())
    return times + "; no solution before the time limit: a longer `time_limit_seconds` may give one";
  return fmt::format("{}; its last answer{} has no solution", times, quoted);
}

void run_the_command(Search& search, Writing& writing, ExternalModel external) {
  const auto keep_going = [&search] {
    search.report();
    return !search.must_stop();
  };
  for (int runs = 1; !search.done(); ++runs) {
    const TightModel tight = writing.build(external);
    const SolutionFile answer =
        ask_command(tight.model, meaningful_names(search.problem(), tight), head_of(external),
                    search.options().file, search.remaining(), keep_going);
    const double before = search.best_joules();
    const Writing::Answer taken = writing.take(tight, answer, external);
    search.external_solver = account_of(search, runs, answer, taken, search.best_joules() < before);
    if (taken != Writing::Answer::overflows) return;
  }
}

// Opening a folder succeeds, reading it fails.
std::ifstream opened(const std::string& file, const std::string& rule) {
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file)) throw InputError(file, rule);
  return in;
}

std::ifstream opened_model(const FileSolver& files) {
  return opened(files.mps, "cannot be read; `file.solution` needs the model that was solved");
}

std::ifstream opened_solution(const FileSolver& files) {
  return opened(files.solution, "cannot be read; `file.solution` names the file that the solver has written");
}

void read_the_answer(Search& search, Writing& writing) {
  const FileSolver& files = search.options().file;
  std::ifstream head = opened_model(files);
  ExternalModel external = read_head(head, files.mps);
  for (int stage : external.exact_stages)
    if (stage < 0 || stage >= search.problem().ops)
      throw InputError(files.mps, fmt::format("has exact rows for stage {}: there is none", stage));
  const std::string written = external.fingerprint;
  const TightModel tight = writing.build(external);
  if (external.fingerprint != written)
    throw InputError(files.mps, "is the model of another problem, or of other options");
  std::ifstream in = opened_solution(files);
  const SolutionFile answer = read_solution(in, meaningful_names(search.problem(), tight), files.solution);
  if (writing.take(tight, answer, external) == Writing::Answer::overflows) {
    writing.write(external);
    search.next_step =
        answer.has_solution
            ? fmt::format(
                  "that schedule's true peak is above the budget; {} now has exact rows for {} "
                  "stages: solve it again and come back with its answer",
                  files.mps, external.exact_stages.size())
            : fmt::format(
                  "no answer under conservative timing; {} now has relaxed timing: solve it again and "
                  "come back with its answer",
                  files.mps);
  } else if (!answer.has_solution) {
    search.next_step = fmt::format("{} has no solution: \"{}\"; poet does not take that for a proof",
                                   files.solution, answer.claim);
  }
}

// Raises the bound if the model with all decisions is small enough. Does nothing with `columns` that are few.
void bound_by_root(Search& search, const Columns& columns, bool all_columns, double seconds) {
  if (!all_columns || search.done()) return;
  search.enter("root relaxation");
  (void)solve_root(search, columns, seconds);
}

}  // namespace

ColumnNames meaningful_names(const Problem& problem, const TightModel& tight) {
  ColumnNames names = plain_names(tight.model);
  const auto name = [&names](int column, std::string text) {
    names[static_cast<std::size_t>(column)] = std::move(text);
  };
  const Variables& vars = tight.vars;
  for (int op = 0; op < problem.ops; ++op)
    for (const auto& [stage, column] : vars.recomputes(op)) name(column, fmt::format("R_{}_{}", stage, op));
  for (int v = 0; v < problem.values; ++v) {
    for (const auto& [stage, column] : vars.segments(v)) {
      name(column, fmt::format("S_{}_{}", stage, v));
      if (const Term copy = vars.from_storage(stage, v); copy.is_column())
        name(copy.column, fmt::format("D_{}_{}", stage, v));
    }
    for (const auto& [stage, column] : vars.page_ins(v)) name(column, fmt::format("In_{}_{}", stage, v));
    for (const auto& [stage, column] : vars.page_outs(v)) name(column, fmt::format("Out_{}_{}", stage, v));
    // One column if the stage of the page-out is open, else the sum of columns that have names of their own.
    const Linear stored = vars.stored(v);
    if (vars.page_outs(v).empty() && stored.terms().size() == 1)
      name(stored.terms()[0].first, fmt::format("Stored_{}", v));
  }
  return names;
}

void solve_by_file(Search& search) {
  const Problem& p = search.problem();
  const FileSolver& files = search.options().file;
  if (files.mps.empty() && files.command.empty())
    throw InputError(Field{"solver"}, "file needs `file.mps` or `file.command`");
  search.used_solver = true;
  const bool all_columns = estimated_full_columns(p, p.semantics == Semantics::published) <= kMostFullColumns;
  const Columns columns = all_columns ? full_columns(p) : just_in_time_columns(p, 2, 1);
  Writing writing(search, columns);
  ExternalModel external;
  if (p.waiting_costs()) external.timing = rows::TransferTiming::conservative;
  if (!files.command.empty()) {
    bound_by_root(search, columns, all_columns, kShares.external_bound * search.remaining());
    search.enter("external solver");
    run_the_command(search, writing, external);
    return;
  }
  search.enter("external solver");
  if (!files.solution.empty()) {
    read_the_answer(search, writing);
  } else {
    writing.write(external);
    search.next_step = fmt::format(
        "minimise {} with any solver, let it write its solution to a file, and run the same command again "
        "with `file.solution`",
        files.mps);
  }
  bound_by_root(search, columns, all_columns, kInfinity);
  if (search.staged_proven() && !search.next_step.empty())
    search.next_step =
        fmt::format("none: the schedule is proven within the gap; {} need not be solved", files.mps);
}

void check_answer_files(const FileSolver& files) {
  if (files.solution.empty()) return;
  std::ifstream head = opened_model(files);
  (void)read_head(head, files.mps);
  (void)opened_solution(files);
}

void say_what_was_skipped(Search& search, bool infeasible) {
  const FileSolver& files = search.options().file;
  const bool by_command = !files.command.empty();
  if (by_command ? !search.external_solver.empty() : search.used_solver) return;
  const std::string skipped = by_command               ? "not run"
                              : files.solution.empty() ? "no model was written"
                                                       : fmt::format("{} was not read", files.solution);
  std::string& text = by_command ? search.external_solver : search.next_step;
  if (infeasible || search.impossible())
    text = skipped + ": no plan is within the limits";
  else if (search.staged_proven())
    text = skipped + ": nothing is left to solve";
  else if (search.stop().cancelled())
    text = skipped + ": interrupted";
  else if (search.remaining() <= 0)
    text = skipped + " before the time limit: run again with a longer `time_limit_seconds`";
  else
    text = skipped;
}

}  // namespace poet
