// poet sweep: networks x devices x sizes x budgets x deadlines x methods, into a results store.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/cli/amounts.h"
#include "apps/cli/command.h"
#include "apps/cli/inputs.h"
#include "apps/cli/output.h"
#include "apps/cli/pending_signals.h"
#include "apps/cli/sweep_progress.h"
#include "apps/cli/sweep_summary.h"
#include "apps/cli/sweep_worker.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/cost/device.h"
#include "poet/frontend/zoo.h"
#include "poet/optimize/solvers/solver.h"
#include "poet/study/csv.h"
#include "poet/study/store.h"
#include "poet/study/sweep_spec.h"
#include "poet/study/workers.h"

namespace poet::cli {
namespace {

std::int64_t signed_size(std::size_t size) { return static_cast<std::int64_t>(size); }

/// What would otherwise fail point by point, hours later: unknown names, sizes out of range.
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
    throw InputError(place, error.what());
  }
}

void check_spec(const SweepSpec& spec) {
  if (spec.solver == Solver::highs && !has_solver(Solver::highs))
    throw InputError("solver highs", no_highs());
  for (const SweepTarget& target : spec.platforms) {
    if (spec.semantics && *spec.semantics != Semantics::device) break;  // a published platform is no profile
    const SweepPlatform& platform = target.platform;
    try {
      (void)find_device(platform.file ? platform.file->path.string() : platform.name);
    } catch (const InputError& error) {
      throw InputError(target.place, error.what());
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

class Sweep final : public Command {
 public:
  explicit Sweep(CLI::App& parent) {
    app_ =
        parent.add_subcommand("sweep", "run methods over networks, devices and limits, into a results store");
    app_->add_option("spec", spec_, "what to run: a JSON file (docs/formats.md, Sweep)")
        ->required()
        ->type_name("SPEC.json");
    app_->add_option("--store", store_, "the results store, made if need be; what is in it is not run again")
        ->type_name("FILE.sqlite");
    app_->add_option("--csv", csv_, "write all points of the spec, with those on Pareto curves marked")
        ->type_name("FILE.csv");
    app_->add_option("--jobs", jobs_, "worker processes (default: one per core; with mpirun the ranks work)")
        ->type_name("N");
    app_->add_flag("--retry", retry_, "run points again that failed");
    app_->add_flag("--json", json_, "one JSON object instead of text");
    app_->add_flag("--quiet", quiet_, "no progress on stderr");
    app_->footer(
        "Ctrl-C and crashes lose no finished point: the same command goes on where it stopped.\n"
        "\nExamples:\n"
        "  poet sweep spec.json --store results.sqlite --csv results.csv\n"
        "  mpirun -n 4 poet sweep spec.json --store results.sqlite\n"
        "\nExit code: 0 every point has a result, 1 interrupted with points left, 2 bad input, 3 internal "
        "error.");
  }

  int run() override {
    PendingSignals signals;  // before MPI starts threads
    SweepWorker worker(POET_VERSION);
    const Work work = [&worker](const std::string& item) { return worker.work(item); };
    std::unique_ptr<WorkerPool> pool;
    const bool mpi = mpi_processes() > 1;
    if (mpi) {
      if (!has_mpi()) throw InputError("mpirun", "this poet was built without MPI; start it without mpirun");
      pool = mpi_pool(work);
      if (pool == nullptr) return kAnswer;  // a rank whose work is done
    }
    return coordinate(signals, work, std::move(pool));
  }

 private:
  int coordinate(PendingSignals& signals, const Work& work, std::unique_ptr<WorkerPool> pool) {
    const std::size_t jobs = wanted_jobs(pool != nullptr);
    check_files();
    const SweepSpec spec = read_sweep_spec(spec_);
    check_spec(spec);
    SweepOutcome outcome;
    outcome.spec = spec_;
    outcome.store = *store_;
    outcome.csv = csv_;
    outcome.points = expand(spec);
    ResultsStore store(*store_);

    SweepProgress progress(quiet_ ? nullptr : stderr);
    const std::vector<std::size_t> open = find_open_points(store, outcome, progress);
    if (!open.empty()) {
      if (pool == nullptr) pool = process_pool(std::min(jobs, open.size()), work);
      run_points(*pool, open, store, outcome, progress, signals);
    }
    write_answer(outcome);
    return points_left(outcome) == 0 ? kAnswer : kNoAnswer;
  }

  [[nodiscard]] std::size_t wanted_jobs(bool ranks_work) const {
    if (!jobs_) return std::max(1U, std::thread::hardware_concurrency());
    const std::int64_t jobs = parse_count("--jobs", *jobs_);
    if (ranks_work) throw InputError("--jobs", "with mpirun its ranks work; leave this out");
    return static_cast<std::size_t>(std::min<std::int64_t>(jobs, 1024));
  }

  void check_files() const {
    if (!store_) throw InputError("--store is needed: the file for the results");
    check_writable("--store", *store_);
    if (!csv_) return;
    check_writable("--csv", *csv_);
    if (std::filesystem::weakly_canonical(*csv_) == std::filesystem::weakly_canonical(*store_))
      throw InputError("--store, --csv", "must name different files");
  }

  /// Takes over what the store has; the indices of the other points.
  std::vector<std::size_t> find_open_points(ResultsStore& store, SweepOutcome& outcome,
                                            SweepProgress& progress) const {
    std::vector<std::size_t> open;
    std::size_t failed = 0;
    std::size_t other_version = 0;
    for (std::size_t i = 0; i < outcome.points.size(); ++i) {
      std::optional<SweepResult> found = store.find(key_of(outcome.points[i]));
      const bool again = found && retry_ && found->verdict == kFailed;
      if (found && !again) {
        failed += found->verdict == kFailed ? 1 : 0;
        other_version += found->poet_version == POET_VERSION ? 0 : 1;
      } else {
        open.push_back(i);
      }
      outcome.results.push_back(again ? std::nullopt : std::move(found));
    }
    outcome.there_before = outcome.points.size() - open.size();
    std::string text = counted(signed_size(outcome.points.size()), "point");
    if (outcome.there_before > 0) {
      text += fmt::format(", {} in {} already", format_count(signed_size(outcome.there_before)), *store_);
      if (failed > 0) text += fmt::format(" ({} failed: --retry runs them again)", failed);
      if (other_version > 0) text += fmt::format("; {} by another version of poet", other_version);
    }
    progress.say(text);
    return open;
  }

  void run_points(WorkerPool& pool, const std::vector<std::size_t>& open, ResultsStore& store,
                  SweepOutcome& outcome, SweepProgress& progress, PendingSignals& signals) const {
    std::vector<std::string> items;
    items.reserve(open.size());
    for (const std::size_t index : open) items.push_back(to_text(outcome.points[index]));
    SweepCount count{outcome.there_before, outcome.points.size(), 0, 0};
    const auto answered = [&](const WorkAnswer& answer) {
      const std::size_t index = open[answer.item];
      SweepResult result;
      if (answer.death.empty()) {
        result = result_from_json(nlohmann::ordered_json::parse(answer.text));
      } else {
        result = result_of(outcome.points[index], POET_VERSION);
        add_failure(result, "the worker died: " + answer.death);
      }
      store.put(result);
      ++count.done;
      ++count.run;
      count.failed += result.verdict == kFailed ? 1 : 0;
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
      progress.say(fmt::format("stopped; {} of {} are in {}, the same command goes on", count.done,
                               counted(signed_size(count.total), "point"), *store_));
  }

  void write_answer(const SweepOutcome& outcome) const {
    if (csv_) {
      const std::vector<SweepResult> results = results_of(outcome);
      write_file(*csv_, csv_text(results, pareto_flags(results)));
    }
    if (json_)
      print_answer(sweep_json(outcome));
    else
      print_answer(sweep_text(outcome));
  }

  std::string spec_;
  std::optional<std::string> store_, csv_, jobs_;
  bool retry_ = false;
  bool json_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sweep(CLI::App& parent) { return std::make_unique<Sweep>(parent); }

}  // namespace poet::cli
