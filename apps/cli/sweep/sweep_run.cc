#include "apps/cli/sweep/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/cli/pending_signals.h"
#include "apps/cli/sweep/sweep_progress.h"
#include "apps/shared/amounts.h"
#include "apps/shared/output.h"
#include "apps/shared/progress_file.h"
#include "poet/base/base64.h"
#include "poet/base/cores.h"
#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/json_reader.h"
#include "poet/frontend/zoo.h"
#include "poet/optimize/solvers/solver.h"
#include "poet/pipeline/published.h"
#include "poet/study/carry.h"
#include "poet/study/store.h"
#include "poet/study/sweep_worker.h"
#include "poet/study/workers.h"
#include "poet/version.h"

namespace poet::cli {
namespace {

std::int64_t signed_size(std::size_t size) { return static_cast<std::int64_t>(size); }

/// Returns the rule without the field's name, where a specification has another place for that; else the
/// message.
std::string rule_of(const InputError& error) {
  return error.is_field() ? std::string(error.rule()) : error.what();
}

void check_network(const SweepPoint& point, const std::string& place) {
  try {
    if (point.semantics == Semantics::device) {
      (void)build_network(point.network.name, {point.batch_size.value_or(1), point.sequence_length});
      return;
    }
    std::string known;
    for (const PublishedName& name : published_instances()) {
      if (name.model == point.network.name && name.platform == point.platform->name) return;
      known += fmt::format("{}{} on {}", known.empty() ? "" : ", ", name.model, name.platform);
    }
    throw InputError(fmt::format("no published instance of {} on {} (there are {})", point.network.name,
                                 point.platform->name, known));
  } catch (const InputError& error) {
    throw InputError(place, rule_of(error));
  }
}

std::size_t wanted_jobs(const SweepSettings& settings, bool ranks_work) {
  if (!settings.jobs) return static_cast<std::size_t>(usable_cores());
  const std::int64_t jobs = parse_count("--jobs", *settings.jobs);
  if (ranks_work) throw InputError("--jobs", "cannot be combined with mpirun, whose ranks do the work");
  return static_cast<std::size_t>(std::min<std::int64_t>(jobs, 1024));
}

/// Takes over what the store has; the indices of the other points.
std::vector<std::size_t> find_open_points(const SweepSettings& settings, ResultsStore& store,
                                          SweepOutcome& outcome, SweepProgress& progress) {
  std::vector<std::size_t> open;
  std::size_t failed = 0;
  std::size_t other_version = 0;
  for (std::size_t i = 0; i < outcome.points.size(); ++i) {
    std::optional<SweepResult> found = store.find(key_of(outcome.points[i]));
    const bool again =
        found && ((settings.retry && found->verdict == kFailed) ||
                  (settings.need_plans && found->energy_joules && !store.has_plan(found->key)));
    if (found && !again) {
      failed += found->verdict == kFailed ? 1 : 0;
      other_version += found->poet_version == version() ? 0 : 1;
    } else {
      open.push_back(i);
    }
    outcome.results.push_back(again ? std::nullopt : std::move(found));
  }
  outcome.there_before = outcome.points.size() - open.size();
  std::string text = counted(signed_size(outcome.points.size()), "point");
  if (outcome.there_before > 0) {
    text +=
        fmt::format(", {} in {} already", format_count(signed_size(outcome.there_before)), settings.store);
    if (failed > 0) text += fmt::format(" ({} failed: --retry reruns them)", failed);
    if (other_version > 0) text += fmt::format("; {} by another version of poet", other_version);
  }
  progress.say(text);
  return open;
}

void run_points(WorkerPool& pool, const std::vector<std::size_t>& open, ResultsStore& store,
                SweepOutcome& outcome, SweepProgress& progress, std::optional<ProgressFile>& lines,
                PendingSignals& signals) {
  std::vector<std::string> items;
  items.reserve(open.size());
  for (const std::size_t index : open) items.push_back(to_text(outcome.points[index]));
  SweepCount count{outcome.there_before, outcome.points.size(), 0, 0};
  const auto answered = [&](const WorkAnswer& answer) {
    const std::size_t index = open[answer.item];
    SweepResult result;
    std::string plan;
    if (answer.death.empty()) {
      const nlohmann::ordered_json json = parse_json(answer.text, "the worker");
      result = result_from_json(json);
      if (json.contains("plan")) plan = from_base64(json["plan"].get<std::string>());
    } else {
      result = result_of(outcome.points[index], version());
      add_failure(result, "the worker died: " + answer.death);
    }
    store.put(result, plan);
    ++count.done;
    ++count.run;
    count.failed += result.verdict == kFailed ? 1 : 0;
    if (lines) lines->write({{"done", count.done}, {"of", count.total}, {"row", to_json(result)}});
    outcome.results[index] = std::move(result);
    progress.show(count);
  };
  const auto keep_going = [&] {
    progress.show(count);
    return !signals.any();
  };
  outcome.interrupted = !pool.run(items, answered, keep_going);
  outcome.run = count.run;
  if (outcome.interrupted)
    progress.say(fmt::format("stopped; {} of {} are in {}; rerun the same command to continue", count.done,
                             counted(signed_size(count.total), "point"), outcome.store));
}

}  // namespace

void check_spec(const SweepSpec& spec) {
  if (spec.solver == Solver::highs && !has_solver(Solver::highs)) throw InputError("solver", no_highs());
  for (const SweepTarget& target : spec.platforms) {
    if (spec.semantics && *spec.semantics != Semantics::device) break;  // a published platform is no profile
    const SweepPlatform& platform = target.platform;
    try {
      (void)find_device(platform.file ? platform.file->path.string() : platform.name);
    } catch (const InputError& error) {
      throw InputError(target.place, rule_of(error));
    }
  }
  for (const SweepSubject& subject : spec.networks) {
    if (subject.network.origin != NetworkOrigin::name) continue;
    SweepSpec alone = spec;
    alone.networks = {subject};
    alone.ram.resize(1);
    alone.deadlines.resize(1);
    alone.methods.resize(1);
    for (const SweepPoint& point : expand(alone)) check_network(point, subject.place);
  }
}

std::optional<SweepOutcome> run_sweep(const SweepSettings& settings,
                                      const std::function<std::vector<SweepPoint>()>& points) {
  PendingSignals signals;  // before MPI starts threads
  SweepWorker worker(version(), settings.op_limit, settings.keep_plans);
  const WorkOnItem work = [&worker](const std::string& item) { return worker.work(item); };
  std::unique_ptr<WorkerPool> pool;
  if (mpi_processes() > 1 && !settings.here) {
    if (!has_mpi()) {
      throw InputError(
          "mpirun",
          "this poet was built without MPI; start it without mpirun, or install libopenmpi-dev and "
          "build it again (./poet does)");
    }
    pool = mpi_pool(work);
    if (pool == nullptr) return std::nullopt;  // a rank whose work is done
  }
  const std::size_t jobs = wanted_jobs(settings, pool != nullptr);
  check_writable("--store", settings.store);
  SweepOutcome outcome;
  outcome.store = settings.store;
  outcome.points = points();
  ResultsStore store(settings.store);
  SweepProgress progress(settings.quiet ? nullptr : stderr);
  std::optional<ProgressFile> lines;
  if (settings.progress_out) lines.emplace("--progress-out", *settings.progress_out);
  const std::vector<std::size_t> open = find_open_points(settings, store, outcome, progress);
  if (!open.empty()) {
    if (pool == nullptr) pool = process_pool(std::min(jobs, open.size()), work);
    run_points(*pool, open, store, outcome, progress, lines, signals);
  }
  std::vector<SweepResult*> results;  // the store keeps them as they were found
  for (std::optional<SweepResult>& result : outcome.results)
    if (result) results.push_back(&*result);
  carry_between_limits(results);
  return outcome;
}

}  // namespace poet::cli
