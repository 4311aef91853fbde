#include "apps/cli/solve/solving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "apps/cli/command.h"
#include "apps/cli/solve/find_suggestions.h"
#include "apps/cli/solve/progress.h"
#include "apps/cli/solve/ram_budget.h"
#include "apps/shared/command_text.h"
#include "apps/shared/interrupt.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/stop.h"
#include "poet/optimize/regime.h"

namespace poet::cli {
namespace {

constexpr double kSecondsToTry = 5;

CompileRequest how_to_solve(const ProblemOptions& options) {
  CompileRequest how;
  how.options = read_solver_options(options.solver);
  how.best_order = options.solver.order == "best";
  how.on_time = read_on_time(options.limits);
  return how;
}

Solved pose_as(const ProblemOptions& options, const NetworkSpec& network, const Policy& policy,
               const Adjustment& adjust) {
  const CompileRequest how = how_to_solve(options);
  Workload workload = load(network, device_spec(options.input), policy);
  if (adjust) {
    adjust(workload.instance, workload.semantics);
    if (workload.cuts)
      workload.cuts->instance = [adjust, semantics = workload.semantics, make = workload.cuts->instance](
                                    const Cut& cut, Bytes ram_budget) {
        Instance made = make(cut, ram_budget);
        adjust(made, semantics);
        return made;
      };
  }
  return Solved(posed_answer(how, std::move(workload), policy));
}

/// The problem with another policy.
std::function<Solved()> posing(const ProblemOptions& options, const Solving& how,
                               const std::function<void(Policy&)>& change) {
  Policy policy = policy_of(options);
  change(policy);
  return
      [&options, &how, policy] { return pose_as(options, network_spec(options.input), policy, how.adjust); };
}

/// Paging allowed, with the defaults that this has.
SuggestedChange change_to_paging(const ProblemOptions& options, const Solving& how) {
  ProblemOptions paging = options;
  paging.solver.no_paging = false;
  paging.solver.quiet = true;
  return {"without --no-paging", [paging, &how] { return pose_problem(paging, how.adjust); }};
}

/// What may help with RAM that is too little for any plan.
std::vector<SuggestedChange> changes_for_less_ram(const ProblemOptions& options, const Solving& how,
                                                  Solved& solved) {
  std::vector<SuggestedChange> changes;
  const Splitting split = policy_of(options).split;
  if (solved.workload.device && !split.automatic && !split.part && !how.parts_fixed)
    changes.push_back({"--split auto, with operators in parts",
                       posing(options, how, [](Policy& policy) { policy.split.automatic = true; })});
  for (const Alternative& other : how.alternatives)
    changes.push_back({other.change, [&options, &other] { return pose_problem(options, other.adjust); }});
  if (!solved.workload.device || solved.figures.floor.persistent <= Bytes(0)) return changes;
  const bool has_storage = solved.request.instance.costs.has_storage;
  if (has_storage && options.solver.no_paging)
    changes.push_back(change_to_paging(options, how));
  else if (has_storage && !solved.workload.choose_paged)
    changes.push_back({"--persistent auto --split auto, with parameters at home on storage",
                       posing(options, how, [](Policy& policy) {
                         policy.persistent = PersistentPolicy::automatic;
                         policy.split.automatic = true;
                       })});
  const auto elsewhere =
      posing(options, how, [](Policy& policy) { policy.persistent = PersistentPolicy::excluded; });
  try {
    solved.floor_elsewhere = elsewhere().figures.floor.bytes();
  } catch (const InputError&) {
    return changes;
  }
  changes.push_back(
      {"--persistent excluded, if parameters and optimiser state need not be in this RAM", elsewhere});
  return changes;
}

/// Switches that may stand in the way.
std::vector<SuggestedChange> changes_for_more_mechanisms(const ProblemOptions& options, const Solving& how,
                                                         const Solved& solved) {
  std::vector<SuggestedChange> changes;
  if (options.solver.no_paging && solved.request.instance.costs.has_storage)
    changes.push_back(change_to_paging(options, how));
  if (options.solver.no_remat)
    changes.push_back({"without --no-remat",
                       posing(options, how, [](Policy& policy) { policy.rematerialization = true; })});
  return changes;
}

/// Halves, halves of these, and so on, without those with which the largest op still needs too much if what
/// it needs shrinks with the batch.
std::vector<SuggestedBatch> smaller_batches(const ProblemOptions& options, const Solving& how,
                                            const Solved& solved) {
  std::vector<SuggestedBatch> batches;
  if (!solved.workload.device) return batches;
  const std::int64_t whole = solved.request.instance.batch_size;
  const auto budget = static_cast<double>(solved.request.limits.ram_budget.value());
  const auto floor = static_cast<double>(solved.figures.floor.bytes().value());
  const Policy policy = policy_of(options);
  for (std::int64_t size = whole / 2; size >= 1; size /= 2) {
    if (floor * static_cast<double>(size) / static_cast<double>(whole) > budget) continue;
    NetworkSpec network = network_spec(options.input);
    network.batch_size = size;
    batches.push_back(
        {size, [&options, &how, network, policy] { return pose_as(options, network, policy, how.adjust); }});
  }
  return batches;
}

/// Where there is no answer: what could be changed, tried out. With `--solver file` nothing was solved yet.
void look_further(const ProblemOptions& options, const Solving& how, const InterruptGuard& guard,
                  Solved& solved) {
  const SolveOptions& solving = solved.request.options;
  if (has_plan(solved) || guard.interrupted() || solving.solver == Solver::file) return;
  const Stop stop(std::min(kSecondsToTry, solving.time_limit_seconds),
                  [&guard] { return guard.interrupted(); });
  SuggestionCandidates candidates;
  if (ram_hopeless(solved)) {
    candidates.changes = changes_for_less_ram(options, how, solved);
  } else if (!deadline_hopeless(solved)) {
    candidates.changes = changes_for_more_mechanisms(options, how, solved);
  }
  if (options.limits.max_bytes_written && !deadline_hopeless(solved))
    candidates.any_written = posing(options, how, [](Policy& policy) { policy.max_bytes_written.reset(); });
  candidates.batches = smaller_batches(options, how, solved);
  const bool automatic = policy_of(options).split.automatic && !how.parts_fixed;
  // There the quick steps of all sizes of parts take the time that there is to try.
  const bool looks = regime_of(solved.request.instance.graph.ops.size()).looks_for_limits;
  if (automatic && looks)
    candidates.within = [&](const Limits& limits) {
      Policy policy = policy_of(options);
      policy.ram = limits.ram_budget;
      policy.deadline = {.time = limits.deadline};
      policy.max_bytes_written = limits.max_bytes_written;
      return pose_as(options, network_spec(options.input), policy, how.adjust);
    };
  solved.suggestions = find_suggestions(solved, candidates, stop);
  const std::optional<Bytes> part = solved.workload.cut.part;
  if (automatic && !looks) solved.suggestions.split = part ? std::to_string(part->value()) : "off";
  // Of a schedule alone it was not known that it fits with addresses.
  Explanation& explanation = solved.result.outcome.explanation;
  if (solved.suggestions.ram && !knows_a_little_more_ram(solved))
    explanation.least_ram = solved.suggestions.ram;
  if (solved.suggestions.deadline) explanation.least_deadline = solved.suggestions.deadline;
}

/// After a request to stop before the first plan: a search for a moment.
void solve_for_a_moment(Solved& solved) {
  constexpr double kMoment = 2;  // seconds
  if (solved.result.certificate.status != Status::unknown || solved.request.options.solver == Solver::file)
    return;
  Solved quick = solved;
  quick.request.options.time_limit_seconds = kMoment;
  quick.request.options.interrupted = nullptr;
  quick.request.options.explain = false;
  quick = Solved(answered(std::move(quick)));
  if (!has_plan(quick)) return;
  const double before = solved.result.outcome.solve_seconds;
  const SolveOptions options = solved.request.options;
  static_cast<Answer&>(solved) = std::move(quick);
  solved.request.options = options;
  solved.interrupted = true;
  solved.result.outcome.solve_seconds += before;
  solved.result.outcome.seconds_to_incumbent += before;
}

}  // namespace

bool counts_persistent(const Solved& solved) { return solved.request.instance.costs.persistent > Bytes(0); }

std::string in_parts(const Workload& workload) {
  return workload.cut.part ? fmt::format(" in parts of {}", format_bytes(*workload.cut.part)) : "";
}

bool ram_hopeless(const Solved& solved) {
  return solved.request.limits.ram_budget < solved.figures.floor.bytes();
}

bool knows_a_little_more_ram(const Solved& solved) {
  return solved.request.choose_paged && ram_hopeless(solved) && !deadline_hopeless(solved) &&
         solved.result.outcome.explanation.least_ram;
}

bool deadline_hopeless(const Solved& solved) {
  const std::optional<Seconds> deadline = solved.request.limits.deadline;
  return deadline && latest_end(*deadline) < solved.result.keep_all.runtime;
}

bool ran_out_of_time(const Solved& solved) { return solved.result.outcome.timed_out; }

int exit_code(const Solved& solved) { return has_plan(solved) ? kAnswer : kNoAnswer; }

PlanFile plan_file_of(const Solved& solved) {
  // Nothing of where results go, so that the same request is the same file wherever it is written.
  return poet::plan_file_of(solved,
                            command_text({"--plan-out=", "--schedule-out=", "--image-out=", "--progress-out=",
                                          "--op-limit=", "--color=", "--json", "--quiet", "--all"},
                                         true));
}

Solved pose_problem(const ProblemOptions& options, const Adjustment& adjust) {
  const Policy policy = policy_of(options);
  Solved solved = pose_as(options, network_spec(options.input), policy, adjust);
  solved.implied_options = implied_options(options);
  solved.ram_note = options.ram ? options.ram->note : "";
  if (std::holds_alternative<DeviceRam>(policy.ram)) use_units_of(solved.request.limits.ram_budget);
  return solved;
}

Solved solve_posed(Solved solved, const ProblemOptions& options, const Solving& how) {
  solved.request.options.synchronous = how.synchronous;
  std::optional<InterruptGuard> own;
  const InterruptGuard& guard = how.guard != nullptr ? *how.guard : own.emplace(how.on_interrupt);
  std::optional<ProgressDisplay> display;
  std::optional<ProgressLines> lines;
  if (!options.solver.quiet)
    display.emplace(stderr, solved.figures.keep_all.energy, solved.request.options.time_limit_seconds);
  if (options.solver.progress_out)
    lines.emplace(*options.solver.progress_out, solved.figures.keep_all.energy);
  solved.request.options.on_progress = [&display, &lines](const Progress& progress) {
    if (display) display->show(progress);
    if (lines) lines->write(progress);
  };
  const int before = options.stopped_by;
  solved.request.options.interrupted = [&guard, before] { return before != 0 || guard.interrupted(); };
  // Its own members stay.
  static_cast<Answer&>(solved) = answered(std::move(solved));  // NOLINT(bugprone-use-after-move)
  solved.stopped_by = guard.interrupted() ? guard.signal() : before;
  if ((before != 0 || guard.interrupted()) && !has_plan(solved)) solve_for_a_moment(solved);
  if (how.look_further) look_further(options, how, guard, solved);
  return solved;
}

Solved solve_problem(const ProblemOptions& typed, const Solving& how) {
  const ProblemOptions options = settled(typed, how);
  return solve_posed(pose_problem(options, how.adjust), options, how);
}

Solved with_budget(const Solved& other, const ProblemOptions& options) {
  const Policy policy = policy_of(options);
  CompileRequest how = how_to_solve(options);
  how.best_order = false;  // one order for all
  Workload workload = other.workload;
  workload.instance = workload.choose_paged ? with_paged(other.request.instance, {}) : other.request.instance;
  Solved solved(posed_answer(std::move(how), std::move(workload), policy));
  solved.request.limits.deadline = other.request.limits.deadline;  // a factor is of the graph that was posed
  solved.implied_options = other.implied_options;
  solved.ram_note = options.ram ? options.ram->note : "";
  return solved;
}

}  // namespace poet::cli
